// SPDX-License-Identifier: Apache-2.0
#include "forward/redirect.hpp"

#include <algorithm>
#include <cstring>

#include "forward/addresses.hpp"
#include "forward/originate.hpp"

namespace sidestep::forward {
namespace {

// RFC 4861 §4.5, §4.6.
constexpr std::size_t kAddressesSize = 2 * sizeof(net::Ipv6Address);
constexpr std::size_t kFixedSize = net::kIpv6HeaderSize + net::kIcmpv6HeaderSize + kAddressesSize;
constexpr std::size_t kLinkLayerOptionSize = 8;
constexpr std::size_t kQuoteOptionHeaderSize = 8;
constexpr std::uint8_t kOptionTargetLinkLayerAddress = 2;
constexpr std::uint8_t kOptionRedirectedHeader = 4;
constexpr std::uint8_t kHopLimit = 255;
constexpr std::uint64_t kInterval = kNsPerSecond;

/// What a redirect says.
struct Advice {
  net::Ipv6Address target{};
  net::Ipv6Address destination{};
  std::optional<net::MacAddress> target_mac{};
};

// RFC 4861 §8.2: towards a router the target is its link-local address; towards a host, the destination itself.
bool is_allowed_target(const net::Ipv6Address& target, const net::Ipv6Address& destination) {
  return target == destination || target.is_link_local();
}

std::uint8_t* emit_address(std::uint8_t* out, const net::Ipv6Address& address) {
  std::memcpy(out, address.bytes.data(), address.bytes.size());
  return out + address.bytes.size();
}

std::uint8_t* emit_link_layer_option(std::uint8_t* out, const net::MacAddress& mac) {
  out[0] = kOptionTargetLinkLayerAddress;
  out[1] = kLinkLayerOptionSize / 8;
  std::memcpy(out + 2, mac.bytes.data(), mac.bytes.size());
  return out + kLinkLayerOptionSize;
}

/// As much of the packet as fits, the option a multiple of 8 octets.
std::size_t quote_option_size(std::size_t packet_size, std::size_t before) {
  const std::size_t room = net::kIpv6MtuMin - before;
  return std::min(room, packet_size + kQuoteOptionHeaderSize) & ~std::size_t{7};
}

void emit_quote_option(std::uint8_t* out, std::span<const std::uint8_t> packet, std::size_t size) {
  std::memset(out, 0, kQuoteOptionHeaderSize);
  out[0] = kOptionRedirectedHeader;
  out[1] = static_cast<std::uint8_t>(size / 8);
  std::memcpy(out + kQuoteOptionHeaderSize, packet.data(), size - kQuoteOptionHeaderSize);
}

void build_and_send(Pipeline& pipeline, const Transit& transit, const OwnRoute& route,
                    const Advice& advice) {
  const auto about = std::as_const(*transit.packet).bytes();
  const net::Ipv6Address sender = header_of(std::as_const(*transit.packet)).source();
  const std::size_t before = kFixedSize + (advice.target_mac ? kLinkLayerOptionSize : 0);
  const std::size_t quote_size = quote_option_size(about.size(), before);
  packet::Packet& message = add_generated(pipeline, *transit.packet, before + quote_size);

  std::uint8_t* out = message.bytes().data() + net::kIpv6HeaderSize;
  std::memset(out, 0, net::kIcmpv6HeaderSize);
  out[0] = net::kIcmpv6Redirect;
  out = emit_address(out + net::kIcmpv6HeaderSize, advice.target);
  out = emit_address(out, advice.destination);
  if (advice.target_mac) out = emit_link_layer_option(out, *advice.target_mac);
  emit_quote_option(out, about, quote_size);
  send_own(pipeline, message, route, sender, {.hop_limit = kHopLimit});
}

/// Of the neighbor that gets the packet: the target, but behind End.X the SID's neighbor, as in the kernel.
std::optional<net::MacAddress> mac_of(const Pipeline& pipeline, IfIndex device,
                                      const net::Ipv6Address& key) {
  const neighbor::Neighbor* const neighbor = pipeline.context.neighbors.find(device, key);
  if (neighbor == nullptr || !neighbor->is_valid() || !neighbor->has_mac) return std::nullopt;
  return neighbor->mac;
}

}  // namespace

// Limited twice: per destination before anything else is looked at, and per sender once it is clear that the redirect
// could be sent. Both draw on the bucket that errors to that host use.
void send_redirect(Pipeline& pipeline, const Transit& transit) {
  const packet::Packet& packet = *transit.packet;
  const net::Ipv6Header header = header_of(packet);
  const fib::Dst& dst = packet.dst.get();
  const TimeNs now = packet.meta.received_at;
  const net::Ipv6Address destination = header.destination();
  if (!pipeline.peers.allow(destination, kInterval, now)) return;

  const net::Ipv6Address target = dst->has_gateway ? dst->gateway : destination;
  const auto source = link_local_of(*transit.ingress);
  if (!source || !is_allowed_target(target, destination)) return;
  const OwnRoute route{pipeline.context.fib.output(
                           own_flow(packet, header.source(), source, transit.ingress->index)),
                       *source};
  if (route.answer.error() != 0 || route.answer.dst->has_gateway) return;
  if (!pipeline.peers.allow(header.source(), kInterval, now)) return;
  build_and_send(pipeline, transit, route,
                 {target, destination, mac_of(pipeline, dst->device, transit.neighbor_key)});
}

}  // namespace sidestep::forward
