// SPDX-License-Identifier: Apache-2.0
// Questions about the router's own addresses that validation, delivery and ICMPv6 ask.
//
// All of them walk devices and addresses, so they are for packets that end here or are answered, not for those that
// pass.
#pragma once

#include <optional>

#include <sidestep/fib/link.hpp>
#include <sidestep/fib/route.hpp>

namespace sidestep::forward {

/// An address of any device; a link-local one only of `device`.
[[nodiscard]] bool is_own_address(const fib::Links& links, const net::Ipv6Address& address,
                                  IfIndex device);

/// A subnet-router anycast address (RFC 4291 §2.6.1) of a device that forwards; a link-local one only of `device`.
[[nodiscard]] bool is_own_anycast(const fib::Links& links, const net::Ipv6Address& address,
                                  IfIndex device);

/// The link-local address that a device sends from; empty when it has none.
[[nodiscard]] std::optional<net::Ipv6Address> link_local_of(const fib::Link& link);

/// Whether the device listens to a multicast group: all nodes, all routers if it is one, and the solicited-node
/// groups of its addresses and anycast addresses (RFC 4291 §2.8).
[[nodiscard]] bool has_joined(const fib::Link& link, const net::Ipv6Address& group);

/// The destination is one of the router's own unicast addresses (RTF_LOCAL).
[[nodiscard]] bool is_own_unicast(const fib::Dst& dst) noexcept;

/// The kernel takes `address`, which led to `dst`, for anycast: the route says so, or it is the address of an on-link
/// subnet.
[[nodiscard]] bool is_anycast(const fib::Dst& dst, const net::Ipv6Address& address) noexcept;

}  // namespace sidestep::forward
