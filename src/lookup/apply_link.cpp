// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "lookup/apply.hpp"
#include "lookup/device_events.hpp"
#include "lookup/nexthop_store.hpp"

namespace sidestep::lookup {
namespace {

Result<IfIndex> create_link(State& state, const LinkChange& change) {
  if (change.name.empty()) return failure(EINVAL, "a device needs a name");
  if (state.links().find(change.name) != nullptr) return failure(EEXIST, "File exists");
  fib::Link& link = state.edit_links().add(change.name);
  link.kind = change.kind;
  link.conf = state.sysctls().defaults;
  link.conf.mtu = 0;  // the device's; conf.default.mtu is not inherited
  return link.index;
}

void change_mtu(State& state, IfIndex device, std::uint32_t mtu) {
  fib::Link& link = *state.edit_links().find(device);
  const std::uint32_t before = link.ipv6_mtu();
  const bool spoke = speaks_ipv6(link);
  link.mtu = mtu;
  const bool speaks = speaks_ipv6(link);
  if (spoke && speaks) {
    link.conf.mtu = 0;
    device_mtu_changed(state, device, before);
  } else if (spoke) {
    // The kernel tears IPv6 down on the device as if it were deleted.
    device_went_down(state, device, false);
  } else if (speaks) {
    link.conf = state.sysctls().defaults;
    link.conf.mtu = 0;
    if (link.up) device_came_up(state, device);
  }
}

bool keeps_addresses(const State& state, const fib::Link& link) {
  return !link.conf.disable_ipv6 &&
         (state.sysctls().all.keep_addr_on_down || link.conf.keep_addr_on_down);
}

bool is_vrf(const State& state, IfIndex device) {
  const fib::Link* link = state.links().find(device);
  return link != nullptr && link->vrf_table;
}

// A device that comes to a VRF or leaves one goes down and up again, and loses its addresses as it does then (kernel:
// cycle_netdev); its routes come back in the table where they belong now.
void move_to(State& state, IfIndex device, IfIndex master) {
  fib::Link& link = *state.edit_links().find(device);
  if (link.master == master) return;
  const bool cycles = is_vrf(state, link.master) || is_vrf(state, master);
  const bool up = link.up;
  if (cycles) {
    link.up = false;
    device_went_down(state, device, keeps_addresses(state, link));
    if (up) remove_nexthops_over(state, device);
  }
  link.master = master;
  if (!cycles || !up) return;
  link.up = true;
  device_came_up(state, device);
}

// The first VRF brings the rule by which all of them are looked up.
void add_vrf_rule(State& state) {
  if (std::exchange(state.has_vrf_rule, true)) return;
  constexpr std::uint32_t kPreference = 1000;
  rules::Rule rule;
  rule.preference = kPreference;
  rule.l3mdev = true;
  rule.protocol = fib::kProtocolKernel;
  static_cast<void>(state.edit_rules().add(rule, {.preference = true}));  // EEXIST: as well
}

Result<void> change_master(State& state, IfIndex device, const std::string& master) {
  IfIndex index;
  if (!master.empty()) {
    const auto found = device_by_name(state, master);
    if (!found) return std::unexpected(found.error());
    index = *found;
  }
  move_to(state, device, index);
  return {};
}

void change_carrier(State& state, IfIndex device, bool carrier) {
  fib::Link& link = *state.edit_links().find(device);
  if (link.carrier == carrier) return;
  link.carrier = carrier;
  if (!link.up) return;
  if (carrier) {
    carrier_came(state, device);
  } else {
    carrier_went(state, device);
  }
}

void change_up(State& state, IfIndex device, bool up) {
  fib::Link& link = *state.edit_links().find(device);
  if (link.up == up) return;
  link.up = up;
  if (up) {
    device_came_up(state, device);
  } else {
    device_went_down(state, device, keeps_addresses(state, link));
    remove_nexthops_over(state, device);
  }
}

}  // namespace

Result<IfIndex> device_by_name(const State& state, const std::string& name) {
  const fib::Link* link = state.links().find(name);
  if (link == nullptr) return failure(ENODEV, fmt::format("Cannot find device \"{}\"", name));
  return link->index;
}

Result<void> apply_change(State& state, const LinkChange& change, TimeNs) {
  if (change.master && !change.master->empty()) {
    if (const auto master = device_by_name(state, *change.master); !master)
      return std::unexpected(master.error());
  }
  const auto device =
      change.create ? create_link(state, change) : device_by_name(state, change.name);
  if (!device) return std::unexpected(device.error());
  fib::Link& link = *state.edit_links().find(*device);
  if (change.mac) link.mac = *change.mac;
  if (change.group) link.group = *change.group;
  if (change.vrf_table) {
    link.vrf_table = *change.vrf_table;
    state.table(*change.vrf_table);
    add_vrf_rule(state);
  }
  if (change.addr_gen_mode) link.conf.addr_gen_mode = *change.addr_gen_mode;
  if (change.mtu && *change.mtu != link.mtu) change_mtu(state, *device, *change.mtu);
  if (change.master) {
    if (auto changed = change_master(state, *device, *change.master); !changed) return changed;
  }
  if (change.carrier) change_carrier(state, *device, *change.carrier);
  if (change.up) change_up(state, *device, *change.up);
  return {};
}

Result<void> apply_change(State& state, const LinkDelete& change, TimeNs) {
  const auto device = device_by_name(state, change.name);
  if (!device) return std::unexpected(device.error());
  if (*device == kLoopbackIndex) return failure(EOPNOTSUPP, "Operation not supported");
  std::vector<IfIndex> slaves;
  for (const auto& [index, other] : state.links().all()) {
    if (other.master == *device) slaves.push_back(index);
  }
  for (const IfIndex slave : slaves) move_to(state, slave, {});
  const fib::Link& link = *state.links().find(*device);
  if (link.up) device_went_down(state, *device, false);
  device_is_deleted(state, *device);
  state.edit_links().erase(*device);
  return {};
}

}  // namespace sidestep::lookup
