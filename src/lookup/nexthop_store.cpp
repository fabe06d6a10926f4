// SPDX-License-Identifier: Apache-2.0
// Nexthop objects and who depends on them. Objects are immutable: a change makes new objects, first the one named, then
// the groups that contain it, and then new routes in the places of those that use any of them.
#include "lookup/nexthop_store.hpp"

#include <algorithm>
#include <map>

#include "lookup/kernel_routes.hpp"

namespace sidestep::lookup {
namespace {

using ObjectPtr = std::shared_ptr<const fib::NexthopObject>;

bool contains(const fib::NexthopObject& group, NexthopId member) {
  return std::ranges::find(group.members, member) != group.members.end();
}

// Points routes at the objects that replace theirs.
void repoint_routes(State& state, const std::map<NexthopId, ObjectPtr>& changed) {
  rewrite_routes(state, [&](const fib::Route& route) -> std::optional<fib::RouteFields> {
    if (route->object == nullptr) return std::nullopt;
    const auto at = changed.find(route->object->id);
    if (at == changed.end()) return std::nullopt;
    fib::RouteFields fields = route.fields();
    fields.object = at->second;
    return fields;
  });
}

void remove_routes_of(State& state, NexthopId id) {
  state.for_each_table([&](fib::Table& table) {
    table.update([&](fib::RouteSlot& slot) {
      const auto& object = slot.route->fields().object;
      return object != nullptr && object->id == id ? fib::SlotFate::kRemove : fib::SlotFate::kKeep;
    });
  });
}

// The group without a member; the weights of the others stay.
fib::NexthopObject without(const fib::NexthopObject& group, NexthopId member) {
  fib::NexthopObject next = group;
  next.members.clear();
  next.hops.clear();
  for (std::size_t i = 0; i < group.members.size(); ++i) {
    if (group.members[i] == member) continue;
    next.members.push_back(group.members[i]);
    next.hops.push_back(group.hops[i]);
  }
  return next;
}

// How many buckets of a resilient group each member shall have: weights 1 and 3 of 30 buckets, 8 and 22.
std::vector<std::uint64_t> wanted_buckets(const fib::NexthopObject& group) {
  std::uint64_t total = 0;
  for (const auto& hop : group.hops) total += hop.weight;
  std::vector<std::uint64_t> wanted;
  std::uint64_t weight = 0;
  std::uint64_t dealt = 0;
  for (const auto& hop : group.hops) {
    weight += hop.weight;
    const std::uint64_t bound = (weight * group.buckets + total / 2) / total;
    wanted.push_back(bound - dealt);
    dealt = bound;
  }
  return wanted;
}

// Deals the buckets of a resilient group in the kernel's order (nh_res_group_rebalance, nh_res_table_upkeep): one pass over
// the buckets, in which those of nobody and those of members that have too many go to the last member that has too few. So of the
// flows only those move whose member is gone or has too many. The kernel waits until such a bucket is idle; lookups here leave no
// trace of use, so every bucket counts as idle.
void deal_buckets(fib::NexthopObject& group) {
  const std::vector<std::uint64_t> wanted = wanted_buckets(group);
  const std::size_t nobody = group.members.size();
  std::vector<std::uint64_t> has(nobody, 0);
  group.bucket_members.resize(group.buckets);
  group.bucket_hops.clear();
  for (const NexthopId member : group.bucket_members) {
    const auto owner = std::ranges::find(group.members, member) - group.members.begin();
    group.bucket_hops.push_back(static_cast<std::uint16_t>(owner));
    if (static_cast<std::size_t>(owner) != nobody) ++has[static_cast<std::size_t>(owner)];
  }
  std::size_t taker = nobody;
  for (std::size_t bucket = 0; bucket < group.buckets; ++bucket) {
    const std::size_t owner = group.bucket_hops[bucket];
    if (owner != nobody && has[owner] <= wanted[owner]) continue;
    // The sums of both are equal once all are dealt, so somebody has too few.
    while (has[taker - 1] >= wanted[taker - 1]) --taker;
    if (owner != nobody) --has[owner];
    ++has[taker - 1];
    group.bucket_hops[bucket] = static_cast<std::uint16_t>(taker - 1);
    group.bucket_members[bucket] = group.members[taker - 1];
  }
}

}  // namespace

std::shared_ptr<const fib::NexthopObject> with_members(const State& state,
                                                       fib::NexthopObject group) {
  std::uint64_t total = 0;
  for (const auto& hop : group.hops) total += hop.weight;
  std::uint64_t cumulative = 0;
  group.blackhole = false;
  for (std::size_t i = 0; i < group.members.size(); ++i) {
    const fib::NexthopObject& member = *state.nexthops().at(group.members[i]);
    const std::uint16_t weight = group.hops[i].weight;
    group.blackhole = group.blackhole || member.blackhole;
    group.hops[i] =
        member.hops.empty() ? fib::Nexthop{.device = kLoopbackIndex} : member.hops.front();
    group.hops[i].weight = weight;
    cumulative += weight;
    // Weights 1 and 3: 2^29 - 1 and 2^31 - 1.
    group.hops[i].upper_bound =
        static_cast<std::int32_t>(((cumulative << 31) + total / 2) / total - 1);
  }
  if (group.resilient && group.buckets != 0) deal_buckets(group);
  return std::make_shared<const fib::NexthopObject>(std::move(group));
}

void replace_nexthop(State& state, std::shared_ptr<const fib::NexthopObject> object) {
  auto& objects = state.edit_nexthops();
  const NexthopId id = object->id;
  std::map<NexthopId, ObjectPtr> changed;
  objects[id] = changed[id] = std::move(object);
  for (auto& [group_id, group] : objects) {
    if (!group->group || !contains(*group, id)) continue;
    group = changed[group_id] = with_members(state, *group);
  }
  repoint_routes(state, changed);
}

void remove_nexthop(State& state, NexthopId id) {
  auto& objects = state.edit_nexthops();
  std::map<NexthopId, ObjectPtr> changed;
  std::vector<NexthopId> emptied;
  for (auto& [group_id, group] : objects) {
    if (!group->group || !contains(*group, id)) continue;
    fib::NexthopObject rest = without(*group, id);
    if (rest.members.empty()) {
      emptied.push_back(group_id);
    } else {
      group = changed[group_id] = with_members(state, std::move(rest));
    }
  }
  repoint_routes(state, changed);
  for (const NexthopId group : emptied) {
    remove_routes_of(state, group);
    objects.erase(group);
  }
  remove_routes_of(state, id);
  objects.erase(id);
}

void remove_nexthops_over(State& state, IfIndex device) {
  std::vector<NexthopId> over;
  for (const auto& [id, object] : state.nexthops()) {
    const bool single = !object->group && !object->blackhole && !object->hops.empty();
    if (single && object->hops.front().device == device) over.push_back(id);
  }
  for (const NexthopId id : over) remove_nexthop(state, id);
}

}  // namespace sidestep::lookup
