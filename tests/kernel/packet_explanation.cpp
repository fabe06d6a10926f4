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
#include <sidestep/net/srh.hpp>

#include "srv6/srh_search.hpp"

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

/// Where the kernel looks for an HMAC: behind the IPv6 header and hop-by-hop options, whatever is there.
std::size_t offset_of_judged(std::span<const std::uint8_t> packet) {
  net::ExtensionHeaderWalk walk(packet);
  const auto first = walk.next();
  const bool has_options = first && first->type == net::kNextHeaderHopByHop;
  return net::kIpv6HeaderSize + (has_options ? first->size : 0);
}

/// Whether what stands at `offset` stands the policy, were it an SRH; empty when it ends outside the packet.
std::optional<bool> passes_at(std::span<const std::uint8_t> packet, std::size_t offset,
                              srv6::Policy policy) {
  if (offset > packet.size()) return std::nullopt;
  const auto header = net::RoutingHeader::check(packet.subspan(offset));
  if (!header) return std::nullopt;
  const auto source = net::Ipv6Header::check(packet)->source();
  return srv6::judge_hmac(*header, source, policy) == packet::DropReason::kNone;
}

/// Whether a valid SRH elsewhere than at `judged` gets this answer from the policy.
bool has_srh_elsewhere(std::span<const std::uint8_t> packet, std::size_t judged,
                       srv6::Policy policy, bool passes) {
  net::ExtensionHeaderWalk walk(packet);
  while (const auto header = walk.next()) {
    if (header->type != net::kNextHeaderRouting || header->offset == judged) continue;
    if (!net::Srh::check(header->in(packet), net::SrhForm::kReduced)) continue;
    if (passes_at(packet, header->offset, policy) == passes) return true;
  }
  return false;
}

/// The kernel's outcome is that of a SID which dropped the packet at once: one error, and nothing sent.
bool is_one_sid_error(const PacketOutcome& kernel) {
  std::int64_t errors = 0;
  for (const auto& [name, delta] : kernel.counters) {
    if (name.starts_with("SidErrors@")) errors += delta;
    if (name.starts_with("SidPackets@") || name.starts_with("Ip6Out") || name.starts_with("Icmp6"))
      return false;
  }
  return errors == 1 && kernel.sent.empty();
}

/// The kernel verifies what is in front of the SRH that the behavior acts on, and comes to another answer.
bool is_misplaced_hmac(std::span<const std::uint8_t> packet, const fib::Link* ingress,
                       const PacketOutcome& kernel, const PacketOutcome& ours,
                       const OurRouter& router) {
  if (ingress == nullptr) return false;
  const srv6::Policy policy{.require_hmac = ingress->conf.seg6_require_hmac,
                            .secrets = &router.srv6().hmac_secrets};
  const std::size_t judged = offset_of_judged(packet);
  const auto passes = passes_at(packet, judged, policy);
  if (!passes || !has_srh_elsewhere(packet, judged, policy, !*passes)) return false;
  return *passes ? ours.verdict == "hmac" && ours.sent.empty() : is_one_sid_error(kernel);
}

/// Offset of the packet that the router's own end of a path takes out; empty when there is none.
std::optional<std::size_t> offset_of_inner(std::span<const std::uint8_t> packet) {
  net::ExtensionHeaderWalk walk(packet);
  while (const auto header = walk.next()) {
    if (header->type == net::kNextHeaderRouting && header->next_header == net::kNextHeaderIpv6)
      return header->offset + header->size;
  }
  return std::nullopt;
}

/// All octets that the kernel counts more are those of the headers that were taken off.
bool counts_more_octets(const PacketOutcome& kernel, const PacketOutcome& ours, std::size_t more) {
  for (const auto& name : differing(kernel.counters, ours.counters)) {
    if (!name.starts_with("Ip6OutOctets") && !name.starts_with("SidBytes@")) return false;
    if (value_of(kernel.counters, name) !=
        value_of(ours.counters, name) + static_cast<std::int64_t>(more))
      return false;
  }
  return true;
}

/// The kernel's l2encap puts the headers that were taken off in front of a packet back into the frame.
bool is_frame_with_removed_headers(std::span<const std::uint8_t> packet,
                                   const PacketOutcome& kernel, const PacketOutcome& ours) {
  const auto removed = offset_of_inner(packet);
  if (!removed || kernel.sent.size() != 1 || ours.sent.size() != 1) return false;
  const auto inner = net::Ipv6Header::check(packet.subspan(*removed));
  if (!inner || kernel.sent[0].device != ours.sent[0].device) return false;
  const std::size_t size = net::kIpv6HeaderSize + inner->payload_length();
  const std::span<const std::uint8_t> theirs = kernel.sent[0].frame;
  const std::span<const std::uint8_t> mine = ours.sent[0].frame;
  if (packet.size() < *removed + size || mine.size() < 2 * kEthernetSize + size ||
      theirs.size() != mine.size() + *removed)
    return false;
  // Both end with the packet, the kernel's with what was around it as well; the Ethernet header before it is the same.
  const auto header = mine.subspan(mine.size() - size - kEthernetSize, kEthernetSize);
  const std::size_t end = theirs.size() - size - *removed;
  return std::ranges::equal(mine.last(size), packet.subspan(*removed, size)) &&
         std::ranges::equal(theirs.last(*removed + size), packet.first(*removed + size)) &&
         std::ranges::equal(theirs.subspan(end - kEthernetSize, kEthernetSize), header) &&
         counts_more_octets(kernel, ours, *removed);
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

std::string explanation_of(const DeviceFrame& frame, const PacketOutcome& kernel,
                           const PacketOutcome& ours, const OurRouter& router) {
  const auto packet = packet_of(frame.frame);
  if (!net::Ipv6Header::check(packet)) return {};
  if (is_upper_layer(packet, kernel, ours)) return "Upper layers of the router itself";
  if (ours.verdict == "not_implemented" && offset_of(packet, net::kNextHeaderFragment)) {
    return "Fragments for the router itself";
  }
  if (is_misplaced_routing_header(packet, kernel, ours))
    return "A segment routing header behind another header";
  if (is_misplaced_hmac(packet, router.fib().links().find(frame.device), kernel, ours, router))
    return "HMACs behind another header";
  if (is_frame_with_removed_headers(packet, kernel, ours))
    return "L2 encapsulation of a packet that the router took out of another";
  if (is_long_answer(kernel, ours)) return "Answers that are too long for the way back";
  if (is_second_lookup(packet, kernel, ours, router)) return "The second lookup of an ICMPv6 error";
  return {};
}

}  // namespace sidestep::kernel
