// SPDX-License-Identifier: Apache-2.0
// Device events (kernel: addrconf_notify, addrconf_ifdown, fib6_ifup, fib6_ifdown).
//
// A device is ready once it has been up with carrier. Until then it has no link-local address, and addresses that
// would have to pass duplicate address detection stay tentative: their prefix routes exist, their local entries do not.
// Detection itself takes no time here.
//
// Routes over a device that goes down are deleted, except members of a multipath ring that has a living member left: those
// are marked dead, get no share, and revive with the device. Losing carrier deletes nothing; it only marks.
#include "lookup/device_events.hpp"

#include <algorithm>
#include <unordered_set>

#include "lookup/kernel_routes.hpp"
#include "lookup/nexthop_store.hpp"

namespace sidestep::lookup {
namespace {

constexpr std::uint32_t kMinimumMtu = 1280;  // RFC 8200 section 5
constexpr std::uint8_t kLinkLocalLength = 64;

using RouteSetView = std::unordered_set<const fib::Route*>;

const fib::Link& link_of(const State& state, IfIndex device) { return *state.links().find(device); }

bool uses(const fib::Route& route, IfIndex device) {
  return route->object == nullptr && route->hop.device == device;
}

net::Prefix subnet_of(const fib::InterfaceAddress& address) {
  return {address.address, address.prefix_length};
}

bool needs_duplicate_detection(const State& state, const fib::Link& link) {
  if (link.is_loopback()) return false;
  return state.sysctls().all.accept_dad > 0 || link.conf.accept_dad > 0;
}

// Local entry, anycast entry, peer route: what the end of duplicate detection brings (kernel: ipv6_ifa_notify).
void activate(State& state, IfIndex device, const net::Ipv6Address& which) {
  fib::Link& link = *state.edit_links().find(device);
  const auto at = std::ranges::find(link.addresses, which, &fib::InterfaceAddress::address);
  at->tentative = false;
  add_local_route(state, link, at->address);
  if (link.conf.forwarding) add_anycast_route(state, link, *at);
  if (at->peer) add_prefix_route(state, link, {*at->peer, net::Prefix::kMaxLength}, at->metric);
}

std::vector<fib::InterfaceAddress> addresses_of(const State& state, IfIndex device) {
  return link_of(state, device).addresses;  // a copy: the list changes under whoever walks it
}

// Clears marks of the device's routes.
void revive_routes(State& state, IfIndex device, bool dead, bool linkdown) {
  state.for_each_table([&](fib::Table& table) {
    table.update([&](fib::RouteSlot& slot) {
      if (!uses(*slot.route, device)) return fib::SlotFate::kKeep;
      if (dead) slot.dead = false;
      if (linkdown) slot.linkdown = false;
      return fib::SlotFate::kKeep;
    });
  });
}

void become_ready(State& state, IfIndex device) {
  state.ready_devices.insert(device);
  add_multicast_route(state, link_of(state, device));
  generate_link_local(state, device);
  for (const auto& address : addresses_of(state, device)) {
    if (address.tentative) activate(state, device, address.address);
  }
  revive_routes(state, device, true, link_of(state, device).carrier);
}

// Routes of rings that lose their last living member with the device.
RouteSetView rings_dying_with(const fib::Table& table, IfIndex device) {
  RouteSetView dying;
  table.for_each([&](const fib::RouteSet& set) {
    for (std::size_t i = 0; i < set.slots.size();) {
      const std::uint32_t metric = set.slots[i].route->fields().metric;
      std::vector<const fib::Route*> ring;
      bool touched = false;
      bool living = false;
      for (; i < set.slots.size() && set.slots[i].route->fields().metric == metric; ++i) {
        const fib::RouteSlot& slot = set.slots[i];
        if (!slot.route->is_ecmp_capable()) continue;
        ring.push_back(slot.route);
        const bool here = uses(*slot.route, device);
        touched = touched || here;
        living = living || !(here || slot.dead);
      }
      if (touched && !living) dying.insert(ring.begin(), ring.end());
    }
  });
  return dying;
}

// Routes that are members of a ring of two or more.
RouteSetView ring_members(const fib::Table& table) {
  RouteSetView members;
  table.for_each([&](const fib::RouteSet& set) {
    const auto in_same_ring = [](const fib::RouteSlot& a, const fib::RouteSlot& b) {
      return &a != &b && a.route->is_ecmp_capable() && b.route->is_ecmp_capable() &&
             a.route->fields().metric == b.route->fields().metric;
    };
    for (const auto& slot : set.slots) {
      const bool sibling = std::ranges::any_of(
          set.slots, [&](const fib::RouteSlot& other) { return in_same_ring(slot, other); });
      if (sibling) members.insert(slot.route);
    }
  });
  return members;
}

void take_routes_down(State& state, IfIndex device) {
  state.for_each_table([&](fib::Table& table) {
    const RouteSetView dying = rings_dying_with(table, device);
    const RouteSetView members = ring_members(table);
    table.update([&](fib::RouteSlot& slot) {
      if (dying.contains(slot.route)) return fib::SlotFate::kRemove;
      if (!uses(*slot.route, device)) return fib::SlotFate::kKeep;
      if (!members.contains(slot.route)) return fib::SlotFate::kRemove;
      slot.dead = true;
      slot.linkdown = true;
      return fib::SlotFate::kKeep;
    });
  });
}

bool survives_down(const fib::InterfaceAddress& address) {
  return !address.address.is_link_local() && !address.address.is_loopback();
}

// Routes keep such an address as their preferred source, as in the kernel, which takes it off them only when the address is
// deleted by name.
void take_addresses_down(State& state, IfIndex device, bool keep) {
  fib::Link& link = *state.edit_links().find(device);
  std::erase_if(link.addresses, [&](const fib::InterfaceAddress& address) {
    return !keep || !survives_down(address);
  });
  for (auto& address : link.addresses) address.tentative = true;
}

}  // namespace

bool has_ipv6(const fib::Link& link) noexcept { return link.mtu >= kMinimumMtu; }

bool speaks_ipv6(const fib::Link& link) noexcept {
  return has_ipv6(link) && !link.conf.disable_ipv6;
}

void device_came_up(State& state, IfIndex device) {
  const fib::Link& link = link_of(state, device);
  if (!speaks_ipv6(link)) return;
  if (link.is_loopback()) {
    net::Ipv6Address loopback{};
    loopback.bytes[15] = 1;
    const auto at = std::ranges::find(link.addresses, loopback, &fib::InterfaceAddress::address);
    if (at == link.addresses.end()) {
      add_address(state, device,
                  fib::InterfaceAddress{.address = loopback, .no_prefix_route = true});
    }
  }
  for (const auto& address : addresses_of(state, device)) {
    if (!address.no_prefix_route) add_prefix_route(state, link, subnet_of(address), address.metric);
    const bool waits_for_nothing = address.tentative && !needs_duplicate_detection(state, link);
    if (waits_for_nothing) activate(state, device, address.address);
  }
  if (link.carrier) become_ready(state, device);
}

void device_went_down(State& state, IfIndex device, bool keep_addresses) {
  take_routes_down(state, device);
  take_addresses_down(state, device, keep_addresses);
  state.ready_devices.erase(device);
}

void carrier_came(State& state, IfIndex device) {
  const fib::Link& link = link_of(state, device);
  if (!link.up || !speaks_ipv6(link)) return;
  if (state.ready_devices.contains(device)) {
    revive_routes(state, device, false, true);
  } else {
    become_ready(state, device);
  }
}

void carrier_went(State& state, IfIndex device) {
  state.for_each_table([&](fib::Table& table) {
    table.update([&](fib::RouteSlot& slot) {
      const fib::RouteFields& fields = slot.route->fields();
      const bool local = fields.type == fib::RouteType::kLocal || fields.is_anycast_flagged;
      if (uses(*slot.route, device) && !local) slot.linkdown = true;
      return fib::SlotFate::kKeep;
    });
  });
  remove_nexthops_over(state, device);
}

void device_is_deleted(State& state, IfIndex device) {
  state.for_each_table([&](fib::Table& table) {
    table.update([&](fib::RouteSlot& slot) {
      return uses(*slot.route, device) ? fib::SlotFate::kRemove : fib::SlotFate::kKeep;
    });
  });
  take_addresses_down(state, device, false);
  remove_nexthops_over(state, device);
  state.ready_devices.erase(device);
}

void device_mtu_changed(State& state, IfIndex device, std::uint32_t before) {
  const std::uint32_t mtu = link_of(state, device).mtu;
  rewrite_routes(state, [&](const fib::Route& route) -> std::optional<fib::RouteFields> {
    if (!uses(route, device) || route->mtu_locked || route->mtu == mtu) return std::nullopt;
    if (route->mtu < mtu && route->mtu != before) return std::nullopt;
    fib::RouteFields fields = route.fields();
    fields.mtu = mtu;
    return fields;
  });
  state.exceptions.device_mtu_changed(state, device, before);
}

void add_address(State& state, IfIndex device, fib::InterfaceAddress address) {
  fib::Link& link = *state.edit_links().find(device);
  const bool waits =
      needs_duplicate_detection(state, link) && !state.ready_devices.contains(device);
  address.tentative = true;  // until activated
  add_multicast_route(state, link);
  // The kernel's order: by scope, the farthest first; within a scope the newest first.
  const auto at = std::ranges::find_if(link.addresses, [&](const fib::InterfaceAddress& other) {
    return address.address.scope() >= other.address.scope();
  });
  link.addresses.insert(at, address);
  if (!address.no_prefix_route) add_prefix_route(state, link, subnet_of(address), address.metric);
  if (!waits) activate(state, device, address.address);
}

void remove_address(State& state, IfIndex device, const net::Ipv6Address& which) {
  fib::Link& link = *state.edit_links().find(device);
  const auto at = std::ranges::find(link.addresses, which, &fib::InterfaceAddress::address);
  const fib::InterfaceAddress address = *at;
  link.addresses.erase(at);
  // The prefix route stays while another address of the device is in the same subnet, even one that made none itself.
  const bool shared = std::ranges::any_of(link.addresses, [&](const fib::InterfaceAddress& other) {
    return other.prefix_length == address.prefix_length && subnet_of(other) == subnet_of(address);
  });
  if (!address.no_prefix_route && !shared) remove_prefix_route(state, link, subnet_of(address));
  remove_anycast_route(state, link, address);
  if (address.peer) remove_prefix_route(state, link, {*address.peer, net::Prefix::kMaxLength});
  remove_local_route(state, link, address.address);
  forget_preferred_source(state, address.address);
}

void set_forwarding(State& state, IfIndex device, bool forwarding) {
  fib::Link& link = *state.edit_links().find(device);
  if (link.conf.forwarding == forwarding) return;
  link.conf.forwarding = forwarding;
  for (const auto& address : addresses_of(state, device)) {
    if (forwarding) {
      add_anycast_route(state, link, address);
    } else {
      remove_anycast_route(state, link, address);
    }
  }
}

void generate_link_local(State& state, IfIndex device) {
  const fib::Link& link = link_of(state, device);
  // A VRF sends nothing on a link of its own.
  if (link.is_loopback() || link.vrf_table || link.conf.addr_gen_mode != 0 ||
      link.mac == net::MacAddress{})
    return;
  if (!link.up || !speaks_ipv6(link) || !state.ready_devices.contains(device)) return;
  const net::Ipv6Address address = link.mac.link_local();
  const auto at = std::ranges::find(link.addresses, address, &fib::InterfaceAddress::address);
  if (at != link.addresses.end()) return;
  add_address(state, device,
              fib::InterfaceAddress{.address = address, .prefix_length = kLinkLocalLength});
}

}  // namespace sidestep::lookup
