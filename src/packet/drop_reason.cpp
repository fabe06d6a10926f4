// SPDX-License-Identifier: Apache-2.0
// The table of drop reasons: one row per enumerator, in the enumeration's order. The compiler refuses a missing,
// doubled, misplaced or nameless row, so that a reason cannot be added without its words.
//
// The third column is the counter that the kernel moves for the same cause, when that is always the same one; it is
// documentation for `sidestep drops`. What is actually counted, and on which device, is the pipeline's business, since
// one cause may move several counters.
#include "packet/drop_reason.hpp"

#include <array>

#include "packet/counters.hpp"

namespace sidestep::packet {
namespace {

using enum DropReason;

constexpr std::array<DropReasonText, kDropReasonCount> kTexts{{
    {kNone, "none", "not dropped", ""},

    {kNotIpv6, "not_ipv6", "the frame carries no IPv6", ""},
    {kOtherHost, "other_host", "the frame is addressed to another station on the link", ""},
    {kRecordTruncated, "record_truncated", "the capture holds only a part of the packet", ""},
    {kDeviceUnknown, "device_unknown", "the ingress device is not configured", ""},
    {kDeviceDown, "device_down", "the ingress device is down", ""},
    {kIpv6Disabled, "ipv6_disabled", "disable_ipv6 is set on the ingress device", "Ip6InDiscards"},

    {kHeaderTruncated, "header_truncated", "shorter than the IPv6 header", "Ip6InHdrErrors"},
    {kBadVersion, "bad_version", "the version field is not 6", "Ip6InHdrErrors"},
    {kLoopbackFromWire, "loopback_from_wire",
     "source or destination ::1 arrived on a device other than loopback", "Ip6InHdrErrors"},
    {kMulticastScope, "multicast_scope",
     "multicast destination of scope 0 or interface-local from the wire", "Ip6InHdrErrors"},
    {kL2MulticastUnicast, "l2_multicast_unicast",
     "unicast destination in a link-layer multicast, and drop_unicast_in_l2_multicast is set",
     "Ip6InHdrErrors"},
    {kSourceMulticast, "source_multicast", "the source is a multicast address", "Ip6InHdrErrors"},
    {kPayloadTruncated, "payload_truncated", "the payload length exceeds the bytes received",
     "Ip6InTruncatedPkts"},
    {kHopByHopMalformed, "hop_by_hop_malformed",
     "hop-by-hop options that are malformed, too many, or padded against the rules",
     "Ip6InHdrErrors"},
    {kHopByHopUnknownOption, "hop_by_hop_unknown_option",
     "an unknown hop-by-hop option that asks for a drop", "Ip6InHdrErrors"},

    {kNoRoute, "no_route", "no route, or an unreachable route or rule", "Ip6InNoRoutes"},
    {kProhibited, "prohibited", "a prohibit route or rule", "Ip6InNoRoutes"},
    {kBlackhole, "blackhole", "a blackhole route, rule or nexthop", ""},
    {kRouteDied, "route_died", "the route was removed while the packet held it", ""},

    {kForwardingOff, "forwarding_off", "not for this node, and forwarding is off",
     "Ip6InAddrErrors"},
    {kL2NotUnicast, "l2_not_unicast",
     "to be forwarded, but came in a link-layer broadcast or multicast", ""},
    {kHopLimitExceeded, "hop_limit_exceeded", "the hop limit is used up", "Ip6InHdrErrors"},
    {kSourceUnspecified, "source_unspecified",
     "to be forwarded with a source that is unspecified or loopback", "Ip6InAddrErrors"},
    {kSourceScope, "source_scope", "to be forwarded to another link with a link-local source",
     "Ip6InAddrErrors"},
    {kTooBig, "too_big", "longer than the MTU of the egress device or a locked route MTU",
     "Ip6InTooBigErrors"},
    {kTooBigOutput, "too_big_output", "longer than the MTU of the route or of a path MTU exception",
     "Ip6FragFails"},
    {kEgressDown, "egress_down", "the egress device is down or gone", ""},
    {kEgressIpv6Disabled, "egress_ipv6_disabled", "disable_ipv6 is set on the egress device",
     "Ip6OutDiscards"},
    {kNeighborUnresolved, "neighbor_unresolved", "the neighbor's link-layer address is not known",
     ""},
    {kNeighborFailed, "neighbor_failed", "the neighbor does not answer", ""},

    {kMulticastNotJoined, "multicast_not_joined",
     "multicast to a group that nobody here has joined", ""},
    {kExtensionHeaderMalformed, "extension_header_malformed",
     "an extension header is cut off or malformed", "Ip6InHdrErrors"},
    {kUnknownOption, "unknown_option", "an unknown destination option that asks for a drop",
     "Ip6InHdrErrors"},
    {kRoutingHeaderRefused, "routing_header_refused",
     "a routing header that this node does not follow", "Ip6InHdrErrors"},
    {kUnknownProtocol, "unknown_protocol", "nobody here takes the next header",
     "Ip6InUnknownProtos"},
    {kChecksum, "checksum", "the ICMPv6 checksum is wrong", "Icmp6InCsumErrors"},
    {kEchoIgnored, "echo_ignored", "an echo request that the configuration ignores", ""},
    {kIcmpMalformed, "icmp_malformed", "an ICMPv6 message that is cut off or malformed",
     "Icmp6InErrors"},

    {kSeg6Disabled, "seg6_disabled",
     "a segment routing header for this node, and seg6_enabled is off", ""},
    {kSrhMalformed, "srh_malformed", "the routing header is no valid segment routing header", ""},
    {kSegmentsLeftInvalid, "segments_left_invalid", "segments left points outside the segment list",
     "Ip6InHdrErrors"},
    {kSidNoSrh, "sid_no_srh",
     "the SID's behavior needs a segment routing header with segments left", ""},
    {kSidLocalNext, "sid_local_next", "the segment behind the SID is an address of this node", ""},
    {kHmac, "hmac", "the HMAC is missing or wrong", ""},
    {kPspBlocked, "psp_blocked",
     "the SID has PSP, and a used-up routing header is in front of the segment routing header", ""},
    {kTunnelRecursion, "tunnel_recursion",
     "SIDs and encapsulations of this node lead to each other more than 8 times", ""},
    {kSidSegmentsLeft, "sid_segments_left",
     "the SID's behavior decapsulates, and there are segments left", ""},
    {kSidNoPayload, "sid_no_payload",
     "the packet does not carry what the SID's behavior takes out of it", ""},
    {kEncapTooLong, "encap_too_long", "encapsulated, the packet is longer than a packet may be",
     ""},
    {kEncapNoSource, "encap_no_source", "the router has no address to encapsulate from", ""},
    {kEncapNoFrame, "encap_no_frame",
     "an Ethernet frame is to be encapsulated, and the packet came without one", ""},
    {kFrameTooLong, "frame_too_long", "a decapsulated frame is longer than the egress device's MTU",
     ""},

    {kNotImplemented, "not_implemented", "the configuration asks for what is not implemented yet",
     ""},
    {kIcmpRateLimited, "icmp_rate_limited", "an ICMPv6 error held back by the rate limit",
     "Icmp6OutRateLimitHost"},
    {kIcmpNoRoute, "icmp_no_route", "an ICMPv6 message of ours without a route to its destination",
     "Ip6OutNoRoutes"},
    {kLookupLimit, "lookup_limit", "the packet was looked up too often on this node", ""},
}};

consteval bool is_known_counter(std::string_view name) {
  for (std::size_t i = 0; i < kSnmpCount; ++i) {
    if (kSnmpNames[i] == name) return true;
  }
  return name.empty();
}

consteval bool is_complete() {
  for (std::size_t i = 0; i < kTexts.size(); ++i) {
    const DropReasonText& row = kTexts[i];
    if (row.reason != static_cast<DropReason>(i) || row.name.empty() || row.help.empty())
      return false;
    if (!is_known_counter(row.snmp)) return false;
    for (std::size_t k = 0; k < i; ++k) {
      if (kTexts[k].name == row.name) return false;
    }
  }
  return true;
}
static_assert(
    is_complete(),
    "every drop reason has its row, in order, with its own name and a counter that exists");

consteval auto make_all() {
  std::array<DropReason, kDropReasonCount - 1> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<DropReason>(i + 1);
  return all;
}
constexpr auto kAll = make_all();

}  // namespace

const DropReasonText& text_of(DropReason reason) noexcept {
  return kTexts[static_cast<std::size_t>(reason)];
}

std::span<const DropReason> all_drop_reasons() noexcept { return kAll; }

}  // namespace sidestep::packet
