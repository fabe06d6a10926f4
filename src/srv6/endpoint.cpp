// SPDX-License-Identifier: Apache-2.0
// Endpoint behaviors.
//
// A behavior is a function from packet and SID to what it wants: "look up the new destination", "look that neighbor up
// instead", "look into this table", or "drop, because". It has no table to ask and no counter to move, which is what makes
// it testable byte by byte.
//
//     find the SRH ──▶ judge it (valid, HMAC) ──▶ advance: segments_left − 1, destination := segment[segments_left]
//                                                   └─▶ PSP, when segments_left became 0: take the SRH out
//
// PSP takes the SRH out by moving what is in front of it up against what is behind it, so that the front of the packet
// grows headroom and the payload, which is longer, stays. The running kernel does so behind options, fragment and
// authentication headers alike. With PSP the first routing header must be the one to act on, however many segments are
// left: where End passes one over that is used up, PSP drops the packet.
//
//     | IPv6 | options | SRH | UDP … |        before
//           | IPv6 | options | UDP … |        after: next header of `options` is the SRH's, payload length is smaller
//
// Every check comes before the first write: a dropped packet is as it came.
#include "srv6/endpoint.hpp"

#include <algorithm>
#include <cstring>

#include <sidestep/net/headers.hpp>
#include <sidestep/net/srh.hpp>

#include "srv6/headend.hpp"
#include "srv6/srh_search.hpp"

namespace sidestep::srv6 {
namespace {

using net::ExtensionHeader;
using packet::DropReason;
using packet::Packet;

/// Takes an extension header out of the packet (RFC 8986 §4.16.1).
void pop(Packet& packet, const ExtensionHeader& header) noexcept {
  const auto bytes = packet.bytes();
  bytes[header.next_header_offset] = header.next_header;
  std::memmove(bytes.data() + header.size, bytes.data(), header.offset);
  packet.remove_front(header.size);
  auto ipv6 = *net::MutableIpv6Header::check(packet.bytes());
  ipv6.set_payload_length(static_cast<std::uint16_t>(packet.size() - net::kIpv6HeaderSize));
}

/// A jumbogram has its length in an option, which would have to change when something is popped.
bool is_jumbogram(const Packet& packet) noexcept {
  return packet.size() - net::kIpv6HeaderSize > 0xffff;
}

/// To the next segment of the SRH, and without the SRH when `psp` says so and it was the last one.
DropReason advance_on_srh(Packet& packet, bool psp, Policy policy) noexcept {
  const SrhSearch search = find_srh(packet.bytes(), policy);
  if (search.reason != DropReason::kNone) return search.reason;
  if (psp && search.behind_routing_header) return DropReason::kPspBlocked;
  const auto bytes = packet.bytes();
  const bool pops = psp && net::RoutingHeader::check(search.header.in(bytes))->segments_left() == 1;
  if (pops && is_jumbogram(packet)) return DropReason::kNotImplemented;
  advance(bytes, search.header.offset);
  if (pops) pop(packet, search.header);
  return DropReason::kNone;
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

/// To the next segment, as the flavors of End and End.X say: kNone, or why not.
DropReason next_segment(Packet& packet, const fib::Seg6LocalEncap& encap, Policy policy) noexcept {
  if (encap.flavor_usp || encap.flavor_usd) return DropReason::kNotImplemented;
  if (!encap.flavor_next_csid) return advance_on_srh(packet, encap.flavor_psp, policy);

  auto header = net::MutableIpv6Header::check(packet.bytes());
  if (!header || !has_csid_lengths(encap)) return DropReason::kNotImplemented;
  // While there is an argument the SRH is neither needed nor looked at. Beside NEXT-C-SID the kernel never does PSP.
  if (shift_argument(*header, encap)) return DropReason::kNone;
  return advance_on_srh(packet, false, policy);
}

Wanted after(DropReason reason, const Wanted& wanted) noexcept {
  return reason == DropReason::kNone ? wanted : Wanted::drop(reason);
}

/// RFC 8986 §4.1, with the flavors PSP (§4.16.1) and NEXT-C-SID (RFC 9800 §4.1).
Wanted end(Packet& packet, const fib::Seg6LocalEncap& encap, Policy policy) noexcept {
  return after(next_segment(packet, encap, policy), Wanted::lookup());
}

/// RFC 8986 §4.2, with the flavor NEXT-C-SID (RFC 9800 §4.2). Without an output device a link-local neighbor is one of
/// the ingress link, and the rules have their say about a global one.
Wanted end_x(Packet& packet, const fib::Seg6LocalEncap& encap, Policy policy) noexcept {
  const auto kind = encap.oif ? Wanted::Kind::kOutputLookup : Wanted::Kind::kInputLookup;
  return after(next_segment(packet, encap, policy),
               {.kind = kind, .device = encap.oif, .nexthop = encap.nh6});
}

/// RFC 8986 §4.3.
Wanted end_t(Packet& packet, const fib::Seg6LocalEncap& encap, Policy policy) noexcept {
  return after(advance_on_srh(packet, false, policy),
               {.kind = Wanted::Kind::kTableLookup, .table = encap.table.value_or(TableId{})});
}

/// RFC 8986 §4.4: to one neighbor, or where the packet itself wants to go when that is `::`.
Wanted end_dx6(Packet& packet, const fib::Seg6LocalEncap& encap, Policy policy) noexcept {
  Wanted wanted = Wanted::lookup();
  if (encap.nh6 && !encap.nh6->is_unspecified()) wanted.nexthop = encap.nh6;
  return after(decapsulate(packet, net::kNextHeaderIpv6, net::kIpv6HeaderSize, policy), wanted);
}

/// RFC 8986 §4.6. Of all behaviors this one may deliver to the router itself, if the table says so.
Wanted end_dt6(Packet& packet, const fib::Seg6LocalEncap& encap, Policy policy) noexcept {
  if (!encap.table) return Wanted::drop(DropReason::kNotImplemented);
  return after(decapsulate(packet, net::kNextHeaderIpv6, net::kIpv6HeaderSize, policy),
               {.kind = Wanted::Kind::kTableLookup, .may_be_local = true, .table = *encap.table});
}

/// RFC 8986 §4.9. Whether the device can take the frame is seen when it is sent.
Wanted end_dx2(Packet& packet, const fib::Seg6LocalEncap& encap, Policy policy) noexcept {
  return after(decapsulate(packet, net::kNextHeaderEthernet, net::kEthernetHeaderSize, policy),
               {.kind = Wanted::Kind::kSendFrame, .device = encap.oif});
}

/// Segments on top of the packet's own, which is not advanced: the SID stays a segment of its path, and the path's SRH is
/// inserted in front of the packet's (the kernel's End.B6, which RFC 8986 does not have).
Wanted end_b6(Packet& packet, const fib::Seg6LocalEncap& encap, Policy policy,
              const Surroundings& around) noexcept {
  const SrhSearch search = find_srh(packet.bytes(), policy);
  if (search.reason != DropReason::kNone) return Wanted::drop(search.reason);
  return after(insert_srh(packet, {encap.srh_segments, encap.srh_hmac_key_id}, around),
               Wanted::lookup());
}

/// RFC 8986 §4.13.
Wanted end_b6_encaps(Packet& packet, const fib::Seg6LocalEncap& encap, Policy policy,
                     const Surroundings& around) noexcept {
  const SrhSearch search = find_srh(packet.bytes(), policy);
  if (search.reason != DropReason::kNone) return Wanted::drop(search.reason);
  const std::size_t size = packet.size();
  const DropReason reason =
      encapsulate(packet, {encap.srh_segments, encap.srh_hmac_key_id}, around);
  if (reason != DropReason::kNone) return Wanted::drop(reason);
  // The packet that is inside now moves on to its next segment.
  advance(packet.bytes().last(size), search.header.offset);
  return Wanted::lookup();
}

}  // namespace

Wanted run_behavior(Packet& packet, const fib::Seg6LocalEncap& encap, Policy policy,
                    const Surroundings& around) noexcept {
  switch (encap.action) {
    case fib::Seg6LocalAction::kEnd:
      return end(packet, encap, policy);
    case fib::Seg6LocalAction::kEndX:
      return end_x(packet, encap, policy);
    case fib::Seg6LocalAction::kEndT:
      return end_t(packet, encap, policy);
    case fib::Seg6LocalAction::kEndDX6:
      return end_dx6(packet, encap, policy);
    case fib::Seg6LocalAction::kEndDT6:
      return end_dt6(packet, encap, policy);
    case fib::Seg6LocalAction::kEndDX2:
      return end_dx2(packet, encap, policy);
    case fib::Seg6LocalAction::kEndB6:
      return end_b6(packet, encap, policy, around);
    case fib::Seg6LocalAction::kEndB6Encaps:
      return end_b6_encaps(packet, encap, policy, around);
    default:
      return Wanted::drop(DropReason::kNotImplemented);
  }
}

}  // namespace sidestep::srv6
