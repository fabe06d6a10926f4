// SPDX-License-Identifier: Apache-2.0
// Routes that nobody types: those that come and go with addresses and devices.
#pragma once

#include <sidestep/fib/table.hpp>
#include <sidestep/result.hpp>

#include "lookup/state.hpp"

namespace sidestep::lookup {

/// Makes a route of checked fields and inserts it, linkdown when its device has no carrier.
/// Errors: as fib::Table::insert
Result<const fib::Route*> insert_route(State& state, fib::RouteFields fields,
                                       fib::InsertFlags flags);

// Each fails silently where the kernel's does: the route is there already, or the device is down.

/// `local ADDRESS dev LINK proto kernel metric 0` in table local.
void add_local_route(State& state, const fib::Link& link, const net::Ipv6Address& address);
void remove_local_route(State& state, const fib::Link& link, const net::Ipv6Address& address);
/// `anycast PREFIX:: dev LINK proto kernel metric 0` in table local: the subnet-router anycast address of an address.
void add_anycast_route(State& state, const fib::Link& link, const fib::InterfaceAddress& address);
/// The same away, unless another address of the device has the same subnet.
void remove_anycast_route(State& state, const fib::Link& link,
                          const fib::InterfaceAddress& address);
/// `PREFIX dev LINK proto kernel metric 256` in table main.
void add_prefix_route(State& state, const fib::Link& link, const net::Prefix& prefix,
                      std::uint32_t metric);
/// Removes the first device route of the prefix on the device, whoever made it.
void remove_prefix_route(State& state, const fib::Link& link, const net::Prefix& prefix);
/// `multicast ff00::/8 dev LINK proto kernel metric 256` in table local.
void add_multicast_route(State& state, const fib::Link& link);

/// Takes `src ADDRESS` off every route, once no device has the address any more.
void forget_preferred_source(State& state, const net::Ipv6Address& address);

/// Puts another route in the place of each one that `make` gives new fields for.
void rewrite_routes(State& state,
                    const std::function<std::optional<fib::RouteFields>(const fib::Route&)>& make);

}  // namespace sidestep::lookup
