// SPDX-License-Identifier: Apache-2.0
#include "forward/flow_key.hpp"

namespace sidestep::forward {
namespace {

/// What the kernel's flow dissector finds behind the extension headers.
struct Dissected {
  std::uint8_t protocol = 0;
  net::Ports ports{};
  std::size_t offset = 0;  ///< of the upper layer header
};

// The dissector passes over hop-by-hop, routing and destination options headers only, and takes a fragment, the first
// one included, for something without ports.
Dissected dissect(std::span<const std::uint8_t> packet) {
  net::ExtensionHeaderWalk walk(packet);
  while (true) {
    const net::HeaderPosition here = walk.position();
    const auto header = walk.next();
    if (!header) {
      const net::UpperLayer upper{.stop = walk.stop(), .header = here};
      const auto ports = net::peek_ports(packet, upper);
      return {here.type, ports.value_or(net::Ports{}), here.offset};
    }
    if (header->type == net::kNextHeaderFragment) {
      return {header->next_header, {}, header->offset + header->size};
    }
    if (header->type == net::kNextHeaderAuthentication) return {header->type, {}, header->offset};
  }
}

rules::Flow base_flow(std::span<const std::uint8_t> packet) {
  rules::Flow flow;
  const auto header = net::Ipv6Header::check(packet);
  if (!header) return flow;
  flow.destination = header->destination();
  flow.source = header->source();
  flow.traffic_class = header->traffic_class();
  flow.flow_label = header->flow_label();
  flow.protocol = header->next_header();
  return flow;
}

/// The packet that an ICMPv6 error directly behind the IPv6 header quotes; else the packet itself.
std::span<const std::uint8_t> quoted_or_self(std::span<const std::uint8_t> packet) {
  const auto header = net::Ipv6Header::check(packet);
  if (!header || header->next_header() != net::kNextHeaderIcmpv6) return packet;
  const auto message = packet.subspan(net::kIpv6HeaderSize);
  const auto icmp = net::Icmpv6Header::check(message);
  if (!icmp || !icmp->is_error()) return packet;
  const auto quote = message.subspan(net::kIcmpv6HeaderSize);
  return net::Ipv6Header::check(quote) ? quote : packet;
}

/// The innermost IPv6 packet that encapsulation in IPv6 leads to, within reason.
std::span<const std::uint8_t> innermost(std::span<const std::uint8_t> packet) {
  constexpr int kEncapsulationsMax = 8;
  for (int i = 0; i < kEncapsulationsMax; ++i) {
    const Dissected found = dissect(packet);
    if (found.protocol != net::kNextHeaderIpv6 || found.offset >= packet.size()) break;
    const auto inner = packet.subspan(found.offset);
    if (!net::Ipv6Header::check(inner)) break;
    packet = inner;
  }
  return packet;
}

void add_ports(rules::Flow& flow, std::span<const std::uint8_t> packet) {
  const Dissected found = dissect(packet);
  flow.protocol = found.protocol;
  flow.source_port = found.ports.source;
  flow.destination_port = found.ports.destination;
}

/// The flow whose fields are what the policy in force hashes (net.ipv6.fib_multipath_hash_policy).
rules::Flow hash_key(std::span<const std::uint8_t> packet, std::uint8_t policy) {
  constexpr std::uint8_t kPolicyL4 = 1;
  constexpr std::uint8_t kPolicyInnerL3 = 2;
  constexpr std::uint8_t kPolicyFields = 3;
  if (policy == kPolicyL4 || policy == kPolicyFields) {
    rules::Flow flow = base_flow(packet);
    add_ports(flow, packet);
    return flow;
  }
  if (policy == kPolicyInnerL3) {
    const auto inner = innermost(packet);
    if (inner.data() != packet.data()) return base_flow(inner);
  }
  return base_flow(quoted_or_self(packet));
}

}  // namespace

std::uint32_t multipath_hash_of(const Pipeline& pipeline, std::span<const std::uint8_t> packet) {
  const std::uint8_t policy = pipeline.sysctls().fib_multipath_hash_policy;
  if (policy == 0 && quoted_or_self(packet).data() == packet.data()) return 0;
  return pipeline.context.fib.multipath_hash(hash_key(packet, policy));
}

std::uint32_t quoted_hash_of(const Pipeline& pipeline, std::span<const std::uint8_t> about) {
  const std::uint8_t policy = pipeline.sysctls().fib_multipath_hash_policy;
  return pipeline.context.fib.multipath_hash(hash_key(about, policy));
}

rules::Flow flow_of(const Pipeline& pipeline, const Transit& transit, KeyDepth depth) {
  const packet::Packet& packet = *transit.packet;
  rules::Flow flow = base_flow(packet.bytes());
  flow.iif = packet.meta.ingress;
  flow.mark = packet.meta.mark;
  flow.now = packet.meta.received_at;
  if (depth == KeyDepth::kFull && pipeline.context.fib.needs_ports()) {
    add_ports(flow, packet.bytes());
  }
  flow.multipath_hash = multipath_hash_of(pipeline, packet.bytes());
  return flow;
}

}  // namespace sidestep::forward
