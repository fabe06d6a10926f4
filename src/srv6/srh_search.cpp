// SPDX-License-Identifier: Apache-2.0
// Which routing header counts.
//
// It is the first one whose segments_left is not 0; those with 0 are passed over, whatever their type. That one must be a
// valid SRH, or the packet is dropped: a routing header of another type is not skipped. Neither flags nor tag nor the
// current destination are compared with anything.
//
// HMACs are verified on the SRH that is acted on; kernels up to 6.18 test the first header behind hop-by-hop options
// instead, and so let an unverified HMAC behind destination options pass.
//
// Behaviors that decapsulate ask another question: is the first routing header, if it is a valid SRH at all, used up? What
// is no valid SRH is passed over like any extension header, whatever it has left.
#include "srv6/srh_search.hpp"

#include <utility>

#include <sidestep/net/srh.hpp>

namespace sidestep::srv6 {
namespace {

using packet::DropReason;

/// The first routing header with segments left, or why there is none. Not judged yet.
SrhSearch find_routing_header(std::span<const std::uint8_t> bytes) noexcept {
  SrhSearch search;
  net::ExtensionHeaderWalk walk(bytes);
  while (const auto header = walk.next()) {
    if (header->type != net::kNextHeaderRouting) continue;
    if (net::RoutingHeader::check(header->in(bytes))->segments_left() != 0) {
      search.reason = DropReason::kNone;
      search.header = *header;
      return search;
    }
    search.behind_routing_header = true;
  }
  if (walk.stop() == net::WalkStop::kTruncated) search.reason = DropReason::kSrhMalformed;
  return search;
}

/// Whether the SRH that a packet to be decapsulated has, if any, lets that happen: kNone, or why not.
DropReason judge_used_up(std::span<const std::uint8_t> bytes, Policy policy) noexcept {
  net::ExtensionHeaderWalk walk(bytes);
  while (const auto header = walk.next()) {
    if (header->type != net::kNextHeaderRouting) continue;
    const auto srh = net::Srh::check(header->in(bytes), net::SrhForm::kReduced);
    if (!srh) return DropReason::kNone;
    if (srh->segments_left() != 0) return DropReason::kSidSegmentsLeft;
    return judge_hmac(*srh, net::Ipv6Header::check(bytes)->source(), policy);
  }
  return DropReason::kNone;
}

}  // namespace

DropReason judge_hmac(const net::RoutingHeader& srh, const net::Ipv6Address& source,
                      Policy policy) noexcept {
  if (policy.require_hmac < 0) return DropReason::kNone;
  if (!srh.has_hmac()) return policy.require_hmac > 0 ? DropReason::kHmac : DropReason::kNone;
  const bool right = policy.secrets != nullptr && verify_hmac(srh, source, *policy.secrets);
  return right ? DropReason::kNone : DropReason::kHmac;
}

SrhSearch find_srh(std::span<const std::uint8_t> bytes, Policy policy) noexcept {
  SrhSearch search = find_routing_header(bytes);
  if (search.reason != DropReason::kNone) return search;
  const auto srh = net::Srh::check(search.header.in(bytes), net::SrhForm::kReduced);
  search.reason = srh ? judge_hmac(*srh, net::Ipv6Header::check(bytes)->source(), policy)
                      : DropReason::kSrhMalformed;
  return search;
}

DropReason decapsulate(packet::Packet& packet, std::uint8_t payload, std::size_t payload_size_min,
                       Policy policy) noexcept {
  const auto bytes = std::as_const(packet).bytes();
  const DropReason reason = judge_used_up(bytes, policy);
  if (reason != DropReason::kNone) return reason;
  const net::UpperLayer upper = net::find_upper_layer(bytes);
  if (upper.stop != net::WalkStop::kUpperLayer || upper.header.type != payload ||
      bytes.size() < upper.header.offset + payload_size_min) {
    return DropReason::kSidNoPayload;
  }
  packet.remove_front(upper.header.offset);
  return DropReason::kNone;
}

void advance(std::span<std::uint8_t> bytes, std::size_t offset) noexcept {
  auto routing = *net::MutableRoutingHeader::check(bytes.subspan(offset));
  const auto segments_left = static_cast<std::uint8_t>(routing.segments_left() - 1);
  routing.set_segments_left(segments_left);
  net::MutableIpv6Header::check(bytes)->set_destination(routing.address(segments_left));
}

}  // namespace sidestep::srv6
