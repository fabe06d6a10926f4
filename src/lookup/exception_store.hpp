// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include <sidestep/fib/exceptions.hpp>
#include <sidestep/fib/route.hpp>

namespace sidestep::lookup {

class State;

/// The writer's list of what has exceptions, so that they can be found again: to age, to follow a device's MTU, and to go
/// with their route.
///
/// Thread: writer
class ExceptionStore {
 public:
  /// Publishes an exception to one hop of a route; it replaces the one that is there for its addresses. The first of a hop
  /// rewrites the route (or the routes of the nexthop object) in place.
  void add(State& state, const fib::Route& route, std::size_t hop, fib::RouteFields exception);
  /// Removes the exceptions of routes that are no longer in their tables (kernel: with the entry), and of nexthop objects that were
  /// replaced. Cheap when there are none at all.
  void drop_orphans(State& state);
  /// Removes what is expired, and what leads to a neighbor that is not a router. Afterwards routes without exceptions are
  /// plain again.
  void collect(State& state, TimeNs now);
  /// Removes those through a gateway; no device: on any.
  void erase_via(IfIndex device, const net::Ipv6Address& gateway);
  /// Lowers MTUs above the device's new one, and raises those that were its old one.
  void device_mtu_changed(State& state, IfIndex device, std::uint32_t before);
  void clear();
  [[nodiscard]] bool empty() const noexcept { return origins_.empty(); }

 private:
  /// A table entry, with the hop of it that has exceptions. Those of a nexthop object's hop know by entry_id whose they are.
  struct Origin {
    TableId table{};
    net::Prefix destination{};
    net::Prefix source{};
    NexthopId object{};  ///< the single object whose hop it is; 0: the route's own
    std::shared_ptr<fib::HopExceptions> hop{};
  };
  using Key = std::pair<std::uint64_t, const fib::HopExceptions*>;

  static void attach(State& state, const Origin& origin, std::uint64_t entry_id,
                     std::shared_ptr<fib::HopExceptions> exceptions);
  static bool is_published(State& state, const Key& key, const Origin& origin);

  std::map<Key, Origin> origins_;
};

}  // namespace sidestep::lookup
