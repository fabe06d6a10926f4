// SPDX-License-Identifier: Apache-2.0
// ICMPv6 error messages: about what, from whom, how often, how long.
//
// The order of the tests is the kernel's: the packet itself, the router-wide bucket, the source address, the sender's
// bucket, the way to the sender. A message that fails late has been paid for. Of the two buckets the router's is
// asked first and debited last, so that senders who are held back do not use it up.
#include "forward/icmp.hpp"

#include <algorithm>
#include <cstring>

#include "forward/addresses.hpp"
#include "forward/flow_key.hpp"
#include "forward/originate.hpp"
#include "forward/output.hpp"
#include "forward/rough_walk.hpp"

namespace sidestep::forward {
namespace {

using packet::DropReason;
using packet::Snmp;

// RFC 4443 §2.4 (e.3), (e.4): nothing is said about packets to groups, but that they are too big or carry an option
// that asks for an answer even then.
bool may_answer_group(std::span<const std::uint8_t> packet, const IcmpError& error) {
  if (error.type == net::kIcmpv6PacketTooBig) return true;
  const bool unknown_option =
      error.type == net::kIcmpv6ParameterProblem && error.code == net::kParameterUnknownOption;
  return unknown_option && error.parameter < packet.size() && packet[error.parameter] >> 6 == 2;
}

bool went_to_group(const Transit& transit, const net::Ipv6Header& header) {
  return header.destination().is_multicast() ||
         transit.packet->meta.l2_class != packet::L2Class::kHost;
}

// RFC 4443 §2.4 (e.1): no error about an error, nor about something in ICMPv6 too short to tell. In a fragment that
// is not the first there is no telling, and that gets an answer.
bool is_about_error(std::span<const std::uint8_t> packet) {
  const auto upper = find_rough_upper_layer(packet);
  if (!upper || upper->type != net::kNextHeaderIcmpv6) return false;
  return upper->offset >= packet.size() || packet[upper->offset] < net::kIcmpv6InformationalFirst;
}

// RFC 4443 §2.4 (e.6): the source must name one node; anycast is asked for when the way there is known.
bool may_answer(const Transit& transit, const net::Ipv6Header& header, const IcmpError& error) {
  const auto bytes = std::as_const(*transit.packet).bytes();
  if (went_to_group(transit, header) && !may_answer_group(bytes, error)) return false;
  const net::Ipv6Address source = header.source();
  if (source.is_unspecified() || source.is_multicast()) return false;
  return !is_about_error(bytes);
}

/// The router-wide bucket. `limited` tells whether the type is subject to limits at all.
bool allow_globally(Pipeline& pipeline, bool limited, TimeNs now) {
  if (!limited) return true;
  const fib::Sysctls& sysctls = pipeline.sysctls();
  return pipeline.global.allow(sysctls.icmp_msgs_per_sec, sysctls.icmp_msgs_burst, now);
}

/// A host's interval between messages: the configured one, halved for each 32 bits that its route's prefix is short
/// of 128.
std::uint64_t interval_ns(const Pipeline& pipeline, const fib::Dst& dst) {
  constexpr std::uint64_t kNsPerMs = 1'000'000;
  const std::uint64_t configured = pipeline.sysctls().icmp_ratelimit_ms * kNsPerMs;
  const unsigned length =
      dst.route() != nullptr ? (*dst.route())->destination.length() : net::Prefix::kMaxLength;
  return configured >> ((net::Prefix::kMaxLength - length) >> 5);
}

bool allow_host(Pipeline& pipeline, const rules::Flow& flow) {
  const lookup::Answer answer = pipeline.context.fib.output(flow);
  const fib::Dst& dst = answer.dst.get();
  if (dst->error != 0) {
    pipeline.counters.add(Snmp::kIp6OutNoRoutes, kLoopbackIndex);
    return false;
  }
  if (dst->device == kLoopbackIndex) return true;
  return pipeline.peers.allow(flow.destination, interval_ns(pipeline, dst), flow.now);
}

/// RFC 4443 §2.2: the address that the packet was sent to, if it is ours and no group's.
std::optional<net::Ipv6Address> destination_as_source(const Pipeline& pipeline,
                                                      const Transit& transit,
                                                      const net::Ipv6Header& header,
                                                      IfIndex device) {
  if (went_to_group(transit, header)) return std::nullopt;
  const fib::Links& links = pipeline.context.fib.links();
  const net::Ipv6Address address = header.destination();
  if (is_own_address(links, address, device) || is_own_anycast(links, address, device)) {
    return address;
  }
  return std::nullopt;
}

/// Otherwise the preferred source of the route to the sender, or one that is near to where the packet came in.
std::optional<net::Ipv6Address> source_toward(const Pipeline& pipeline, const Transit& transit,
                                              const rules::Flow& flow) {
  const lookup::Answer answer = pipeline.context.fib.output(flow);
  if (answer.error() == 0 && answer.route() != nullptr && (*answer.route())->preferred_source) {
    return (*answer.route())->preferred_source;
  }
  return pipeline.context.fib.select_source(flow.destination, transit.packet->meta.ingress);
}

/// The message's flow. The output device is given only where the sender's address means nothing without it.
rules::Flow error_flow(Pipeline& pipeline, const Transit& transit, const net::Ipv6Header& header,
                       IfIndex device) {
  const net::Ipv6Address sender = header.source();
  const IfIndex oif = sender.is_link_local() ? device : IfIndex{};
  rules::Flow flow = own_flow(*transit.packet, sender,
                              destination_as_source(pipeline, transit, header, device), oif);
  flow.multipath_hash = quoted_hash_of(pipeline, std::as_const(*transit.packet).bytes());
  if (flow.has_source) return flow;
  if (const auto source = source_toward(pipeline, transit, flow)) {
    flow.source = *source;
    flow.has_source = true;
  }
  return flow;
}

void drop_message(Pipeline& pipeline, DropReason reason) {
  ++pipeline.generated_drops[static_cast<std::size_t>(reason)];
}

// RFC 4443 §2.4 (c): as much of the packet as fits without the message exceeding the minimum MTU.
void build_and_send(Pipeline& pipeline, const Transit& transit, const IcmpError& error,
                    const OwnRoute& route) {
  constexpr std::size_t kHeaders = net::kIpv6HeaderSize + net::kIcmpv6HeaderSize;
  const auto about = std::as_const(*transit.packet).bytes();
  const auto quote = about.first(std::min(about.size(), net::kIpv6MtuMin - kHeaders));
  packet::Packet& message = add_generated(pipeline, *transit.packet, kHeaders + quote.size());
  std::memcpy(message.bytes().data() + kHeaders, quote.data(), quote.size());
  auto icmp = net::MutableIcmpv6Header::check(message.bytes().subspan(net::kIpv6HeaderSize));
  icmp->set_type(error.type);
  icmp->set_code(error.code);
  icmp->set_rest(error.parameter);
  const net::Ipv6Address sender = header_of(*transit.packet).source();
  const std::uint32_t label = own_flow_label(route.source, sender, error.type, error.code);
  send_own(pipeline, message, route, sender, {.flow_label = label});
}

}  // namespace

bool allow_message(Pipeline& pipeline, std::uint8_t type, const rules::Flow& flow,
                   bool from_loopback) {
  const bool limited = pipeline.rate_mask.test(type) && !from_loopback;
  if (!allow_globally(pipeline, limited, flow.now)) return false;
  if (!limited) return true;
  if (!allow_host(pipeline, flow)) {
    pipeline.counters.add(Snmp::kIcmp6OutRateLimitHost, IfIndex{});
    return false;
  }
  pipeline.global.consume();
  return true;
}

void send_error(Pipeline& pipeline, const Transit& transit, IcmpError error, IfIndex device) {
  const net::Ipv6Header header = header_of(std::as_const(*transit.packet));
  if (!may_answer(transit, header, error)) return;
  const rules::Flow flow = error_flow(pipeline, transit, header, device);
  if (!allow_message(pipeline, error.type, flow, device == kLoopbackIndex)) {
    return drop_message(pipeline, DropReason::kIcmpRateLimited);
  }
  const auto route = route_own(pipeline, flow);
  if (!route) return drop_message(pipeline, DropReason::kIcmpNoRoute);
  const bool anycast = is_anycast(route->answer.dst.get(), flow.destination);
  if (anycast && !pipeline.sysctls().icmp_error_anycast_as_unicast) return;
  build_and_send(pipeline, transit, error, *route);
}

void send_error(Pipeline& pipeline, const Transit& transit, IcmpError error) {
  send_error(pipeline, transit, error, transit.ingress->index);
}

}  // namespace sidestep::forward
