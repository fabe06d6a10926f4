// SPDX-License-Identifier: Apache-2.0
// What ICMPv6 messages teach. Only the owner of the loop may change the FIB, so a change is noted here and applied there
// between batches. Whether there is a route to be overridden, and whether the MTU is of any use, is asked when it is applied.
//
// Such a message quotes a packet of ours, and goes to whoever sent that. Upper layers of this router are ICMPv6 alone, which
// takes every quote for its own, as the kernel does (icmpv6_err); what quotes TCP or UDP finds no socket.
#include "forward/learn.hpp"

#include <algorithm>

#include <sidestep/net/headers.hpp>

#include "forward/rough_walk.hpp"

namespace sidestep::forward {
namespace {

constexpr std::size_t kQuotedUpperLayerLeast = 8;  // bytes

// RFC 4861 §4.5, §4.6, §8.1.
constexpr std::size_t kTargetOffset = net::kIcmpv6HeaderSize;
constexpr std::size_t kDestinationOffset = kTargetOffset + sizeof(net::Ipv6Address);
constexpr std::size_t kOptionsOffset = kDestinationOffset + sizeof(net::Ipv6Address);
constexpr std::size_t kQuoteInOption = 8;
constexpr std::uint8_t kOptionRedirectedHeader = 4;
constexpr std::uint8_t kHopLimit = 255;

/// The header of a quoted ICMPv6 message of ours.
std::optional<net::Ipv6Header> find_quoted_icmp(std::span<const std::uint8_t> quote) {
  const auto header = net::Ipv6Header::check(quote);
  if (!header) return std::nullopt;
  const auto upper = find_rough_upper_layer(quote);
  const bool is_icmp = upper && upper->type == net::kNextHeaderIcmpv6 &&
                       quote.size() >= upper->offset + kQuotedUpperLayerLeast;
  return is_icmp ? header : std::nullopt;
}

net::Ipv6Address address_at(std::span<const std::uint8_t> message, std::size_t offset) {
  net::Ipv6Address address;
  std::ranges::copy(message.subspan(offset, address.bytes.size()), address.bytes.begin());
  return address;
}

/// The flow of the packet that a message is about, as it was sent.
rules::Flow flow_about(const Transit& transit, const net::Ipv6Address& source,
                       const net::Ipv6Address& destination) {
  rules::Flow flow;
  flow.source = source;
  flow.has_source = !source.is_unspecified();
  flow.destination = destination;
  flow.oif = transit.ingress->index;
  return flow;
}

rules::Flow flow_of_quote(const Transit& transit, const net::Ipv6Header& quoted) {
  rules::Flow flow = flow_about(transit, quoted.source(), quoted.destination());
  flow.traffic_class = quoted.traffic_class();
  flow.flow_label = quoted.flow_label();
  return flow;
}

void note(Pipeline& pipeline, const Transit& transit, const lookup::ExceptionChange& change) {
  if (pipeline.learned_count == pipeline.learned.size()) {
    ++pipeline.learned_lost;
    return;
  }
  pipeline.learned[pipeline.learned_count++] = {change, transit.packet->meta.received_at};
}

void learn_path_mtu(Pipeline& pipeline, const Transit& transit,
                    std::span<const std::uint8_t> message) {
  const auto quoted = find_quoted_icmp(message.subspan(net::kIcmpv6HeaderSize));
  if (!quoted) return;
  lookup::ExceptionChange change;
  change.verb = lookup::ExceptionVerb::kPathMtu;
  change.flow = flow_of_quote(transit, *quoted);
  change.mtu = net::Icmpv6Header::check(message)->rest();
  note(pipeline, transit, change);
}

/// The packet in the redirected header option, empty when there is no such option; nothing when the options are malformed.
std::optional<std::span<const std::uint8_t>> find_redirected(
    std::span<const std::uint8_t> options) {
  std::span<const std::uint8_t> found;
  while (!options.empty()) {
    if (options.size() < 2) return std::nullopt;
    const std::size_t size = std::size_t{options[1]} * 8;
    if (size == 0 || size > options.size()) return std::nullopt;
    if (options[0] == kOptionRedirectedHeader && found.empty()) found = options.first(size);
    options = options.subspan(size);
  }
  return found;
}

// Kernel: ndisc_redirect_rcv, rt6_do_redirect. The lookup is about the packet that is quoted, and what is learned about the
// destination that is named; a sender that does not mean one with the other is not believed.
void learn_redirect(Pipeline& pipeline, const Transit& transit,
                    std::span<const std::uint8_t> message) {
  const net::Ipv6Header header = header_of(std::as_const(*transit.packet));
  const fib::LinkConf& conf = transit.ingress->conf;
  if (message.size() < kOptionsOffset || message[1] != 0) return;
  if (transit.received_hop_limit != kHopLimit || !header.source().is_link_local()) return;
  if (conf.forwarding || !conf.accept_redirects) return;
  const auto option = find_redirected(message.subspan(kOptionsOffset));
  if (!option) return;

  lookup::ExceptionChange change;
  change.verb = lookup::ExceptionVerb::kRedirect;
  change.router = header.source();
  change.gateway = address_at(message, kTargetOffset);
  const net::Ipv6Address destination = address_at(message, kDestinationOffset);
  if (option->empty()) {
    change.flow = flow_about(transit, header.destination(), destination);
  } else {
    const auto quoted = find_quoted_icmp(option->subspan(kQuoteInOption));
    if (!quoted || quoted->destination() != destination) return;
    change.flow = flow_of_quote(transit, *quoted);
  }
  note(pipeline, transit, change);
}

}  // namespace

void learn(Pipeline& pipeline, const Transit& transit, std::span<const std::uint8_t> message) {
  const std::uint8_t type = message[0];
  if (type == net::kIcmpv6PacketTooBig) learn_path_mtu(pipeline, transit, message);
  if (type == net::kIcmpv6Redirect) learn_redirect(pipeline, transit, message);
}

bool may_teach(std::span<const std::uint8_t> packet) noexcept {
  if (packet.size() < net::kIpv6HeaderSize) return false;
  const auto upper = find_rough_upper_layer(packet);
  if (!upper || upper->type != net::kNextHeaderIcmpv6 || upper->offset >= packet.size())
    return false;
  const std::uint8_t type = packet[upper->offset];
  return type == net::kIcmpv6PacketTooBig || type == net::kIcmpv6Redirect;
}

}  // namespace sidestep::forward
