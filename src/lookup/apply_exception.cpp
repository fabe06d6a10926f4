// SPDX-License-Identifier: Apache-2.0
// What the network tells about single destinations, and what time does.
//
// A Packet Too Big or a redirect is about a packet that this router sent; the route that an output lookup finds for that packet
// is overridden for its destination (kernel: ip6_update_pmtu, rt6_do_redirect). Everything that is wrong with such a message is
// ignored in silence, since anybody may send one.
//
// A path MTU lives 10 minutes from the first message; a later message with a smaller MTU does not prolong it. A redirect ages
// out after a minute, used or not: lookups leave no trace by which its use could be seen.
#include <algorithm>
#include <optional>

#include "lookup/apply.hpp"
#include "lookup/kernel_routes.hpp"
#include "lookup/walk.hpp"

namespace sidestep::lookup {
namespace {

constexpr std::uint32_t kMinimumMtu = 1280;                         // RFC 8200 section 5
constexpr std::uint64_t kPathMtuLifetimeNs = 600 * kNsPerSecond;    // net.ipv6.route.mtu_expires
constexpr std::uint64_t kRedirectLifetimeNs = 60 * kNsPerSecond;    // net.ipv6.route.gc_timeout
constexpr std::uint64_t kCollectionIntervalNs = 30 * kNsPerSecond;  // net.ipv6.route.gc_interval

TimeNs after(TimeNs now, std::uint64_t span) { return TimeNs{now.value + span}; }

// Neighbors may be asked about in a read section only. The writer need not be in one: then every neighbor is unknown, and a
// nexthop group gives the member that the flow's hash names.
Snapshot snapshot_to_ask(const State& state) {
  Snapshot snapshot = state.current();
  if (rcu::ReadSection::current_epoch() == 0) snapshot.neighbors = {};
  return snapshot;
}

TableResult find_for_output(const Snapshot& snapshot, Flow flow) {
  flow.iif = kLoopbackIndex;
  Silent silent;
  return find_output(snapshot, flow, silent).result;
}

std::uint32_t present_mtu(const State& state, const fib::Dst& dst) {
  if (dst->mtu != 0) return dst->mtu;
  const fib::Link* link = state.links().find(dst->device);
  return link == nullptr ? 0 : link->ipv6_mtu();
}

/// The route of a hop for one destination alone. A route without gateway that is source-specific is so for the flow's source alone.
fib::RouteFields for_one_destination(const Selection& base, const Flow& flow) {
  fib::RouteFields fields = base.route->fields();
  fields.hop = base.route->hop(base.hop);
  fields.hop.exceptions.reset();
  fields.object.reset();
  fields.destination = {flow.destination, net::Prefix::kMaxLength};
  if (fields.source.length() != 0 && !fields.hop.gateway)
    fields.source = {flow.source, net::Prefix::kMaxLength};
  return fields;
}

void learn_path_mtu(State& state, const ExceptionChange& change, TimeNs now) {
  if (change.mtu < kMinimumMtu) return;
  Flow flow = change.flow;
  flow.now = now;
  const Snapshot snapshot = snapshot_to_ask(state);
  const TableResult found = find_for_output(snapshot, flow);
  if (!found.found() || found.dst()->input != fib::DstInput::kForward ||
      change.mtu >= present_mtu(state, found.dst())) {
    return;
  }
  fib::RouteFields fields = found.exception != nullptr ? found.exception->fields()
                                                       : for_one_destination(found.selection, flow);
  const TimeNs end = after(now, kPathMtuLifetimeNs);
  const bool redirected = fields.exception == fib::ExceptionKind::kRedirect;
  fields.expires_at = fields.expires_at && !redirected ? std::min(*fields.expires_at, end) : end;
  if (!redirected) fields.exception = fib::ExceptionKind::kPathMtu;
  fields.mtu = change.mtu;
  state.exceptions.add(state, *found.selection.route, found.selection.hop, std::move(fields));
  arm_collection(state, now);
}

/// The hop by which a redirect may be believed: one toward the destination whose gateway, or that of an earlier redirect,
/// is its sender (kernel: __ip6_route_redirect, which looks at every route on the way and not just at the one in use).
Selection find_redirected(const fib::Table& table, const ExceptionChange& change,
                          const Flow& flow) {
  fib::Table::Walk walk(table, flow.destination, flow.source);
  while (const fib::RouteSet* set = walk.next()) {
    for (const fib::RouteSlot& slot : set->slots) {
      const fib::Route& route = *slot.route;
      if (route.is_expired(flow.now)) continue;
      if (route.is_reject()) return {};
      for (std::size_t hop = 0; hop < route.hop_count(); ++hop) {
        const fib::Nexthop& way = route.hop(hop);
        if (slot.dead || !way.gateway || way.device != flow.oif) continue;
        const fib::Route* earlier = find_exception({&route, hop}, flow);
        const bool by_exception = earlier != nullptr && earlier->hop(0).gateway == change.router;
        if (way.gateway == change.router || by_exception) return {&route, hop};
      }
    }
  }
  return {};
}

void learn_redirect(State& state, const ExceptionChange& change, TimeNs now) {
  Flow flow = change.flow;
  flow.now = now;
  const bool on_link = change.gateway == flow.destination;
  if (flow.destination.is_multicast() || (!on_link && !change.gateway.is_link_local())) return;
  const Snapshot snapshot = snapshot_to_ask(state);
  const TableResult found = find_for_output(snapshot, flow);
  const fib::Table* table = found.found() ? snapshot.find_table(found.table) : nullptr;
  const Selection base = table != nullptr ? find_redirected(*table, change, flow) : Selection{};
  if (!base) return;
  fib::RouteFields fields = for_one_destination(base, flow);
  fields.exception = fib::ExceptionKind::kRedirect;
  fields.hop.gateway.reset();
  if (!on_link) fields.hop.gateway = change.gateway;
  fields.expires_at = after(now, kRedirectLifetimeNs);
  state.exceptions.add(state, *base.route, base.hop, std::move(fields));
  arm_collection(state, now);
}

}  // namespace

Result<void> apply_change(State& state, const ExceptionChange& change, TimeNs now) {
  // The lookup that finds the route may ask neighbors, whose owner may insist on a read section.
  std::optional<rcu::ReadSection> section;
  if (rcu::Reader::registered()) section.emplace();
  switch (change.verb) {
    case ExceptionVerb::kPathMtu:
      learn_path_mtu(state, change, now);
      break;
    case ExceptionVerb::kRedirect:
      learn_redirect(state, change, now);
      break;
    case ExceptionVerb::kGatewayFailed:
      state.exceptions.erase_via(change.flow.oif, change.gateway);
      break;
    case ExceptionVerb::kFlush:
      state.exceptions.clear();
      break;
  }
  return {};
}

// Kernel: fib6_run_gc.
Result<void> apply_change(State& state, const CollectChange&, TimeNs now) {
  bool more = false;
  state.for_each_table([&](fib::Table& table) {
    table.update([&](fib::RouteSlot& slot) {
      if (slot.route->is_expired(now)) return fib::SlotFate::kRemove;
      more = more || slot.route->fields().expires_at.has_value();
      return fib::SlotFate::kKeep;
    });
  });
  state.exceptions.collect(state, now);
  more = more || !state.exceptions.empty();
  state.collection_due = more ? after(now, kCollectionIntervalNs) : TimeNs{};
  return {};
}

void collect_if_due(State& state, TimeNs now) {
  const bool due = state.collection_due.value != 0 && now.value >= state.collection_due.value;
  if (due) static_cast<void>(apply_change(state, CollectChange{}, now));
}

void arm_collection(State& state, TimeNs now) {
  if (state.collection_due.value == 0) state.collection_due = after(now, kCollectionIntervalNs);
}

}  // namespace sidestep::lookup
