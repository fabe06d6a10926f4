// SPDX-License-Identifier: Apache-2.0
#include <cerrno>

#include <algorithm>

#include "lookup/apply.hpp"
#include "lookup/nexthop_store.hpp"
#include "lookup/route_builder.hpp"

namespace sidestep::lookup {
namespace {

using ObjectPtr = std::shared_ptr<const fib::NexthopObject>;

constexpr std::uint16_t kWeightMax = 256;

const fib::NexthopObject* find(const State& state, NexthopId id) {
  const auto at = state.nexthops().find(id);
  return at == state.nexthops().end() ? nullptr : at->second.get();
}

Result<void> check_member(const State& state, const NexthopChange& change,
                          const NexthopMemberSpec& member) {
  const auto is_same = [&](const NexthopMemberSpec& other) { return other.id == member.id; };
  if (std::ranges::count_if(change.group, is_same) > 1) {
    return failure(EINVAL, "Nexthop id can not be used twice in a group");
  }
  const fib::NexthopObject* object = find(state, member.id);
  if (object == nullptr) return failure(EINVAL, "Invalid nexthop id");
  if (object->group) {
    return failure(EINVAL, object->resilient
                               ? "Resilient group can not be a nexthop within a group"
                               : "Hash-threshold group can not be a nexthop within a group");
  }
  if (object->blackhole && change.group.size() > 1) {
    return failure(EINVAL, "Blackhole nexthop can not be used in a group with more than 1 path");
  }
  if (member.weight == 0 || member.weight > kWeightMax)
    return failure(EINVAL, "Invalid value for weight");
  return {};
}

// Buckets and timers, and whose each bucket is: as given, else as the replaced group has them.
void set_buckets(fib::NexthopObject& object, const NexthopChange& change,
                 const fib::NexthopObject* old) {
  constexpr std::uint32_t kIdleTimerS = 120;  // kernel: NH_RES_DEFAULT_IDLE_TIMER
  const bool replaces = old != nullptr && old->resilient;
  object.buckets = change.buckets.value_or(replaces ? old->buckets : 0);
  object.idle_timer_s = change.idle_timer_s.value_or(replaces ? old->idle_timer_s : kIdleTimerS);
  object.unbalanced_timer_s =
      change.unbalanced_timer_s.value_or(replaces ? old->unbalanced_timer_s : 0);
  if (replaces && object.buckets == old->buckets) object.bucket_members = old->bucket_members;
}

Result<ObjectPtr> build_group(const State& state, const NexthopChange& change,
                              fib::NexthopObject object) {
  object.group = true;
  for (const NexthopMemberSpec& member : change.group) {
    if (auto checked = check_member(state, change, member); !checked)
      return std::unexpected(checked.error());
    object.members.push_back(member.id);
    object.hops.push_back(fib::Nexthop{.weight = member.weight});
  }
  object.resilient = change.resilient;
  if (change.resilient) {
    if (change.buckets == 0U) return failure(EINVAL, "Number of buckets needs to be non-0");
    set_buckets(object, change, find(state, change.id));
  }
  return with_members(state, std::move(object));
}

Result<ObjectPtr> build_single(State& state, const NexthopChange& change,
                               fib::NexthopObject object) {
  if (change.hop.device.empty()) {
    return failure(EINVAL, "Device attribute required for non-blackhole and non-fdb nexthops");
  }
  const auto device = device_by_name(state, change.hop.device);
  if (!device) return std::unexpected(device.error());
  const fib::Link& link = *state.links().find(*device);
  if (!link.up) return failure(ENETDOWN, "Nexthop device is not up");
  if (!link.carrier) return failure(ENETDOWN, "Carrier for nexthop device is down");
  if (change.hop.onlink && !change.hop.gateway) {
    return failure(EINVAL, "ONLINK flag can not be set for nexthop without a gateway");
  }
  auto hop = build_hop(state, change.hop, HopContext{});
  if (!hop) return std::unexpected(hop.error());
  hop->weight = 1;
  object.hops.push_back(*std::move(hop));
  return std::make_shared<const fib::NexthopObject>(std::move(object));
}

Result<ObjectPtr> build_object(State& state, const NexthopChange& change, NexthopId id) {
  fib::NexthopObject object;
  object.id = id;
  object.protocol = change.protocol;
  if (!change.group.empty()) return build_group(state, change, std::move(object));
  if (!change.blackhole) return build_single(state, change, std::move(object));
  // It sits on the loopback device, which has to be up when it is made and may go down later.
  if (!state.links().find(kLoopbackIndex)->up) return failure(ENETDOWN, "Nexthop device is not up");
  object.blackhole = true;
  return std::make_shared<const fib::NexthopObject>(std::move(object));
}

bool is_in_larger_group(const State& state, NexthopId id) {
  return std::ranges::any_of(state.nexthops(), [&](const auto& entry) {
    const fib::NexthopObject& group = *entry.second;
    return group.group && group.members.size() > 1 &&
           std::ranges::find(group.members, id) != group.members.end();
  });
}

Result<void> check_replacement(const State& state, const fib::NexthopObject& old,
                               const fib::NexthopObject& next) {
  if (next.group && !old.group)
    return failure(EINVAL, "Can not replace a nexthop with a nexthop group");
  if (!next.group && old.group)
    return failure(EINVAL, "Can not replace a nexthop group with a nexthop");
  if (next.group && next.resilient != old.resilient)
    return failure(EINVAL, "Can not replace a nexthop group with one of a different type");
  if (next.resilient && next.buckets != old.buckets) {
    return failure(EINVAL, "Can not change number of buckets of a resilient nexthop group");
  }
  if (!next.group && next.blackhole && is_in_larger_group(state, next.id)) {
    return failure(EINVAL,
                   "Blackhole nexthop can not be a member of a group with more than one path");
  }
  return {};
}

// The kernel counts on from the id it made up last.
NexthopId unused_id(State& state) {
  do {
    ++state.last_nexthop_id.value;
  } while (!state.last_nexthop_id || find(state, state.last_nexthop_id) != nullptr);
  return state.last_nexthop_id;
}

}  // namespace

Result<void> apply_change(State& state, const NexthopChange& change, TimeNs) {
  const fib::NexthopObject* old = find(state, change.id);
  if (change.verb == NexthopVerb::kDelete) {
    if (old == nullptr) return failure(ENOENT, "No such file or directory");
    remove_nexthop(state, change.id);
    return {};
  }
  auto object = build_object(state, change, change.id);
  if (!object) return std::unexpected(object.error());
  if (old != nullptr) {
    if (change.verb == NexthopVerb::kAdd) return failure(EEXIST, "File exists");
    if (auto checked = check_replacement(state, *old, **object); !checked) return checked;
  } else if (change.resilient && !change.buckets) {
    return failure(EINVAL, "Number of buckets not specified for nexthop group insertion");
  } else if (!change.id) {
    auto numbered = std::make_shared<fib::NexthopObject>(**object);
    numbered->id = unused_id(state);
    object = std::move(numbered);
  }
  replace_nexthop(state, *std::move(object));
  return {};
}

}  // namespace sidestep::lookup
