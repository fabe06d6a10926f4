// SPDX-License-Identifier: Apache-2.0
#include <cerrno>

#include <algorithm>

#include "lookup/apply.hpp"
#include "lookup/device_events.hpp"
#include "lookup/kernel_routes.hpp"

namespace sidestep::lookup {
namespace {

Result<void> check_address(const fib::Link& link, const net::Ipv6Address& address) {
  if (!has_ipv6(link)) return failure(EINVAL, "Invalid argument");
  if (link.conf.disable_ipv6) {
    return failure(EACCES, "ipv6: IPv6 is disabled on this device");
  }
  if (address.is_unspecified()) return failure(EADDRNOTAVAIL, "ipv6: Invalid address");
  if (address.is_multicast()) {
    return failure(EADDRNOTAVAIL,
                   "ipv6: Cannot assign multicast address without \"IFA_F_MCAUTOJOIN\" flag");
  }
  if (address.is_loopback() && !link.is_loopback()) {
    return failure(EADDRNOTAVAIL, "ipv6: Cannot assign loopback address on this device");
  }
  return {};
}

net::Prefix subnet_of(const fib::InterfaceAddress& address) {
  return {address.address, address.prefix_length};
}

// `address replace` changes flags and the prefix route's metric; the prefix length stays what it was.
void modify_address(State& state, IfIndex device, const fib::InterfaceAddress& wanted) {
  fib::Link& link = *state.edit_links().find(device);
  const auto at =
      std::ranges::find(link.addresses, wanted.address, &fib::InterfaceAddress::address);
  const fib::InterfaceAddress before = *at;
  at->deprecated = wanted.deprecated;
  at->home = wanted.home;
  at->no_prefix_route = wanted.no_prefix_route;
  if (wanted.metric != 0) at->metric = wanted.metric;
  const fib::InterfaceAddress after = *at;
  const bool had = !before.no_prefix_route;
  const bool has = !after.no_prefix_route;
  if (had && (!has || before.metric != after.metric))
    remove_prefix_route(state, link, subnet_of(before));
  if (has && (!had || before.metric != after.metric))
    add_prefix_route(state, link, subnet_of(after), after.metric);
}

}  // namespace

Result<void> apply_change(State& state, const AddressChange& change, TimeNs) {
  const auto device = device_by_name(state, change.device);
  if (!device) return std::unexpected(device.error());
  const fib::Link& link = *state.links().find(*device);
  const auto at =
      std::ranges::find(link.addresses, change.address.address, &fib::InterfaceAddress::address);
  const bool there = at != link.addresses.end();
  if (change.remove) {
    if (!has_ipv6(link)) {
      return failure(ENXIO, "ipv6: IPv6 is disabled on this device");
    }
    if (!there || at->prefix_length != change.address.prefix_length) {
      return failure(EADDRNOTAVAIL, "ipv6: address not found");
    }
    remove_address(state, *device, change.address.address);
    return {};
  }
  if (there) {
    if (!change.replace) return failure(EEXIST, "ipv6: address already assigned");
    modify_address(state, *device, change.address);
    return {};
  }
  if (auto checked = check_address(link, change.address.address); !checked) return checked;
  add_address(state, *device, change.address);
  return {};
}

}  // namespace sidestep::lookup
