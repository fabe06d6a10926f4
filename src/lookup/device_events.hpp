// SPDX-License-Identifier: Apache-2.0
// What happens to addresses and routes when a device comes, goes, or changes.
#pragma once

#include "lookup/state.hpp"

namespace sidestep::lookup {

/// The device's MTU is at least 1280 (RFC 8200 section 5). Below, the kernel has no IPv6 there, not even its sysctls.
[[nodiscard]] bool has_ipv6(const fib::Link& link) noexcept;
/// It has, and it is not disabled.
[[nodiscard]] bool speaks_ipv6(const fib::Link& link) noexcept;

/// Admin up, or IPv6 switched on: routes of its addresses come back; with carrier, the device becomes ready.
void device_came_up(State& state, IfIndex device);
/// Admin down, or IPv6 switched off: routes over it go, ring siblings die, addresses go unless they are kept.
void device_went_down(State& state, IfIndex device, bool keep_addresses);
void carrier_came(State& state, IfIndex device);
void carrier_went(State& state, IfIndex device);
/// The device is about to be deleted: what is left of it in tables goes.
void device_is_deleted(State& state, IfIndex device);
/// The device's MTU changed: unlocked route MTUs follow (kernel: rt6_mtu_change).
void device_mtu_changed(State& state, IfIndex device, std::uint32_t before);

/// Puts an address on a device, which must not have it.
void add_address(State& state, IfIndex device, fib::InterfaceAddress address);
/// Takes an address, which must be there, off a device.
void remove_address(State& state, IfIndex device, const net::Ipv6Address& address);
/// conf.DEVICE.forwarding: routers answer to subnet-router anycast addresses.
void set_forwarding(State& state, IfIndex device, bool forwarding);
/// Makes the EUI-64 link-local address when the device's mode asks for it and it is ready.
void generate_link_local(State& state, IfIndex device);

}  // namespace sidestep::lookup
