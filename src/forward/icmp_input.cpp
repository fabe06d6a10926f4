// SPDX-License-Identifier: Apache-2.0
#include "forward/icmp_input.hpp"

#include <cstring>

#include <sidestep/net/checksum.hpp>

#include "forward/addresses.hpp"
#include "forward/icmp.hpp"
#include "forward/learn.hpp"
#include "forward/originate.hpp"
#include "forward/rough_walk.hpp"

namespace sidestep::forward {
namespace {

using packet::DropReason;
using packet::Snmp;

constexpr std::uint8_t kProtocolReserved =
    255;  // IANA; no message about it can be meant for anybody

std::optional<Snmp> received_counter(std::uint8_t type) {
  switch (type) {
    case net::kIcmpv6DestinationUnreachable:
      return Snmp::kIcmp6InDestUnreachs;
    case net::kIcmpv6PacketTooBig:
      return Snmp::kIcmp6InPktTooBigs;
    case net::kIcmpv6TimeExceeded:
      return Snmp::kIcmp6InTimeExcds;
    case net::kIcmpv6ParameterProblem:
      return Snmp::kIcmp6InParmProblems;
    case net::kIcmpv6EchoRequest:
      return Snmp::kIcmp6InEchos;
    case net::kIcmpv6EchoReply:
      return Snmp::kIcmp6InEchoReplies;
    default:
      return std::nullopt;
  }
}

/// Whether an error's quote is too short to be matched with anything, or names an upper layer that knows nothing of
/// it: this router has no TCP or UDP sockets.
bool is_useless_error(std::span<const std::uint8_t> message) {
  const auto quote = message.subspan(net::kIcmpv6HeaderSize);
  if (!net::Ipv6Header::check(quote)) return true;
  const auto upper = find_rough_upper_layer(quote);
  constexpr std::size_t kEnoughForPorts = 8;
  if (!upper || quote.size() < upper->offset + kEnoughForPorts) return true;
  return upper->type == net::kNextHeaderTcp || upper->type == net::kNextHeaderUdp ||
         upper->type == net::kNextHeaderUdpLite || upper->type == kProtocolReserved;
}

bool has_right_checksum(const packet::Packet& packet, std::span<const std::uint8_t> message) {
  const net::Ipv6Header header = header_of(packet);
  return net::upper_layer_checksum(header.source(), header.destination(), net::kNextHeaderIcmpv6,
                                   message) == 0;
}

void drop_message(Pipeline& pipeline, Transit& transit, DropReason reason) {
  const IfIndex device = transit.ingress->index;
  pipeline.counters.add(Snmp::kIcmp6InMsgs, device);
  pipeline.counters.add(Snmp::kIcmp6InErrors, device);
  if (reason == DropReason::kChecksum) pipeline.counters.add(Snmp::kIcmp6InCsumErrors, device);
  drop(pipeline, transit, reason);
}

bool ignores_echo(const fib::Sysctls& sysctls, const fib::Dst& dst,
                  const net::Ipv6Address& destination) {
  if (sysctls.icmp_echo_ignore_all) return true;
  if (destination.is_multicast()) return sysctls.icmp_echo_ignore_multicast;
  return sysctls.icmp_echo_ignore_anycast && is_anycast(dst, destination);
}

/// The address that the request was sent to, where it can be a source.
std::optional<net::Ipv6Address> reply_source(const fib::Sysctls& sysctls, const fib::Dst& dst,
                                             const net::Ipv6Address& destination) {
  const bool anycast_allowed = sysctls.anycast_src_echo_reply && is_anycast(dst, destination);
  if (is_own_unicast(dst) || anycast_allowed) return destination;
  return std::nullopt;
}

// RFC 4443 §4.2: identifier, sequence number and data come back as they were; the traffic class too, as the kernel
// does.
void send_reply(Pipeline& pipeline, const Transit& transit, std::size_t offset,
                const OwnRoute& route) {
  const packet::Packet& request = *transit.packet;
  const net::Ipv6Header header = header_of(request);
  const net::Ipv6Address sender = header.source();
  const std::uint8_t traffic_class = header.traffic_class();
  const auto message = request.bytes().subspan(offset);
  packet::Packet& reply = add_generated(pipeline, request, net::kIpv6HeaderSize + message.size());
  const auto answer = reply.bytes().subspan(net::kIpv6HeaderSize);
  std::memcpy(answer.data(), message.data(), message.size());
  answer[0] = net::kIcmpv6EchoReply;
  const std::uint32_t label =
      own_flow_label(route.source, sender, net::kIcmpv6EchoReply, answer[1]);
  send_own(pipeline, reply, route, sender, {traffic_class, label});
}

void answer_echo(Pipeline& pipeline, Transit& transit, std::size_t offset) {
  const packet::Packet& request = *transit.packet;
  const net::Ipv6Header header = header_of(request);
  const fib::Dst& dst = request.dst.get();
  const fib::Sysctls& sysctls = pipeline.sysctls();
  if (ignores_echo(sysctls, dst, header.destination())) {
    return drop(pipeline, transit, DropReason::kEchoIgnored);
  }
  const rules::Flow flow =
      own_flow(request, header.source(), reply_source(sysctls, dst, header.destination()),
               transit.ingress->index);
  const auto route = route_own(pipeline, flow);
  if (!route) return drop(pipeline, transit, DropReason::kIcmpNoRoute);
  rules::Flow limited = flow;
  limited.source = route->source;
  limited.has_source = true;
  if (!allow_message(pipeline, net::kIcmpv6EchoReply, limited, transit.ingress->is_loopback())) {
    return drop(pipeline, transit, DropReason::kIcmpRateLimited);
  }
  send_reply(pipeline, transit, offset, *route);
  transit.packet->dst.reset();
  transit.packet->meta.verdict = packet::Verdict::kAnswered;
}

}  // namespace

void count_icmp_received(Pipeline& pipeline, std::span<const std::uint8_t> message,
                         IcmpDevices devices) {
  pipeline.counters.add(Snmp::kIcmp6InMsgs, devices.message);
  const auto icmp = net::Icmpv6Header::check(message);
  if (!icmp) return;
  if (const auto counter = received_counter(icmp->type())) {
    pipeline.counters.add(*counter, devices.message);
  }
  if (icmp->is_error() && is_useless_error(message)) {
    pipeline.counters.add(Snmp::kIcmp6InErrors, devices.error);
  }
}

void receive_icmp(Pipeline& pipeline, Transit& transit, std::size_t offset) {
  const packet::Packet& packet = *transit.packet;
  const auto message = packet.bytes().subspan(offset);
  if (!has_right_checksum(packet, message)) {
    return drop_message(pipeline, transit, DropReason::kChecksum);
  }
  const auto icmp = net::Icmpv6Header::check(message);
  if (!icmp) return drop_message(pipeline, transit, DropReason::kIcmpMalformed);
  const IfIndex device = transit.ingress->index;
  count_icmp_received(pipeline, message, {.message = device, .error = device});
  if (icmp->type() == net::kIcmpv6EchoRequest) return answer_echo(pipeline, transit, offset);
  learn(pipeline, transit, message);
  transit.packet->meta.verdict = packet::Verdict::kDeliver;
}

}  // namespace sidestep::forward
