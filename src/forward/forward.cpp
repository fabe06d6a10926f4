// SPDX-License-Identifier: Apache-2.0
// Forwarding: the tests between input lookup and output, in the kernel's order (ip6_forward).
//
// Errors of the packet are counted on the ingress device, what concerns the way out on the egress device. A packet
// that is too big has been counted as forwarded by then.
#include "forward/forward.hpp"

#include <algorithm>

#include "forward/icmp.hpp"
#include "forward/output.hpp"
#include "forward/redirect.hpp"

namespace sidestep::forward {
namespace {

using packet::DropReason;
using packet::Snmp;

// The per-device `forwarding` is not asked: it makes a device a router's to its neighbors, not the node a forwarder.
DropReason check_may_forward(const Pipeline& pipeline, const Transit& transit) {
  if (!pipeline.sysctls().all.forwarding && !transit.ingress->conf.force_forwarding) {
    return DropReason::kForwardingOff;
  }
  if (transit.packet->meta.l2_class != packet::L2Class::kHost) return DropReason::kL2NotUnicast;
  return DropReason::kNone;
}

// Proxied neighbor discovery is for a later day: what would need it must not be forwarded as if nothing were.
bool needs_proxy(const Pipeline& pipeline, const Transit& transit) {
  return pipeline.sysctls().all.proxy_ndp &&
         pipeline.context.neighbors.find_proxy(
             transit.ingress->index, header_of(std::as_const(*transit.packet)).destination());
}

bool leaves_as_it_came(const Transit& transit) {
  return transit.packet->dst->device == transit.packet->meta.ingress &&
         !transit.packet->meta.routing_header_consumed;
}

// RFC 4291 §2.5.2, §2.5.3, §2.5.6: such sources must not be forwarded.
DropReason check_source(const net::Ipv6Address& source) {
  if (source.is_unspecified() || source.is_multicast() || source.is_loopback()) {
    return DropReason::kSourceUnspecified;
  }
  return source.is_link_local() ? DropReason::kSourceScope : DropReason::kNone;
}

void drop_address_error(Pipeline& pipeline, Transit& transit, DropReason reason) {
  pipeline.counters.add(Snmp::kIp6InAddrErrors, transit.packet->meta.ingress);
  drop(pipeline, transit, reason);
}

// RFC 4443 §3.3. 0 and 1 are the same to a router.
void expire(Pipeline& pipeline, Transit& transit) {
  send_error(pipeline, transit, {net::kIcmpv6TimeExceeded, net::kTimeExceededHopLimit, 0});
  pipeline.counters.add(Snmp::kIp6InHdrErrors, transit.packet->meta.ingress);
  drop(pipeline, transit, DropReason::kHopLimitExceeded);
}

void refuse_source(Pipeline& pipeline, Transit& transit, DropReason reason) {
  if (reason == DropReason::kSourceScope) {
    send_error(pipeline, transit,
               {net::kIcmpv6DestinationUnreachable, net::kUnreachableBeyondScope, 0});
  }
  drop_address_error(pipeline, transit, reason);
}

/// The MTU of the first of the two tests: a locked route MTU, else the device's, and never below the minimum.
std::uint32_t forward_mtu(const fib::Dst& dst, const fib::Link* egress) {
  std::uint32_t mtu = egress != nullptr ? egress->ipv6_mtu() : 0;
  if (dst->mtu_locked && dst->mtu != 0) mtu = dst->mtu;
  return std::max<std::uint32_t>(mtu, net::kIpv6MtuMin);
}

void refuse_size(Pipeline& pipeline, Transit& transit, std::uint32_t mtu) {
  const IfIndex egress = transit.packet->dst->device;
  send_error(pipeline, transit, {net::kIcmpv6PacketTooBig, 0, mtu}, egress);
  pipeline.counters.add(Snmp::kIp6InTooBigErrors, transit.packet->meta.ingress);
  pipeline.counters.add(Snmp::kIp6FragFails, egress);
  drop(pipeline, transit, DropReason::kTooBig);
}

/// What leaves by the device it came in by earns its sender a redirect, and is spared the test of its source.
bool passes_source_tests(Pipeline& pipeline, Transit& transit) {
  if (leaves_as_it_came(transit)) {
    send_redirect(pipeline, transit);
    return true;
  }
  const DropReason reason = check_source(header_of(std::as_const(*transit.packet)).source());
  if (reason == DropReason::kNone) return true;
  refuse_source(pipeline, transit, reason);
  return false;
}

/// From "it will be forwarded" to the way out.
void pass_on(Pipeline& pipeline, Transit& transit) {
  packet::Packet& packet = *transit.packet;
  const fib::Dst& dst = packet.dst.get();
  pipeline.counters.add(Snmp::kIp6OutForwDatagrams, dst->device);
  const std::uint32_t mtu = forward_mtu(dst, pipeline.link(dst->device));
  if (packet.size() > mtu) return refuse_size(pipeline, transit, mtu);
  net::MutableIpv6Header header = header_of(packet);
  header.set_hop_limit(static_cast<std::uint8_t>(header.hop_limit() - 1));
  output(pipeline, transit);
}

}  // namespace

void forward(Pipeline& pipeline, Transit& transit) {
  const DropReason reason = check_may_forward(pipeline, transit);
  if (reason == DropReason::kForwardingOff) return drop_address_error(pipeline, transit, reason);
  if (reason != DropReason::kNone) return drop(pipeline, transit, reason);
  if (header_of(std::as_const(*transit.packet)).hop_limit() <= 1) return expire(pipeline, transit);
  if (needs_proxy(pipeline, transit)) return drop(pipeline, transit, DropReason::kNotImplemented);
  if (passes_source_tests(pipeline, transit)) pass_on(pipeline, transit);
}

}  // namespace sidestep::forward
