// SPDX-License-Identifier: Apache-2.0
#include "forward/addresses.hpp"

#include <algorithm>
#include <ranges>

namespace sidestep::forward {
namespace {

// A prefix of /127 or longer has no subnet-router anycast address (RFC 6164).
constexpr std::uint8_t kAnycastPrefixMax = 126;

std::optional<net::Ipv6Address> anycast_of(const fib::InterfaceAddress& own) {
  if (own.tentative || own.prefix_length > kAnycastPrefixMax) return std::nullopt;
  return net::Prefix(own.address, own.prefix_length).address();
}

bool has_address(const fib::Link& link, const net::Ipv6Address& address) {
  return std::ranges::any_of(link.addresses, [&](const fib::InterfaceAddress& own) {
    return !own.tentative && own.address == address;
  });
}

bool has_anycast(const fib::Link& link, const net::Ipv6Address& address) {
  if (!link.conf.forwarding) return false;
  return std::ranges::any_of(
      link.addresses, [&](const fib::InterfaceAddress& own) { return anycast_of(own) == address; });
}

template <typename HasAddress>
bool any_link(const fib::Links& links, const net::Ipv6Address& address, IfIndex device,
              HasAddress has) {
  if (address.is_link_local()) {
    const fib::Link* const link = links.find(device);
    return link != nullptr && has(*link, address);
  }
  return std::ranges::any_of(links.all() | std::views::values,
                             [&](const fib::Link& link) { return has(link, address); });
}

/// ff0X::1 and ff0X::2.
net::Ipv6Address well_known_group(std::uint8_t scope, std::uint8_t group) {
  net::Ipv6Address address{};
  address.bytes[0] = 0xff;
  address.bytes[1] = scope;
  address.bytes[15] = group;
  return address;
}

bool is_all_nodes(const net::Ipv6Address& group) {
  return group == well_known_group(2, 1) || group == well_known_group(1, 1);
}

bool is_all_routers(const net::Ipv6Address& group) {
  return group == well_known_group(2, 2) || group == well_known_group(1, 2) ||
         group == well_known_group(5, 2);
}

bool is_solicited_node(const fib::Link& link, const net::Ipv6Address& group) {
  return std::ranges::any_of(link.addresses, [&](const fib::InterfaceAddress& own) {
    if (own.address.solicited_node() == group) return true;
    const auto anycast = link.conf.forwarding ? anycast_of(own) : std::nullopt;
    return anycast && anycast->solicited_node() == group;
  });
}

}  // namespace

bool is_own_address(const fib::Links& links, const net::Ipv6Address& address, IfIndex device) {
  return any_link(links, address, device, has_address);
}

bool is_own_anycast(const fib::Links& links, const net::Ipv6Address& address, IfIndex device) {
  return any_link(links, address, device, has_anycast);
}

// The kernel keeps addresses by descending scope and searches from the end.
std::optional<net::Ipv6Address> link_local_of(const fib::Link& link) {
  for (const fib::InterfaceAddress& own : link.addresses | std::views::reverse) {
    if (!own.tentative && own.address.is_link_local()) return own.address;
  }
  return std::nullopt;
}

bool has_joined(const fib::Link& link, const net::Ipv6Address& group) {
  if (is_all_nodes(group)) return true;
  if (is_all_routers(group)) return link.conf.forwarding;
  return is_solicited_node(link, group);
}

bool is_own_unicast(const fib::Dst& dst) noexcept {
  const fib::Route* const route = dst.route();
  return route != nullptr && dst->input == fib::DstInput::kDeliver && !(*route)->is_anycast_flagged;
}

bool is_anycast(const fib::Dst& dst, const net::Ipv6Address& address) noexcept {
  const fib::Route* const route = dst.route();
  if (route == nullptr) return false;
  if ((*route)->is_anycast_flagged) return true;
  // That of the address code is /128, so a shorter local prefix is a user's.
  const bool is_way =
      dst->input == fib::DstInput::kForward || dst->input == fib::DstInput::kDeliver;
  return is_way && !dst->has_gateway && (*route)->destination.length() <= kAnycastPrefixMax &&
         (*route)->destination.address() == address;
}

}  // namespace sidestep::forward
