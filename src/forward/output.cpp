// SPDX-License-Identifier: Apache-2.0
// Sending. A forwarded packet has passed one test of its size already, against
// the MTU that the kernel takes for forwarding; here the route's own MTU counts, so a route with `mtu 1000` refuses
// what is longer and says so with that number, below the minimum of RFC 8200 as it is. The packet's hop limit has
// been taken by then, and the quoted packet shows it.
#include "forward/output.hpp"

#include "forward/icmp.hpp"
#include "forward/icmp_input.hpp"
#include "forward/receive.hpp"
#include "forward/route.hpp"
#include "forward/segment.hpp"

namespace sidestep::forward {
namespace {

using packet::DropReason;
using packet::Packet;
using packet::Snmp;

std::uint32_t output_mtu(const fib::Dst& dst, const fib::Link& egress) {
  return dst->mtu != 0 ? dst->mtu : egress.ipv6_mtu();
}

/// Whether the kernel would find where a packet could be cut; if not, it fails without telling the sender.
bool has_fragmentable_part(std::span<const std::uint8_t> packet) {
  net::ExtensionHeaderWalk walk(packet);
  while (true) {
    const std::uint8_t type = walk.position().type;
    const bool is_per_hop = type == net::kNextHeaderHopByHop || type == net::kNextHeaderRouting ||
                            type == net::kNextHeaderDestinationOptions;
    if (!is_per_hop) return true;
    if (!walk.next()) return false;
  }
}

void refuse_size(Pipeline& pipeline, Transit& transit, const fib::Link& egress, std::uint32_t mtu) {
  if (has_fragmentable_part(std::as_const(*transit.packet).bytes())) {
    send_error(pipeline, transit, {net::kIcmpv6PacketTooBig, 0, mtu}, egress.index);
  }
  pipeline.counters.add(Snmp::kIp6FragFails, egress.index);
  drop(pipeline, transit, DropReason::kTooBigOutput);
}

void count_sent(Pipeline& pipeline, const Packet& packet, IfIndex device) {
  pipeline.counters.add(Snmp::kIp6OutTransmits, device);
  pipeline.counters.add(Snmp::kIp6OutOctets, device, packet.size());
}

/// The neighbor's link-layer address and our own go into the packet; kNone when it can be sent.
DropReason rewrite(Pipeline& pipeline, Packet& packet, const fib::Link& egress,
                   const net::Ipv6Address& neighbor_key) {
  if (!egress.up || !egress.carrier) return DropReason::kEgressDown;
  const neighbor::Neighbor* const neighbor =
      pipeline.context.neighbors.find(egress.index, neighbor_key);
  if (neighbor == nullptr) return DropReason::kNeighborUnresolved;
  if (neighbor->state == neighbor::State::kFailed) return DropReason::kNeighborFailed;
  if (!neighbor->is_valid() || !neighbor->has_mac) return DropReason::kNeighborUnresolved;
  packet.meta.egress = egress.index;
  packet.meta.source_mac = egress.mac;
  packet.meta.destination_mac = neighbor->mac;
  packet.meta.has_mac = true;
  packet.meta.verdict = packet::Verdict::kTransmit;
  return DropReason::kNone;
}

/// A packet to the router itself: out of one end of `lo` and in at the other.
void loop_back(Pipeline& pipeline, Packet& packet) {
  const IfIndex owner = charged_device(packet.dst.get(), kLoopbackIndex);
  packet::Counters& counters = pipeline.counters;
  counters.add(Snmp::kIp6InReceives, kLoopbackIndex);
  counters.add(Snmp::kIp6InOctets, kLoopbackIndex, packet.size());
  count_ecn(pipeline, header_of(packet).ecn(), kLoopbackIndex);
  counters.add(Snmp::kIp6InDelivers, owner);
  count_icmp_received(pipeline, packet.bytes().subspan(net::kIpv6HeaderSize),
                      {.message = owner, .error = kLoopbackIndex});
  packet.meta.verdict = packet::Verdict::kDeliver;
}

/// The headend that a packet of our own goes through; nullptr: none. Only routes that take IPv6 packets encapsulate what the
/// router sends. A behavior's route does not (it acts on input only), nor does one that takes whole frames.
const fib::Seg6Encap* headend_of(const fib::Dst& dst) {
  const auto* headend = dst->encap != nullptr ? std::get_if<fib::Seg6Encap>(dst->encap) : nullptr;
  const bool takes_frames = headend != nullptr && (headend->mode == fib::Seg6Mode::kL2Encap ||
                                                   headend->mode == fib::Seg6Mode::kL2EncapRed);
  return takes_frames ? nullptr : headend;
}

/// Takes a packet of our own through the headends on its way, if any: kNone, or why it cannot be sent.
DropReason pass_headends(Pipeline& pipeline, Packet& packet, net::Ipv6Address& neighbor_key) {
  for (int i = 0; const fib::Seg6Encap* headend = headend_of(packet.dst.get()); ++i) {
    if (i == kEncapsulationsMax) return DropReason::kTunnelRecursion;
    const DropReason reason = encapsulate_own(pipeline, packet, *headend, neighbor_key);
    if (reason != DropReason::kNone) return reason;
    // Through a SID of its own the router would have to receive the packet again.
    if (packet.dst->device == kLoopbackIndex) return DropReason::kNotImplemented;
  }
  return DropReason::kNone;
}

}  // namespace

IfIndex charged_device(const fib::Dst& dst, IfIndex fallback) noexcept {
  return dst->device == kLoopbackIndex ? owner_of(dst, fallback) : dst->device;
}

void output(Pipeline& pipeline, Transit& transit) {
  Packet& packet = *transit.packet;
  const fib::Dst& dst = packet.dst.get();
  const fib::Link* const egress = pipeline.link(dst->device);
  if (egress == nullptr) return drop(pipeline, transit, DropReason::kEgressDown);
  if (egress->conf.disable_ipv6) {
    pipeline.counters.add(Snmp::kIp6OutDiscards, egress->index);
    return drop(pipeline, transit, DropReason::kEgressIpv6Disabled);
  }
  const std::uint32_t mtu = output_mtu(dst, *egress);
  if (packet.size() > mtu) return refuse_size(pipeline, transit, *egress, mtu);
  count_sent(pipeline, packet, egress->index);
  const DropReason reason = rewrite(pipeline, packet, *egress, transit.neighbor_key);
  if (reason != DropReason::kNone) drop(pipeline, transit, reason);
}

void output_own(Pipeline& pipeline, Packet& packet, net::Ipv6Address neighbor_key) {
  DropReason reason = pass_headends(pipeline, packet, neighbor_key);
  if (reason != DropReason::kNone) return drop_generated(pipeline, packet, reason);
  const fib::Dst& dst = packet.dst.get();
  const IfIndex charged = charged_device(dst, kLoopbackIndex);
  const fib::Link* const egress = pipeline.link(dst->device);
  if (egress == nullptr) return drop_generated(pipeline, packet, DropReason::kEgressDown);
  if (egress->conf.disable_ipv6) {
    pipeline.counters.add(Snmp::kIp6OutDiscards, charged);
    return drop_generated(pipeline, packet, DropReason::kEgressIpv6Disabled);
  }
  // The kernel fragments its own packets.
  if (packet.size() > output_mtu(dst, *egress))
    return drop_generated(pipeline, packet, DropReason::kNotImplemented);
  count_sent(pipeline, packet, charged);
  if (dst->device == kLoopbackIndex) return loop_back(pipeline, packet);
  reason = rewrite(pipeline, packet, *egress, neighbor_key);
  if (reason != DropReason::kNone) drop_generated(pipeline, packet, reason);
}

}  // namespace sidestep::forward
