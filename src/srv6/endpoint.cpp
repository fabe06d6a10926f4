// SPDX-License-Identifier: Apache-2.0
// Endpoint behaviors.
//
// A behavior is a function from packet and SID to what it wants: "look up the new destination" or "drop, because". It
// has no table to ask and no counter to move, which is what makes it testable byte by byte.
//
//     find the SRH ──▶ judge it (valid, HMAC) ──▶ advance: segments_left − 1, destination := segment[segments_left]
//                                                   └─▶ PSP, when segments_left became 0: take the SRH out
//
// The SRH is the first routing header whose segments_left is not 0; those with 0 are passed over, whatever their type.
// That one must be a valid SRH, or the packet is dropped: a routing header of another type is not skipped. Neither flags
// nor tag nor the current destination are compared with anything.
//
// PSP takes the SRH out by moving what is in front of it up against what is behind it, so that the front of the packet
// grows headroom and the payload, which is longer, stays. The running kernel does so behind options, fragment and
// authentication headers alike, and refuses when another routing header is in front.
//
//     | IPv6 | options | SRH | UDP … |        before
//           | IPv6 | options | UDP … |        after: next header of `options` is the SRH's, payload length is smaller
//
// HMACs are not verified yet: an SRH that would need it is dropped with kNotImplemented, never let through. The test is
// done on the SRH that is acted on; kernels up to 6.18 test the first header behind hop-by-hop options instead, and so
// let an unverified HMAC behind destination options pass.
//
// Every check comes before the first write: a dropped packet is as it came.
#include "srv6/endpoint.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include <sidestep/net/headers.hpp>
#include <sidestep/net/srh.hpp>

namespace sidestep::srv6 {
namespace {

using net::ExtensionHeader;
using net::Srh;
using packet::DropReason;
using packet::Packet;
using Outcome = EndpointResult::Outcome;

constexpr EndpointResult kLookup{Outcome::kLookup, DropReason::kNone};

constexpr EndpointResult drop(DropReason reason) noexcept { return {Outcome::kDrop, reason}; }

/// The SRH that a behavior is to act on, or why there is none.
struct SrhSearch {
  DropReason reason = DropReason::kSidNoSrh;
  ExtensionHeader header;              ///< valid when `reason` is kNone
  bool behind_routing_header = false;  ///< another routing header, used up, is in front of it
};

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

/// What the ingress device's policy says to this SRH: kNone to go on.
DropReason judge_hmac(const net::RoutingHeader& srh, Policy policy) noexcept {
  if (policy.require_hmac < 0) return DropReason::kNone;
  if (srh.has_hmac()) return DropReason::kNotImplemented;
  return policy.require_hmac > 0 ? DropReason::kHmac : DropReason::kNone;
}

SrhSearch find_srh(std::span<const std::uint8_t> bytes, Policy policy) noexcept {
  SrhSearch search = find_routing_header(bytes);
  if (search.reason != DropReason::kNone) return search;
  const auto srh = Srh::check(search.header.in(bytes), net::SrhForm::kReduced);
  search.reason = srh ? judge_hmac(*srh, policy) : DropReason::kSrhMalformed;
  return search;
}

/// Makes the next segment the destination. The routing header has segments left, and as many addresses.
void advance(std::span<std::uint8_t> bytes, std::size_t offset) noexcept {
  auto routing = *net::MutableRoutingHeader::check(bytes.subspan(offset));
  const auto segments_left = static_cast<std::uint8_t>(routing.segments_left() - 1);
  routing.set_segments_left(segments_left);
  net::MutableIpv6Header::check(bytes)->set_destination(routing.address(segments_left));
}

/// Takes an extension header out of the packet (RFC 8986 §4.16.1).
void pop(Packet& packet, const ExtensionHeader& header) noexcept {
  const auto bytes = packet.bytes();
  bytes[header.next_header_offset] = header.next_header;
  std::memmove(bytes.data() + header.size, bytes.data(), header.offset);
  packet.remove_front(header.size);
  auto ipv6 = *net::MutableIpv6Header::check(packet.bytes());
  ipv6.set_payload_length(static_cast<std::uint16_t>(packet.size() - net::kIpv6HeaderSize));
}

/// Why this SRH may not be popped, or kNone.
DropReason judge_pop(const Packet& packet, const SrhSearch& search) noexcept {
  if (search.behind_routing_header) return DropReason::kPspBlocked;
  // A jumbogram has its length in an option, which would have to change with it.
  const bool is_jumbo = packet.size() - net::kIpv6HeaderSize > 0xffff;
  return is_jumbo ? DropReason::kNotImplemented : DropReason::kNone;
}

/// RFC 8986 §4.1, and PSP when `psp`.
EndpointResult end_on_srh(Packet& packet, bool psp, Policy policy) noexcept {
  const SrhSearch search = find_srh(packet.bytes(), policy);
  if (search.reason != DropReason::kNone) return drop(search.reason);
  const auto bytes = packet.bytes();
  const bool pops = psp && net::RoutingHeader::check(search.header.in(bytes))->segments_left() == 1;
  if (pops) {
    const DropReason reason = judge_pop(packet, search);
    if (reason != DropReason::kNone) return drop(reason);
  }
  advance(bytes, search.header.offset);
  if (pops) pop(packet, search.header);
  return kLookup;
}

bool has_csid_lengths(const fib::Seg6LocalEncap& encap) noexcept {
  const auto is_legal = [](unsigned bits) { return bits >= 8 && bits <= 120 && bits % 8 == 0; };
  return is_legal(encap.lbl_bits) && is_legal(encap.lnfl_bits) &&
         encap.lbl_bits + encap.lnfl_bits <= 128;
}

/// Shifts the argument over the node and function (RFC 9800 §4.1); false when the argument is all zero. For a block of 32
/// bits and 16 bits of node and function:
///
///     fcbb:0000 | 0001 | 0002 0003 0004 0005 0006        block | node, function | argument
///     fcbb:0000 | 0002 | 0003 0004 0005 0006 0000
bool shift_argument(net::MutableIpv6Header& header, const fib::Seg6LocalEncap& encap) noexcept {
  net::Ipv6Address address = header.destination();
  const auto block_end = address.bytes.begin() + encap.lbl_bits / 8;
  const auto argument = block_end + encap.lnfl_bits / 8;
  if (std::all_of(argument, address.bytes.end(), [](std::uint8_t byte) { return byte == 0; }))
    return false;
  std::fill(std::copy(argument, address.bytes.end(), block_end), address.bytes.end(),
            std::uint8_t{0});
  header.set_destination(address);
  return true;
}

}  // namespace

EndpointResult end(Packet& packet, const fib::Seg6LocalEncap& encap, Policy policy) noexcept {
  if (encap.flavor_usp || encap.flavor_usd) return drop(DropReason::kNotImplemented);
  if (!encap.flavor_next_csid) return end_on_srh(packet, encap.flavor_psp, policy);

  auto header = net::MutableIpv6Header::check(packet.bytes());
  if (!header || !has_csid_lengths(encap)) return drop(DropReason::kNotImplemented);
  // While there is an argument the SRH is neither needed nor looked at. Beside NEXT-C-SID the kernel never does PSP.
  if (shift_argument(*header, encap)) return kLookup;
  return end_on_srh(packet, false, policy);
}

EndpointResult run_behavior(Packet& packet, const fib::Seg6LocalEncap& encap,
                            Policy policy) noexcept {
  switch (encap.action) {
    case fib::Seg6LocalAction::kEnd:
      return end(packet, encap, policy);
    default:
      return drop(DropReason::kNotImplemented);
  }
}

DropReason check_local_srh(const Packet& packet, std::size_t offset, Policy policy) noexcept {
  const auto bytes = packet.bytes();
  if (offset > bytes.size()) return DropReason::kExtensionHeaderMalformed;
  const auto routing = net::RoutingHeader::check(bytes.subspan(offset));
  return routing ? judge_hmac(*routing, policy) : DropReason::kExtensionHeaderMalformed;
}

LocalSrhResult local_srh(Packet& packet, std::size_t offset) noexcept {
  using LocalOutcome = LocalSrhResult::Outcome;
  const auto bytes = packet.bytes();
  if (offset < net::kIpv6HeaderSize || offset > bytes.size()) {
    return {LocalOutcome::kDrop, DropReason::kExtensionHeaderMalformed, 0};
  }
  const auto routing = net::RoutingHeader::check(bytes.subspan(offset));
  if (!routing) return {LocalOutcome::kDrop, DropReason::kExtensionHeaderMalformed, 0};

  if (routing->segments_left() == 0) {
    if (routing->next_header() == net::kNextHeaderIpv4) {
      return {LocalOutcome::kDrop, DropReason::kNotImplemented, 0};
    }
    if (routing->next_header() != net::kNextHeaderIpv6)
      return {LocalOutcome::kNextHeader, DropReason::kNone, 0};
    packet.remove_front(offset + routing->size());
    return {LocalOutcome::kReceive, DropReason::kNone, 0};
  }
  // The kernel allows what an index may be, so a reduced SRH with all segments left is refused here.
  if (routing->segments_left() >= routing->address_count()) {
    const auto pointer =
        static_cast<std::uint32_t>(offset + net::RoutingHeader::kSegmentsLeftOffset);
    return {LocalOutcome::kParameterProblem, DropReason::kSegmentsLeftInvalid, pointer};
  }
  advance(bytes, offset);
  return {LocalOutcome::kLookup, DropReason::kNone, 0};
}

EndpointResult run_headend(Packet& /*packet*/, const fib::Seg6Encap& /*encap*/) noexcept {
  return drop(DropReason::kNotImplemented);
}

}  // namespace sidestep::srv6
