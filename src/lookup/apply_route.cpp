// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>

#include "lookup/apply.hpp"
#include "lookup/kernel_routes.hpp"
#include "lookup/route_builder.hpp"

namespace sidestep::lookup {
namespace {

// As iproute2 sets the netlink flags for its verbs.
fib::InsertFlags flags_of(RouteVerb verb) {
  switch (verb) {
    case RouteVerb::kAppend:
      return {.create = true, .append = true};
    case RouteVerb::kPrepend:
      return {.create = true};
    case RouteVerb::kReplace:
      return {.create = true, .replace = true};
    case RouteVerb::kChange:
      return {.create = false, .replace = true};
    default:
      return {.create = true, .exclusive = true};
  }
}

bool same_way_out(const fib::Nexthop& a, const fib::Nexthop& b) {
  const bool same_encap =
      (a.encap == nullptr) == (b.encap == nullptr) && (a.encap == nullptr || *a.encap == *b.encap);
  return a.device == b.device && a.gateway == b.gateway && same_encap;
}

// All hops are checked before the first is inserted, and that each has a gateway before anything else of them.
Result<std::vector<fib::RouteFields>> build_multipath(State& state, const RouteChange& change,
                                                      TimeNs now) {
  if (change.hops.empty())
    return failure(EINVAL, "Invalid nexthop configuration - no valid nexthops");
  for (const NexthopSpec& spec : change.hops) {
    if (spec.gateway) continue;
    return failure(EINVAL, "Device only routes can not be added for IPv6 using the multipath API");
  }
  std::vector<fib::RouteFields> routes;
  for (const NexthopSpec& spec : change.hops) {
    auto route = build_route(state, change, spec, now);
    if (!route) return std::unexpected(route.error());
    if (!route->hop.gateway) {
      return failure(EINVAL,
                     "Device only routes can not be added for IPv6 using the multipath API");
    }
    for (const auto& earlier : routes) {
      if (same_way_out(earlier.hop, route->hop)) return failure(EEXIST, "File exists");
    }
    routes.push_back(*std::move(route));
  }
  return routes;
}

void erase_hop(fib::Table& table, const fib::RouteFields& route) {
  const fib::RouteMatch match{.metric = route.metric,
                              .protocol = route.protocol,
                              .device = route.hop.device,
                              .gateway = route.hop.gateway,
                              .single_hop = true};
  static_cast<void>(table.erase(route.destination, route.source, match));
}

// One hop after the other. EXCL and REPLACE are for the first only: it has met the collision, or has taken the old ring
// away. When a later one fails, the hops inserted so far go again; a replaced ring does not come back.
Result<void> insert_multipath(State& state, const RouteChange& change, TimeNs now) {
  const auto routes = build_multipath(state, change, now);
  if (!routes) return std::unexpected(routes.error());
  fib::InsertFlags flags = flags_of(change.verb);
  for (std::size_t i = 0; i < routes->size(); ++i) {
    const auto inserted = insert_route(state, (*routes)[i], flags);
    if (!inserted) {
      for (std::size_t j = 0; j < i; ++j) erase_hop(state.table((*routes)[j].table), (*routes)[j]);
      return std::unexpected(inserted.error());
    }
    flags.exclusive = flags.replace = false;
    flags.create = true;
  }
  return {};
}

Result<void> insert_single(State& state, const RouteChange& change, TimeNs now) {
  const NexthopSpec nowhere;
  auto fields =
      build_route(state, change, change.hops.empty() ? nowhere : change.hops.front(), now);
  if (!fields) return std::unexpected(fields.error());
  const auto inserted = insert_route(state, *std::move(fields), flags_of(change.verb));
  if (!inserted) return std::unexpected(inserted.error());
  return {};
}

Result<fib::RouteMatch> match_of(const State& state, const RouteChange& change,
                                 const NexthopSpec& spec) {
  fib::RouteMatch match;
  match.metric = change.metric;
  match.protocol = change.protocol;
  match.nexthop_id = change.nexthop_id;
  match.gateway = spec.gateway;
  match.single_hop = change.multipath;
  // The type is not asked for: the kernel deletes the first route that fits otherwise.
  if (!spec.device.empty()) {
    const auto device = device_by_name(state, spec.device);
    if (!device) return std::unexpected(device.error());
    match.device = *device;
  }
  return match;
}

// Where ::/0 has no route, the kernel has its null entry there. A delete that asks for nothing in particular finds that, and
// it cannot be deleted.
bool hits_null_entry(const fib::Table& table, const RouteChange& change,
                     const fib::RouteMatch& match) {
  const bool anything = match.metric.value_or(0) == 0 && match.protocol.value_or(0) == 0 &&
                        (!match.device || match.device == kLoopbackIndex) && !match.gateway &&
                        !match.nexthop_id;
  return anything && change.destination.length() == 0 && table.get({}, {}) == nullptr;
}

Result<void> erase_route(State& state, const RouteChange& change) {
  if (change.nexthop_id && !state.nexthops().contains(change.nexthop_id)) {
    return failure(EINVAL, "Nexthop id does not exist");
  }
  fib::Table* table = state.find_table(table_of(change));
  if (table == nullptr) return failure(ESRCH, "FIB table does not exist");
  const std::vector<NexthopSpec> any(1);
  Result<void> result;
  // A multipath delete tries every hop and reports the last failure.
  for (const NexthopSpec& spec : change.hops.empty() ? any : change.hops) {
    const auto match = match_of(state, change, spec);
    if (!match) return std::unexpected(match.error());
    const auto erased =
        table->erase(change.destination, change.source.value_or(net::Prefix{}), *match);
    if (erased) continue;
    result = hits_null_entry(*table, change, *match) ? failure(ENOENT, "No such file or directory")
                                                     : std::unexpected(erased.error());
  }
  return result;
}

// Whether iproute2 would get as far as asking the kernel.
bool names_are_known(const State& state, const RouteChange& change) {
  return std::ranges::all_of(change.hops, [&](const NexthopSpec& spec) {
    return spec.device.empty() || state.links().find(spec.device) != nullptr;
  });
}

}  // namespace

Result<void> apply_change(State& state, const RouteChange& change, TimeNs now) {
  if (change.verb == RouteVerb::kDelete) return erase_route(state, change);
  if (change.expires_s) arm_collection(state, now);
  // A request brings its table into being even when it is refused, unless for an unknown nexthop object.
  const bool known_object = !change.nexthop_id || state.nexthops().contains(change.nexthop_id);
  if (known_object && names_are_known(state, change)) state.table(table_of(change));
  if (change.multipath && !change.nexthop_id) return insert_multipath(state, change, now);
  return insert_single(state, change, now);
}

}  // namespace sidestep::lookup
