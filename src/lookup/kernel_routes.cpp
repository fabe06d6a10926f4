// SPDX-License-Identifier: Apache-2.0
#include "lookup/kernel_routes.hpp"

namespace sidestep::lookup {
namespace {

constexpr std::uint32_t kMetricAddressConfiguration = 256;
constexpr std::uint8_t kAnycastLengthEnd =
    127;  // RFC 6164: no subnet-router anycast on /127 and longer

net::Prefix host_prefix(const net::Ipv6Address& address) {
  return {address, net::Prefix::kMaxLength};
}

fib::RouteFields kernel_fields(const net::Prefix& destination, TableId table, fib::RouteType type,
                               std::uint32_t metric, IfIndex device) {
  fib::RouteFields fields;
  fields.destination = destination;
  fields.table = table;
  fields.type = type;
  fields.metric = metric;
  fields.protocol = fib::kProtocolKernel;
  fields.hop.device = device;
  return fields;
}

void insert_quietly(State& state, fib::RouteFields fields) {
  // EEXIST is the only refusal, and means that the route is there.
  static_cast<void>(insert_route(state, std::move(fields), fib::InsertFlags{.create = true}));
}

bool is_local(const fib::RouteFields& fields) {
  return fields.type == fib::RouteType::kLocal || fields.is_anycast_flagged;
}

bool starts_linkdown(const State& state, const fib::RouteFields& fields) {
  if (fields.object != nullptr || is_local(fields)) return false;
  const fib::Link* link = state.links().find(fields.hop.device);
  return link != nullptr && !link->carrier;
}

/// Where a device's own routes are: in its VRF's table if it has one (kernel: l3mdev_fib_table).
TableId table_of(const State& state, const fib::Link& link, TableId otherwise) {
  const fib::Link* vrf = state.links().vrf_of(link.index);
  return vrf == nullptr ? otherwise : *vrf->vrf_table;
}

/// What is delivered locally is the VRF's; only link-local addresses of its members are the router's (kernel:
/// ip6_rt_get_dev_rcu).
IfIndex local_device(const State& state, const fib::RouteFields& fields) {
  if (!is_local(fields)) return kLoopbackIndex;
  const fib::Link* vrf = state.links().vrf_of(fields.hop.device);
  if (vrf == nullptr) return kLoopbackIndex;
  const net::Ipv6Address& destination = fields.destination.address();
  const bool strict =
      destination.is_multicast() || destination.is_link_local() || destination.is_loopback();
  return vrf->index == fields.hop.device || !strict ? vrf->index : kLoopbackIndex;
}

std::optional<net::Prefix> anycast_prefix(const fib::InterfaceAddress& address) {
  if (address.prefix_length >= kAnycastLengthEnd) return std::nullopt;
  const net::Prefix subnet(address.address, address.prefix_length);
  if (subnet.address().is_unspecified()) return std::nullopt;
  return host_prefix(subnet.address());
}

}  // namespace

Result<const fib::Route*> insert_route(State& state, fib::RouteFields fields,
                                       fib::InsertFlags flags) {
  flags.linkdown = starts_linkdown(state, fields);
  fields.local_device = local_device(state, fields);
  fields.entry_id = ++state.last_entry_id;
  fib::Table& table = state.table(fields.table);
  return table.insert(fib::Route::create(std::move(fields)), flags);
}

void add_local_route(State& state, const fib::Link& link, const net::Ipv6Address& address) {
  insert_quietly(state, kernel_fields(host_prefix(address), table_of(state, link, kTableLocal),
                                      fib::RouteType::kLocal, 0, link.index));
}

void remove_local_route(State& state, const fib::Link& link, const net::Ipv6Address& address) {
  const fib::RouteMatch match{
      .protocol = fib::kProtocolKernel, .type = fib::RouteType::kLocal, .device = link.index};
  fib::Table& table = state.table(table_of(state, link, kTableLocal));
  static_cast<void>(table.erase(host_prefix(address), {}, match));  // ESRCH: was not there
}

void add_anycast_route(State& state, const fib::Link& link, const fib::InterfaceAddress& address) {
  const auto prefix = anycast_prefix(address);
  if (!prefix || address.tentative) return;
  auto fields = kernel_fields(*prefix, table_of(state, link, kTableLocal), fib::RouteType::kAnycast,
                              0, link.index);
  fields.is_anycast_flagged = true;
  insert_quietly(state, std::move(fields));
}

void remove_anycast_route(State& state, const fib::Link& link,
                          const fib::InterfaceAddress& address) {
  const auto prefix = anycast_prefix(address);
  if (!prefix) return;
  for (const auto& other : link.addresses) {
    const bool counts =
        link.conf.forwarding && !other.tentative && other.address != address.address;
    if (counts && anycast_prefix(other) == prefix) return;
  }
  const fib::RouteMatch match{
      .protocol = fib::kProtocolKernel, .type = fib::RouteType::kAnycast, .device = link.index};
  static_cast<void>(state.table(table_of(state, link, kTableLocal)).erase(*prefix, {}, match));
}

void add_prefix_route(State& state, const fib::Link& link, const net::Prefix& prefix,
                      std::uint32_t metric) {
  if (!link.up || link.conf.disable_ipv6) return;
  insert_quietly(state,
                 kernel_fields(prefix, table_of(state, link, kTableMain), fib::RouteType::kUnicast,
                               metric == 0 ? kMetricAddressConfiguration : metric, link.index));
}

void remove_prefix_route(State& state, const fib::Link& link, const net::Prefix& prefix) {
  fib::Table& table = state.table(table_of(state, link, kTableMain));
  const fib::RouteSet* set = table.get(prefix, {});
  if (set == nullptr) return;
  for (const auto& slot : set->slots) {
    const fib::RouteFields& fields = slot.route->fields();
    if (fields.object != nullptr || fields.hop.device != link.index || fields.hop.gateway) continue;
    // The unspecified gateway matches routes without one.
    const fib::RouteMatch match{.metric = fields.metric,
                                .protocol = fields.protocol,
                                .device = link.index,
                                .gateway = net::Ipv6Address{},
                                .single_hop = true};
    static_cast<void>(table.erase(prefix, {}, match));
    return;
  }
}

void add_multicast_route(State& state, const fib::Link& link) {
  if (!link.up || link.is_loopback() || link.vrf_table || link.conf.disable_ipv6) return;
  static const net::Prefix all_multicast = *net::Prefix::parse("ff00::/8");
  insert_quietly(
      state, kernel_fields(all_multicast, table_of(state, link, kTableLocal),
                           fib::RouteType::kMulticast, kMetricAddressConfiguration, link.index));
}

void forget_preferred_source(State& state, const net::Ipv6Address& address) {
  if (state.links().owner_of(address) != nullptr) return;
  rewrite_routes(state, [&](const fib::Route& route) -> std::optional<fib::RouteFields> {
    if (route->preferred_source != address) return std::nullopt;
    fib::RouteFields fields = route.fields();
    fields.preferred_source.reset();
    return fields;
  });
}

void rewrite_routes(State& state,
                    const std::function<std::optional<fib::RouteFields>(const fib::Route&)>& make) {
  state.for_each_table([&](fib::Table& table) {
    table.update([&](fib::RouteSlot& slot) {
      if (auto fields = make(*slot.route)) slot.route = fib::Route::create(*std::move(fields));
      return fib::SlotFate::kKeep;
    });
  });
}

}  // namespace sidestep::lookup
