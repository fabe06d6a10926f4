// SPDX-License-Identifier: Apache-2.0
#include "fib/route_set.hpp"

#include <algorithm>
#include <cerrno>

namespace sidestep::fib {
namespace {

constexpr std::int32_t kWholeShare = 0x7fffffff;
constexpr std::int32_t kNoShare = -1;

std::uint32_t metric_of(const RouteSlot& slot) { return slot.route->fields().metric; }

// Reject routes sit on the loopback device whatever was written.
IfIndex device_of(const Route& route) {
  return route.is_reject() ? kLoopbackIndex : route->hop.device;
}

bool same_encap(const Nexthop& a, const Nexthop& b) {
  const bool has_a = a.encap != nullptr && !std::holds_alternative<std::monostate>(*a.encap);
  const bool has_b = b.encap != nullptr && !std::holds_alternative<std::monostate>(*b.encap);
  return has_a == has_b && (!has_a || *a.encap == *b.encap);
}

// Whether the kernel takes two routes of one prefix and metric for the same way out. Weight, type, protocol and the
// metrics do not count.
bool is_duplicate(const Route& a, const Route& b) {
  if (a->object != nullptr || b->object != nullptr) {
    return a->object != nullptr && b->object != nullptr && a->object->id == b->object->id;
  }
  const auto gateway_of = [](const Route& route) {
    return route->hop.gateway.value_or(net::Ipv6Address{});
  };
  return device_of(a) == device_of(b) && gateway_of(a) == gateway_of(b) &&
         same_encap(a->hop, b->hop);
}

// The existing route with the lifetime and MTU of the one that was refused.
const Route* refreshed(const Route& existing, const Route& refused) {
  RouteFields fields = existing.fields();
  fields.expires_at = refused->expires_at;
  if (refused->mtu != 0) fields.mtu = refused->mtu;
  return Route::create(std::move(fields));
}

// Index behind the last slot with a metric not above the given one.
std::size_t end_of_metric(const Slots& slots, std::uint32_t metric) {
  const auto end = std::find_if(slots.begin(), slots.end(),
                                [&](const RouteSlot& slot) { return metric_of(slot) > metric; });
  return static_cast<std::size_t>(end - slots.begin());
}

Insertion refused(Slots slots, int code, const char* words) {
  Insertion result;
  result.slots = std::move(slots);
  result.error = Error{code, words};
  return result;
}

Insertion added(const Slots& current, const RouteSlot& fresh) {
  Insertion result;
  result.slots = current;
  const auto at = static_cast<std::ptrdiff_t>(end_of_metric(current, metric_of(fresh)));
  result.slots.insert(result.slots.begin() + at, fresh);
  result.changed = true;
  return result;
}

Insertion plan_add(const Slots& current, const RouteSlot& fresh, InsertFlags flags) {
  for (std::size_t i = 0; i < current.size(); ++i) {
    const Route& existing = *current[i].route;
    if (existing->metric != metric_of(fresh)) continue;
    if (flags.exclusive) return refused(current, EEXIST, "File exists");
    if (!is_duplicate(existing, *fresh.route)) continue;
    Insertion result = refused(current, EEXIST, "File exists");
    if (existing->expires_at) {
      result.slots[i].route = refreshed(existing, *fresh.route);
      result.displaced.push_back(&existing);
      result.changed = true;
    }
    return result;
  }
  return added(current, fresh);
}

// The slot that a replace takes: the first of the metric that is like the new route in being ECMP-capable, else the
// first of the metric; size() when there is none.
std::size_t replaced_by(const Slots& current, const Route& route) {
  std::size_t fallback = current.size();
  for (std::size_t i = 0; i < current.size(); ++i) {
    if (metric_of(current[i]) != route->metric) continue;
    if (current[i].route->is_ecmp_capable() == route.is_ecmp_capable()) return i;
    if (fallback == current.size()) fallback = i;
  }
  return fallback;
}

Insertion plan_replace(const Slots& current, const RouteSlot& fresh, InsertFlags flags) {
  const std::size_t victim = replaced_by(current, *fresh.route);
  if (victim == current.size()) {
    if (flags.create) return added(current, fresh);
    // The kernel has different words for a prefix without any route; ::/0 is never without, its own null entry being there.
    const bool is_root = fresh.route->fields().destination.length() == 0 &&
                         fresh.route->fields().source.length() == 0;
    return refused(current, ENOENT,
                   current.empty() && !is_root ? "Can not replace route - no match found"
                                               : "No such file or directory");
  }
  const auto ring = ring_of(current, victim);
  Insertion result;
  for (std::size_t i = 0; i < current.size(); ++i) {
    const bool gone = i == victim || std::find(ring.begin(), ring.end(), i) != ring.end();
    if (gone) result.displaced.push_back(current[i].route);
    if (i == victim) result.slots.push_back(fresh);
    if (!gone) result.slots.push_back(current[i]);
  }
  result.changed = true;
  return result;
}

// The order of the tests is the kernel's (ip6_route_del): a route with a nexthop object is never asked for its device
// or gateway, and metric 0 or protocol 0 means none was given.
bool matches(const Route& route, const RouteMatch& match) {
  const bool by_object = route->object != nullptr;
  if (by_object && match.nexthop_id && route->object->id != match.nexthop_id) return false;
  if (match.metric.value_or(0) != 0 && *match.metric != route->metric) return false;
  if (match.protocol.value_or(0) != 0 && *match.protocol != route->protocol) return false;
  if (match.type && *match.type != route->type) return false;
  if (by_object) return true;
  if (match.nexthop_id) return false;
  if (match.device && match.device != device_of(route)) return false;
  return !match.gateway || *match.gateway == route->hop.gateway.value_or(net::Ipv6Address{});
}

bool same_ring(const Slots& a, const std::vector<std::size_t>& ring_a, const Slots& b,
               const std::vector<std::size_t>& ring_b) {
  return std::equal(ring_a.begin(), ring_a.end(), ring_b.begin(), ring_b.end(),
                    [&](std::size_t i, std::size_t j) {
                      return a[i].route == b[j].route && a[i].dead == b[j].dead &&
                             a[i].linkdown == b[j].linkdown;
                    });
}

// The ring of a metric, by its first member in `slots`; empty when there is none.
std::vector<std::size_t> ring_of_metric(const Slots& slots, std::uint32_t metric) {
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (metric_of(slots[i]) == metric && slots[i].route->is_ecmp_capable())
      return ring_of(slots, i);
  }
  return {};
}

// Bound of a sibling: round(cumulative weight · 2^31 / total) − 1. Weights 1 and 3: 2^29 − 1 and 2^31 − 1, so hashes
// 0 … 536,870,911 take the first. A ring of one has all; nobody hashes there.
void share_out(Slots& slots, const std::vector<std::size_t>& ring, const SharePredicate& usable) {
  if (ring.size() == 1) {
    slots[ring.front()].upper_bound = kWholeShare;
    return;
  }
  const auto gets_share = [&](const RouteSlot& slot) { return usable ? usable(slot) : !slot.dead; };
  std::uint64_t total = 0;
  for (const auto i : ring) {
    if (gets_share(slots[i])) total += slots[i].route->fields().hop.weight;
  }
  std::uint64_t cumulative = 0;
  for (const auto i : ring) {
    if (!gets_share(slots[i])) {
      slots[i].upper_bound = kNoShare;
      continue;
    }
    cumulative += slots[i].route->fields().hop.weight;
    slots[i].upper_bound = static_cast<std::int32_t>(((cumulative << 31) + total / 2) / total - 1);
  }
}

}  // namespace

std::vector<std::size_t> ring_of(const Slots& slots, std::size_t index) {
  std::vector<std::size_t> ring;
  if (!slots[index].route->is_ecmp_capable()) return ring;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (metric_of(slots[i]) == metric_of(slots[index]) && slots[i].route->is_ecmp_capable())
      ring.push_back(i);
  }
  return ring;
}

Insertion plan_insert(const Slots& current, const Route* route, InsertFlags flags) {
  // EXCL is asked before REPLACE, as in the kernel; iproute2 never sends both.
  const bool replace = flags.replace && !flags.exclusive;
  const RouteSlot fresh{.route = route, .linkdown = flags.linkdown};
  return replace ? plan_replace(current, fresh, flags) : plan_add(current, fresh, flags);
}

std::vector<std::size_t> plan_erase(const Slots& current, const RouteMatch& match) {
  for (std::size_t i = 0; i < current.size(); ++i) {
    const Route& route = *current[i].route;
    if (!matches(route, match)) continue;
    const bool whole_ring = !match.gateway && !match.single_hop && route.is_ecmp_capable();
    return whole_ring ? ring_of(current, i) : std::vector<std::size_t>{i};
  }
  return {};
}

void refresh_shares(Slots& slots, const Slots& before, const SharePredicate& usable) {
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const auto ring = ring_of(slots, i);
    if (ring.empty() || ring.front() != i) continue;  // once per ring
    if (!same_ring(slots, ring, before, ring_of_metric(before, metric_of(slots[i]))))
      share_out(slots, ring, usable);
  }
}

}  // namespace sidestep::fib
