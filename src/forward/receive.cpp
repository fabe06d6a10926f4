// SPDX-License-Identifier: Apache-2.0
// Validation of received packets, in the order in which the kernel validates (ip6_rcv_core), because the order decides
// which counter moves when several things are wrong.
//
// Everything is counted on the ingress device. Nothing is changed but the size: bytes behind the payload are cut off.
#include "forward/receive.hpp"

#include <algorithm>

#include "forward/options.hpp"

namespace sidestep::forward {
namespace {

using packet::DropReason;
using packet::Snmp;

// A device whose MTU is below the minimum of RFC 8200 §5 has no IPv6.
bool has_ipv6(const fib::Link& link) {
  return !link.conf.disable_ipv6 && link.mtu >= net::kIpv6MtuMin;
}

void count_received(Pipeline& pipeline, const Transit& transit) {
  const IfIndex device = transit.ingress->index;
  pipeline.counters.add(Snmp::kIp6InReceives, device);
  pipeline.counters.add(Snmp::kIp6InOctets, device, transit.packet->size());
}

// RFC 4291 §2.5.3, §2.7 and the link layer's word on who is meant.
DropReason check_addresses(const Transit& transit, const net::Ipv6Header& header) {
  const net::Ipv6Address source = header.source();
  const net::Ipv6Address destination = header.destination();
  const bool from_wire = !transit.ingress->is_loopback();
  if (from_wire && (source.is_loopback() || destination.is_loopback())) {
    return DropReason::kLoopbackFromWire;
  }
  if (from_wire && destination.is_multicast() && destination.multicast_scope() == 1) {
    return DropReason::kMulticastScope;
  }
  const packet::L2Class l2 = transit.packet->meta.l2_class;
  const bool l2_group = l2 == packet::L2Class::kBroadcast || l2 == packet::L2Class::kMulticast;
  if (l2_group && !destination.is_multicast() &&
      transit.ingress->conf.drop_unicast_in_l2_multicast) {
    return DropReason::kL2MulticastUnicast;
  }
  if (destination.is_multicast() && destination.multicast_scope() == 0) {
    return DropReason::kMulticastScope;
  }
  return source.is_multicast() ? DropReason::kSourceMulticast : DropReason::kNone;
}

// RFC 8200 §3: the payload length rules; what is behind it is link-layer padding. A payload length of 0 in front of a
// hop-by-hop header may mean a jumbogram (RFC 2675), so nothing is cut off there.
bool fit_payload(Transit& transit, const net::Ipv6Header& header) {
  if (header.payload_length() == 0 && header.next_header() == net::kNextHeaderHopByHop) return true;
  const std::size_t wanted = net::kIpv6HeaderSize + header.payload_length();
  if (wanted > transit.packet->size()) return false;
  transit.packet->truncate(wanted);
  return true;
}

// RFC 8200 §4.3: examined by every node on the way, but only directly behind the IPv6 header.
OptionsVerdict read_hop_by_hop(const Pipeline& pipeline, const Transit& transit) {
  const std::span<const std::uint8_t> bytes = std::as_const(*transit.packet).bytes();
  net::ExtensionHeaderWalk walk(bytes);
  const auto header = walk.next();
  const fib::Sysctls& sysctls = pipeline.sysctls();
  if (!header || std::cmp_greater(header->size, sysctls.max_hbh_length)) {
    return {.reason = DropReason::kHopByHopMalformed};
  }
  return read_options(bytes, *header, OptionsHeader::kHopByHop, sysctls.max_hbh_opts_number);
}

void drop_counted(Pipeline& pipeline, Transit& transit, DropReason reason, Snmp counter) {
  pipeline.counters.add(counter, transit.ingress->index);
  drop(pipeline, transit, reason);
}

void receive_hop_by_hop(Pipeline& pipeline, Transit& transit) {
  const OptionsVerdict verdict = read_hop_by_hop(pipeline, transit);
  if (verdict.reason == DropReason::kNone) {
    transit.packet->meta.router_alert = verdict.router_alert;
    return;
  }
  pipeline.counters.add(Snmp::kIp6InHdrErrors, transit.ingress->index);
  transit.refused = verdict.reason;
  transit.error = verdict.error;
}

/// What must be known of a packet before it is counted as received at all.
DropReason check_device(const Transit& transit) {
  if (transit.ingress == nullptr) return DropReason::kDeviceUnknown;
  if (!transit.ingress->up) return DropReason::kDeviceDown;
  if (transit.packet->meta.l2_class == packet::L2Class::kOtherHost) return DropReason::kOtherHost;
  return DropReason::kNone;
}

}  // namespace

void count_ecn(Pipeline& pipeline, std::uint8_t ecn, IfIndex device) {
  constexpr Snmp kByCode[] = {Snmp::kIp6InNoECTPkts, Snmp::kIp6InECT1Pkts, Snmp::kIp6InECT0Pkts,
                              Snmp::kIp6InCEPkts};
  pipeline.counters.add(kByCode[ecn], device);
}

void receive(Pipeline& pipeline, Transit& transit) {
  if (const DropReason reason = check_device(transit); reason != DropReason::kNone) {
    return drop(pipeline, transit, reason);
  }
  count_received(pipeline, transit);
  if (!has_ipv6(*transit.ingress)) {
    return drop_counted(pipeline, transit, DropReason::kIpv6Disabled, Snmp::kIp6InDiscards);
  }
  const auto header = net::Ipv6Header::check(std::as_const(*transit.packet).bytes());
  if (!header) {
    return drop_counted(pipeline, transit, DropReason::kHeaderTruncated, Snmp::kIp6InHdrErrors);
  }
  if (header->version() != 6) {
    return drop_counted(pipeline, transit, DropReason::kBadVersion, Snmp::kIp6InHdrErrors);
  }
  count_ecn(pipeline, header->ecn(), transit.ingress->index);
  if (const DropReason reason = check_addresses(transit, *header); reason != DropReason::kNone) {
    return drop_counted(pipeline, transit, reason, Snmp::kIp6InHdrErrors);
  }
  if (!fit_payload(transit, *header)) {
    return drop_counted(pipeline, transit, DropReason::kPayloadTruncated,
                        Snmp::kIp6InTruncatedPkts);
  }
  if (header->next_header() == net::kNextHeaderHopByHop) receive_hop_by_hop(pipeline, transit);
}

void receive_batch(Pipeline& pipeline, std::span<Transit> batch) {
  for (Transit& transit : batch) {
    const packet::Packet& packet = *transit.packet;
    if (packet.meta.verdict != packet::Verdict::kPending) continue;
    transit.ingress = pipeline.link(packet.meta.ingress);
    transit.received_size = packet.size();
    if (const auto header = net::Ipv6Header::check(packet.bytes())) {
      transit.received_hop_limit = header->hop_limit();
    }
    receive(pipeline, transit);
  }
}

}  // namespace sidestep::forward
