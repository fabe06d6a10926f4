// SPDX-License-Identifier: Apache-2.0
// Which differences between the kernel and ours are known and meant. Each rule recognizes exactly what its heading in
// docs/kernel-differences.md describes, and nothing else: a difference beside it stays a difference.

#include "kernel/packet_explanation.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <set>

#include <sidestep/net/headers.hpp>
#include <sidestep/net/protocol.hpp>

namespace sidestep::kernel {
namespace {

constexpr std::size_t kEthernetSize = 14;

std::span<const std::uint8_t> packet_of(const Bytes& frame) {
  return std::span(frame).subspan(std::min(frame.size(), kEthernetSize));
}

std::int64_t value_of(const CounterDeltas& counters, const std::string& name) {
  const auto found = counters.find(name);
  return found == counters.end() ? 0 : found->second;
}

/// Names of the counters that moved differently.
std::set<std::string> differing(const CounterDeltas& a, const CounterDeltas& b) {
  std::set<std::string> names;
  for (const auto& [name, value] : a) {
    if (value_of(b, name) != value) names.insert(name);
  }
  for (const auto& [name, value] : b) {
    if (value_of(a, name) != value) names.insert(name);
  }
  return names;
}

/// Offset of the first extension header of this type from the beginning of the packet; empty when there is none.
std::optional<std::size_t> offset_of(std::span<const std::uint8_t> packet, std::uint8_t type) {
  net::ExtensionHeaderWalk walk(packet);
  while (const auto header = walk.next()) {
    if (header->type == type) return header->offset;
  }
  return std::nullopt;
}

/// The kernel answers UDP to a closed port and TCP; ours leaves upper layers to others.
bool is_upper_layer(std::span<const std::uint8_t> packet, const PacketOutcome& kernel,
                    const PacketOutcome& ours) {
  if (ours.verdict != "delivered" || !ours.sent.empty() || kernel.sent.size() != 1) return false;
  const auto answer = packet_of(kernel.sent[0].frame);
  const std::uint8_t protocol = net::find_upper_layer(packet).header.type;
  if (protocol == net::kNextHeaderTcp)
    return net::find_upper_layer(answer).header.type == net::kNextHeaderTcp;
  constexpr std::uint8_t kDestinationUnreachable = 1;
  constexpr std::uint8_t kPortUnreachable = 4;
  const std::size_t message = net::kIpv6HeaderSize;
  return protocol == net::kNextHeaderUdp && answer.size() > message + 1 &&
         answer[message] == kDestinationUnreachable && answer[message + 1] == kPortUnreachable;
}

/// Offset of the first routing header with segments left; empty when there is none.
std::optional<std::size_t> offset_of_active_routing(std::span<const std::uint8_t> packet) {
  constexpr std::size_t kSegmentsLeft = 3;
  net::ExtensionHeaderWalk walk(packet);
  while (const auto header = walk.next()) {
    if (header->type == net::kNextHeaderRouting && packet[header->offset + kSegmentsLeft] != 0)
      return header->offset;
  }
  return std::nullopt;
}

/// The kernel counts such a packet without the headers before the routing header, and sends other bytes than the packet's.
bool is_misplaced_routing_header(std::span<const std::uint8_t> packet, const PacketOutcome& kernel,
                                 const PacketOutcome& ours) {
  const auto routing = offset_of_active_routing(packet);
  if (!routing || *routing <= net::kIpv6HeaderSize || kernel.sent.size() != ours.sent.size())
    return false;
  const std::size_t before = *routing - net::kIpv6HeaderSize;
  for (std::size_t i = 0; i < ours.sent.size(); ++i) {
    if (kernel.sent[i].device != ours.sent[i].device) return false;
    if (kernel.sent[i].frame.size() != ours.sent[i].frame.size()) return false;
  }
  if (value_of(kernel.counters, "Ip6OutOctets") == value_of(ours.counters, "Ip6OutOctets"))
    return false;
  for (const auto& name : differing(kernel.counters, ours.counters)) {
    if (!name.starts_with("Ip6OutOctets")) return false;
    if (value_of(kernel.counters, name) + static_cast<std::int64_t>(before) !=
        value_of(ours.counters, name))
      return false;
  }
  return true;
}

/// A routing header with an HMAC that is not the first header: the kernel looks for the HMAC elsewhere.
bool has_misplaced_hmac(std::span<const std::uint8_t> packet) {
  net::ExtensionHeaderWalk walk(packet);
  while (const auto header = walk.next()) {
    if (header->type != net::kNextHeaderRouting || header->offset == net::kIpv6HeaderSize) continue;
    if (net::RoutingHeader::check(header->in(packet))->has_hmac()) return true;
  }
  return false;
}

/// The kernel cuts an answer of its own that is too long for the way back; ours drops it.
bool is_long_answer(const PacketOutcome& kernel, const PacketOutcome& ours) {
  if (ours.verdict != "answered" || !ours.sent.empty() || kernel.sent.size() < 2) return false;
  return std::all_of(kernel.sent.begin(), kernel.sent.end(), [](const DeviceFrame& one) {
    return offset_of(packet_of(one.frame), net::kNextHeaderFragment).has_value();
  });
}

/// The packet's flow as it would be asked for on the way back.
Query reversed(std::span<const std::uint8_t> packet) {
  const auto header = *net::Ipv6Header::check(packet);
  Query query;
  query.destination = header.source();
  query.source = header.destination();
  query.tos = header.traffic_class();
  const net::UpperLayer upper = net::find_upper_layer(packet);
  query.ipproto = upper.header.type;
  if (const auto ports = net::peek_ports(packet, upper)) {
    query.sport = ports->destination;
    query.dport = ports->source;
  }
  return query;
}

/// For each error the kernel also looks up the offending packet's reversed flow, and counts when that has no route.
bool is_second_lookup(std::span<const std::uint8_t> packet, const PacketOutcome& kernel,
                      const PacketOutcome& ours, const OurRouter& router) {
  if (kernel.sent != ours.sent || value_of(ours.counters, "Icmp6OutMsgs") == 0) return false;
  if (differing(kernel.counters, ours.counters) != std::set<std::string>{"Ip6OutNoRoutes"})
    return false;
  if (value_of(kernel.counters, "Ip6OutNoRoutes") != value_of(ours.counters, "Ip6OutNoRoutes") + 1)
    return false;
  return router.ask(reversed(packet)).answer.error == ENETUNREACH;
}

}  // namespace

std::string explanation_of(const Bytes& frame, const PacketOutcome& kernel,
                           const PacketOutcome& ours, const OurRouter& router) {
  const auto packet = packet_of(frame);
  if (!net::Ipv6Header::check(packet)) return {};
  if (is_upper_layer(packet, kernel, ours)) return "Upper layers of the router itself";
  if (ours.verdict == "not_implemented" && offset_of(packet, net::kNextHeaderFragment)) {
    return "Fragments for the router itself";
  }
  if (is_misplaced_routing_header(packet, kernel, ours))
    return "A segment routing header behind another header";
  if (ours.verdict == "hmac" && ours.sent.empty() && has_misplaced_hmac(packet))
    return "HMACs behind another header";
  if (is_long_answer(kernel, ours)) return "Answers that are too long for the way back";
  if (is_second_lookup(packet, kernel, ours, router)) return "The second lookup of an ICMPv6 error";
  return {};
}

}  // namespace sidestep::kernel
