// SPDX-License-Identifier: Apache-2.0
// Selection inside one prefix.
//
// The kernel looks at the routes of the lowest metric first and takes the best score among them, the earliest of equals.
// If none of them is usable it looks once more, at all the rest and without grouping by metric, so that a better-scored
// route of a worse metric can win there. Only then does equal-cost multipath come in: if the winner belongs to a ring, the
// flow's hash picks a sibling. The sibling is scored again; one that does not suit leaves the winner in place.
#include "lookup/select.hpp"

#include "lookup/multipath_hash.hpp"

namespace sidestep::lookup {
namespace {

// Router preferences (RFC 4191) outweigh the interface: bit 1 is the interface's.
constexpr int kScoreInterface = 2;
constexpr unsigned kPreferenceShift = 2;

class Scan {
 public:
  explicit Scan(const HopQuery& query) : query_(query) {}

  void run(const fib::RouteSlot* first, const fib::RouteSlot* last) {
    for (const fib::RouteSlot* slot = first; slot != last; ++slot) {
      const fib::Route& route = *slot->route;
      if (route.is_expired(query_.now)) continue;
      if (route->object != nullptr) {
        if (route->object->blackhole) {  // chosen whatever came before, and the scan is over
          best_ = {&route, 0};
          return;
        }
        consider_object(route);
      } else {
        consider_hop(*slot);
      }
    }
  }
  [[nodiscard]] const Selection& best() const { return best_; }

 private:
  void consider_hop(const fib::RouteSlot& slot) {
    if (slot.dead) return;
    if (slot.linkdown && !query_.strictness.ignore_linkstate &&
        query_.state.ignores_linkdown(slot.route->hop(0).device)) {
      return;
    }
    take_if_better(*slot.route, 0);
  }

  // A group counts through its first member that is better than what there is, not through its best.
  void consider_object(const fib::Route& route) {
    for (std::size_t hop = 0; hop < route.hop_count(); ++hop) {
      if (take_if_better(route, hop)) return;
    }
  }

  bool take_if_better(const fib::Route& route, std::size_t hop) {
    const int score = score_hop(query_, route, hop);
    if (score <= best_score_) return false;
    best_score_ = score;
    best_ = {&route, hop};
    return true;
  }

  const HopQuery& query_;
  Selection best_;
  int best_score_ = -1;
};

// Groups avoid members whose neighbor is known and not valid, whether this router forwards or not.
Path path_of_group(const HopQuery& query, const fib::NexthopObject& object, Selection selected,
                   std::uint32_t hash) {
  std::optional<std::size_t> first_good;
  for (std::size_t i = 0; i < object.hops.size(); ++i) {
    const fib::Nexthop& hop = object.hops[i];
    const auto health = query.state.health(hop.device, hop.gateway.value_or(net::Ipv6Address{}));
    if (health != NeighborHealth::kUnknown && health != NeighborHealth::kValid) continue;
    if (!first_good) first_good = i;
    if (static_cast<std::int64_t>(hash) <= hop.upper_bound)
      return {{selected.route, i}, PathReason::kGroupShare};
  }
  if (first_good) return {{selected.route, *first_good}, PathReason::kGroupFirstGood};
  return {{selected.route, 0}, PathReason::kGroupFirst};
}

Path path_of_object(const HopQuery& query, Selection selected, const Flow& flow) {
  const fib::NexthopObject& object = *selected.route->fields().object;
  if (!object.group || object.blackhole || object.hops.empty()) {
    return {{selected.route, 0}, PathReason::kObject};
  }
  const std::uint32_t hash =
      flow.multipath_hash != 0 ? flow.multipath_hash : multipath_hash(query.state, flow);
  if (const auto& buckets = object.bucket_hops; !buckets.empty())
    return {{selected.route, buckets[hash % buckets.size()]}, PathReason::kGroupBucket};
  return path_of_group(query, object, selected, hash);
}

bool in_ring(const fib::RouteSlot& slot, const fib::Route& of) {
  return slot.route->fields().metric == of->metric && slot.route->is_ecmp_capable();
}

bool has_siblings(const fib::RouteSet& set, const fib::Route& route) {
  unsigned count = 0;
  for (const auto& slot : set.slots) count += in_ring(slot, route) ? 1U : 0U;
  return count > 1;
}

}  // namespace

int score_hop(const HopQuery& query, const fib::Route& route, std::size_t hop) {
  const fib::Nexthop& nexthop = route.hop(hop);
  int score = 0;
  if (!query.interface || nexthop.device == query.interface) score = kScoreInterface;
  if (score == 0 && query.strictness.interface) return kScoreHardFail;
  score |= static_cast<int>(static_cast<unsigned>(route->preference) << kPreferenceShift);
  if (query.strictness.reachable && nexthop.gateway.has_value() &&
      query.state.health(nexthop.device, *nexthop.gateway) == NeighborHealth::kFailed) {
    return kScoreFailedNeighbor;
  }
  return score;
}

Selection select_route(const HopQuery& query, const fib::RouteSet& set) {
  const fib::RouteSlot* first = set.slots.data();
  const fib::RouteSlot* last = first + set.slots.size();
  if (first == last) return {};
  const fib::RouteSlot* group_end = first;
  while (group_end != last && group_end->route->fields().metric == first->route->fields().metric)
    ++group_end;
  Scan scan(query);
  scan.run(first, group_end);
  if (!scan.best()) scan.run(group_end, last);
  return scan.best();
}

Path select_path(const HopQuery& query, const fib::RouteSet& set, Selection selected,
                 const Flow& flow, bool pinned) {
  const fib::Route& route = *selected.route;
  if (route->object != nullptr) {
    // A pinned lookup keeps the member that the selection found on the interface.
    if (pinned) return {selected, PathReason::kObject};
    return path_of_object(query, selected, flow);
  }
  if (pinned || !route.is_ecmp_capable() || !has_siblings(set, route))
    return {selected, PathReason::kOnlyHop};
  const std::uint32_t hash =
      flow.multipath_hash != 0 ? flow.multipath_hash : multipath_hash(query.state, flow);
  for (const auto& slot : set.slots) {
    if (!in_ring(slot, route) || static_cast<std::int64_t>(hash) > slot.upper_bound) continue;
    // Neither death nor carrier is tested again: until the next event on the ring its shares stand.
    if (score_hop(query, *slot.route, 0) < 0) return {selected, PathReason::kRingKeptChoice};
    return {{slot.route, 0}, PathReason::kRingShare};
  }
  return {selected, PathReason::kRingKeptChoice};
}

// Kernel: rt6_find_cached_rt. Exceptions of a source-specific route are kept by the flow's source where the route is on
// link, and by the route's source prefix where it has a gateway; both are asked for.
const fib::Route* find_exception(Selection selection, const Flow& flow) {
  const fib::Route& route = *selection.route;
  if (!route.has_exceptions()) return nullptr;
  const fib::HopExceptions* exceptions = route.hop(selection.hop).exceptions.get();
  if (exceptions == nullptr) return nullptr;
  const auto find = [&](const net::Ipv6Address& source) {
    const fib::Route* found = exceptions->find(flow.destination, source);
    return found != nullptr && !found->is_expired(flow.now) ? found : nullptr;
  };
  if (route->source.length() == 0) return find({});
  const fib::Route* found = find(flow.source);
  return found != nullptr ? found : find(route->source.address());
}

}  // namespace sidestep::lookup
