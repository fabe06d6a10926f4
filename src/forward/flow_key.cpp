// SPDX-License-Identifier: Apache-2.0
#include "forward/flow_key.hpp"

#include <algorithm>
#include <optional>

#include <sidestep/net/wire.hpp>

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

void add_ports(rules::Flow& flow, std::span<const std::uint8_t> packet) {
  const Dissected found = dissect(packet);
  flow.protocol = found.protocol;
  flow.source_port = found.ports.source;
  flow.destination_port = found.ports.destination;
}

/// An IPv4 packet as a flow: mapped addresses, no flow label. Fragments have no ports, as in the dissector.
std::optional<rules::Flow> ipv4_flow(std::span<const std::uint8_t> packet) {
  constexpr std::size_t kHeaderLeast = 20;
  if (packet.size() < kHeaderLeast || packet[0] >> 4 != 4) return std::nullopt;
  const std::size_t header_size = std::size_t{4} * (packet[0] & 0x0fU);
  if (header_size < kHeaderLeast) return std::nullopt;
  const auto mapped = [&](std::size_t offset) {
    net::Ipv6Address address{};
    address.bytes[10] = address.bytes[11] = 0xff;
    std::copy_n(packet.begin() + static_cast<std::ptrdiff_t>(offset), 4,
                address.bytes.begin() + 12);
    return address;
  };
  rules::Flow flow;
  flow.source = mapped(12);
  flow.destination = mapped(16);
  flow.protocol = packet[9];
  const bool fragment = (net::load_be16(&packet[6]) & 0x3fffU) != 0;
  const bool has_ports =
      flow.protocol == net::kNextHeaderTcp || flow.protocol == net::kNextHeaderUdp;
  if (fragment || !has_ports || packet.size() < header_size + 4) return flow;
  flow.source_port = net::load_be16(&packet[header_size]);
  flow.destination_port = net::load_be16(&packet[header_size + 2]);
  return flow;
}

/// The flow of the innermost packet that encapsulation in IPv6 leads to, within reason; empty when there is none.
std::optional<rules::Flow> inner_flow(std::span<const std::uint8_t> packet) {
  constexpr int kEncapsulationsMax = 8;
  constexpr std::uint8_t kNextHeaderIpv4 = 4;
  bool inside = false;
  for (int i = 0; i < kEncapsulationsMax; ++i) {
    const Dissected found = dissect(packet);
    if (found.offset >= packet.size()) break;
    const auto inner = packet.subspan(found.offset);
    if (found.protocol == kNextHeaderIpv4) {
      if (auto flow = ipv4_flow(inner)) return flow;
    }
    if (found.protocol != net::kNextHeaderIpv6 || !net::Ipv6Header::check(inner)) break;
    packet = inner;
    inside = true;
  }
  if (!inside) return std::nullopt;
  rules::Flow flow = base_flow(packet);
  add_ports(flow, packet);
  return flow;
}

/// Policy 2: the addresses of an inner IPv4 packet; of an inner IPv6 packet its flow label and first next header too.
std::optional<rules::Flow> inner_l3_flow(std::span<const std::uint8_t> packet) {
  auto flow = inner_flow(packet);
  if (flow && flow->source.is_v4_mapped()) flow->protocol = 0;
  return flow;
}

/// A hash of what the policy in force asks for (net.ipv6.fib_multipath_hash_policy).
std::uint32_t hash_by_policy(const lookup::Fib& fib, std::span<const std::uint8_t> packet) {
  constexpr std::uint8_t kPolicyL4 = 1;
  constexpr std::uint8_t kPolicyInnerL3 = 2;
  constexpr std::uint8_t kPolicyFields = 3;
  const std::uint8_t policy = fib.sysctls().fib_multipath_hash_policy;
  if (policy == kPolicyL4 || policy == kPolicyFields) {
    rules::Flow flow = base_flow(packet);
    add_ports(flow, packet);
    const auto inner = policy == kPolicyFields ? inner_flow(packet) : std::nullopt;
    return fib.multipath_hash(flow, inner ? &*inner : nullptr);
  }
  if (policy == kPolicyInnerL3) {
    if (const auto inner = inner_l3_flow(packet)) return fib.multipath_hash(*inner);
  }
  return fib.multipath_hash(base_flow(quoted_or_self(packet)));
}

}  // namespace

std::uint32_t multipath_hash_of(const Pipeline& pipeline, std::span<const std::uint8_t> packet) {
  const std::uint8_t policy = pipeline.sysctls().fib_multipath_hash_policy;
  if (policy == 0 && quoted_or_self(packet).data() == packet.data()) return 0;
  return hash_by_policy(pipeline.context.fib, packet);
}

std::uint32_t flow_label_of(const Pipeline& pipeline, std::span<const std::uint8_t> packet) {
  constexpr std::uint32_t kLabelMask = 0xfffff;
  rules::Flow flow = base_flow(packet);
  add_ports(flow, packet);
  // The hash may be one of addresses alone, as the multipath policy says; ports are mixed in here.
  const std::uint32_t ports =
      (std::uint32_t{flow.source_port} << 16 | flow.destination_port) * 0x9e3779b1U;
  const std::uint32_t hash = pipeline.context.fib.multipath_hash(flow) ^ ports;
  return (hash ^ hash >> 12) & kLabelMask;
}

std::uint32_t quoted_hash_of(const Pipeline& pipeline, std::span<const std::uint8_t> about) {
  return hash_by_policy(pipeline.context.fib, about);
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
