// SPDX-License-Identifier: Apache-2.0
#include "srv6/local_srh.hpp"

#include <sidestep/net/headers.hpp>
#include <sidestep/net/srh.hpp>

#include "srv6/srh_search.hpp"

namespace sidestep::srv6 {

using packet::DropReason;
using packet::Packet;

DropReason check_local_srh(const Packet& packet, std::size_t offset, Policy policy) noexcept {
  const auto bytes = packet.bytes();
  if (offset > bytes.size()) return DropReason::kExtensionHeaderMalformed;
  const auto routing = net::RoutingHeader::check(bytes.subspan(offset));
  const auto ipv6 = net::Ipv6Header::check(bytes);
  if (!routing || !ipv6) return DropReason::kExtensionHeaderMalformed;
  return judge_hmac(*routing, ipv6->source(), policy);
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

}  // namespace sidestep::srv6
