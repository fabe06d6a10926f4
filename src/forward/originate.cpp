// SPDX-License-Identifier: Apache-2.0
#include "forward/originate.hpp"

#include <cerrno>
#include <cstring>

#include <sidestep/net/checksum.hpp>

#include "forward/output.hpp"
#include "forward/route.hpp"

namespace sidestep::forward {
namespace {

using packet::Snmp;

/// Preferred source of the route, else RFC 6724 among the addresses near the device that the route leaves by.
std::optional<net::Ipv6Address> source_for(const Pipeline& pipeline, const lookup::Answer& answer,
                                           const net::Ipv6Address& destination) {
  const bool usable = answer.error() == 0;
  if (usable && answer.route() != nullptr && (*answer.route())->preferred_source) {
    return (*answer.route())->preferred_source;
  }
  const IfIndex device = usable ? charged_device(answer.dst.get(), IfIndex{}) : IfIndex{};
  return pipeline.context.fib.select_source(destination, device);
}

/// A lookup whose error is final. ENETUNREACH is counted, and on no device.
std::optional<OwnRoute> checked(Pipeline& pipeline, lookup::Answer answer,
                                const net::Ipv6Address& source) {
  const int error = answer.error();
  if (error == ENETUNREACH) pipeline.counters.add(Snmp::kIp6OutNoRoutes, IfIndex{});
  // A unicast route over `lo` reports no error but discards what is sent along it.
  if (error != 0 || answer.dst->input == fib::DstInput::kUnreachable) return std::nullopt;
  return OwnRoute{std::move(answer), source};
}

std::uint8_t hop_limit_for(const Pipeline& pipeline, const fib::Dst& dst) {
  if (dst->hop_limit != 0) return static_cast<std::uint8_t>(dst->hop_limit);
  const fib::Link* const link = pipeline.link(dst->device);
  const std::uint32_t configured =
      link != nullptr ? link->conf.hop_limit : pipeline.sysctls().all.hop_limit;
  return static_cast<std::uint8_t>(configured);
}

std::optional<Snmp> sent_counter(std::uint8_t type) {
  switch (type) {
    case net::kIcmpv6DestinationUnreachable:
      return Snmp::kIcmp6OutDestUnreachs;
    case net::kIcmpv6PacketTooBig:
      return Snmp::kIcmp6OutPktTooBigs;
    case net::kIcmpv6TimeExceeded:
      return Snmp::kIcmp6OutTimeExcds;
    case net::kIcmpv6ParameterProblem:
      return Snmp::kIcmp6OutParmProblems;
    case net::kIcmpv6EchoRequest:
      return Snmp::kIcmp6OutEchos;
    case net::kIcmpv6EchoReply:
      return Snmp::kIcmp6OutEchoReplies;
    case net::kIcmpv6Redirect:
      return Snmp::kIcmp6OutRedirects;
    default:
      return std::nullopt;
  }
}

void count_originated(Pipeline& pipeline, std::uint8_t type, IfIndex device) {
  pipeline.counters.add(Snmp::kIp6OutRequests, device);
  pipeline.counters.add(Snmp::kIcmp6OutMsgs, device);
  if (const auto counter = sent_counter(type)) pipeline.counters.add(*counter, device);
}

void complete_checksum(packet::Packet& packet, const net::Ipv6Address& source,
                       const net::Ipv6Address& destination) {
  const auto message = packet.bytes().subspan(net::kIpv6HeaderSize);
  auto icmp = net::MutableIcmpv6Header::check(message);
  SIDESTEP_ASSERT(icmp.has_value());
  icmp->set_checksum(0);
  icmp->set_checksum(
      net::upper_layer_checksum(source, destination, net::kNextHeaderIcmpv6, message));
}

}  // namespace

rules::Flow own_flow(const packet::Packet& cause, const net::Ipv6Address& destination,
                     std::optional<net::Ipv6Address> source, IfIndex oif) {
  rules::Flow flow;
  flow.destination = destination;
  flow.has_source = source.has_value();
  if (source) flow.source = *source;
  flow.iif = kLoopbackIndex;
  flow.oif = oif;
  flow.protocol = net::kNextHeaderIcmpv6;
  flow.now = cause.meta.received_at;
  return flow;
}

// The source is chosen by what a first lookup without one finds. If that finds nothing the lookup is repeated with
// the source, which is what source-specific routes need.
std::optional<OwnRoute> route_own(Pipeline& pipeline, rules::Flow flow) {
  const lookup::Fib& fib = pipeline.context.fib;
  if (!flow.has_source) {
    lookup::Answer first = fib.output(flow);
    const auto source = source_for(pipeline, first, flow.destination);
    if (!source) return std::nullopt;
    if (first.error() == 0) return checked(pipeline, std::move(first), *source);
    flow.source = *source;
    flow.has_source = true;
  }
  return checked(pipeline, fib.output(flow), flow.source);
}

void send_own(Pipeline& pipeline, packet::Packet& packet, const OwnRoute& route,
              const net::Ipv6Address& destination, OwnHeader fields) {
  const fib::Dst& dst = route.answer.dst.get();
  net::MutableIpv6Header header = header_of(packet);
  const bool labels = pipeline.sysctls().auto_flowlabels != 0;
  header.set_version_class_label(fields.traffic_class, labels ? fields.flow_label : 0);
  header.set_payload_length(static_cast<std::uint16_t>(packet.size() - net::kIpv6HeaderSize));
  header.set_next_header(net::kNextHeaderIcmpv6);
  header.set_hop_limit(fields.hop_limit.value_or(hop_limit_for(pipeline, dst)));
  header.set_source(route.source);
  header.set_destination(destination);
  complete_checksum(packet, route.source, destination);

  const std::uint8_t type = packet.bytes()[net::kIpv6HeaderSize];
  count_originated(pipeline, type, charged_device(dst, kLoopbackIndex));
  packet.dst.set_borrowed(route.answer.dst);
  output_own(pipeline, packet, route.answer.neighbor_key);
}

std::uint32_t own_flow_label(const net::Ipv6Address& source, const net::Ipv6Address& destination,
                             std::uint8_t type, std::uint8_t code) noexcept {
  std::uint64_t words[4];
  std::memcpy(words, source.bytes.data(), 16);
  std::memcpy(words + 2, destination.bytes.data(), 16);
  std::uint64_t mixed = (std::uint64_t{type} << 8) | code;
  for (const std::uint64_t word : words) {
    mixed = (mixed ^ word) * 0x9e3779b97f4a7c15ULL;
    mixed ^= mixed >> 29;
  }
  return static_cast<std::uint32_t>(mixed >> 44);  // 20 bits
}

}  // namespace sidestep::forward
