// SPDX-License-Identifier: Apache-2.0
// What lookups read (Snapshot) and what the writer edits (State).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <sidestep/fib/link.hpp>
#include <sidestep/fib/table.hpp>
#include <sidestep/lookup/fib.hpp>
#include <sidestep/rcu/rcu.hpp>
#include <sidestep/rules/rule_list.hpp>

#include "lookup/exception_store.hpp"

namespace sidestep::lookup {

struct Plan;
class Planner;

using NexthopList = std::vector<std::shared_ptr<const fib::NexthopObject>>;

/// Everything that a lookup reads besides the insides of tables. Immutable; replaced whole.
///
/// Lifetime: until a grace period after its replacement was published
struct Snapshot : rcu::Retirable {
  std::shared_ptr<const fib::Links> links;
  std::shared_ptr<const fib::Sysctls> sysctls;
  std::shared_ptr<const rules::CompiledRuleList> rules;
  std::shared_ptr<const NexthopList> nexthops;
  std::shared_ptr<const Plan> plan;       ///< refers to `rules`
  std::vector<const fib::Table*> tables;  ///< by id; tables live as long as the FIB
  const fib::Table* local_table = nullptr;
  const fib::Table* main_table = nullptr;
  NeighborOracle neighbors;
  std::uint64_t multipath_seed = 0;

  [[nodiscard]] const fib::Table* find_table(TableId id) const noexcept;
  [[nodiscard]] NeighborHealth health(IfIndex device, const net::Ipv6Address& address) const {
    if (neighbors.health == nullptr) return NeighborHealth::kUnknown;
    return neighbors.health(neighbors.context, device, address);
  }
  /// Whether routes over this device are not used while it has no carrier.
  [[nodiscard]] bool ignores_linkdown(IfIndex device) const noexcept {
    const fib::Link* link = links->find(device);
    return link != nullptr && link->conf.ignore_routes_with_linkdown;
  }
};

/// The writer's side: what changes edit, and the one pointer through which readers see it.
///
/// Thread: writer, except current()
class State {
 public:
  State(NeighborOracle neighbors, std::uint64_t multipath_seed);
  ~State();  ///< no reader may be left
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  /// What readers see. Acquire: pairs with the release in publish().
  [[nodiscard]] const Snapshot& current() const noexcept {
    return *current_.load(std::memory_order_acquire);
  }
  /// Makes edits of links, sysctls, rules, nexthops and new tables visible. Edits of a table need no publishing.
  void publish();

  [[nodiscard]] const fib::Links& links() const noexcept { return links_; }
  [[nodiscard]] const fib::Sysctls& sysctls() const noexcept { return sysctls_; }
  [[nodiscard]] const NeighborOracle& neighbors() const noexcept { return neighbors_; }
  [[nodiscard]] std::uint64_t seed() const noexcept { return multipath_seed_; }
  [[nodiscard]] fib::Links& edit_links() noexcept;
  [[nodiscard]] fib::Sysctls& edit_sysctls() noexcept;
  [[nodiscard]] rules::RuleList& edit_rules() noexcept;

  /// The table, made when it is not there.
  fib::Table& table(TableId id);
  [[nodiscard]] fib::Table* find_table(TableId id) noexcept;
  void for_each_table(const std::function<void(fib::Table&)>& visit);

  /// Nexthop objects by id. Edits need publish().
  [[nodiscard]] std::map<NexthopId, std::shared_ptr<const fib::NexthopObject>>&
  edit_nexthops() noexcept;
  [[nodiscard]] const std::map<NexthopId, std::shared_ptr<const fib::NexthopObject>>& nexthops()
      const noexcept {
    return nexthops_;
  }
  std::set<IfIndex> ready_devices{kLoopbackIndex};  ///< up with carrier, now or since they came up
  bool has_vrf_rule = false;                        ///< a VRF was ever made
  ExceptionStore exceptions;
  std::uint64_t last_entry_id = 0;  ///< newest fib::RouteFields::entry_id
  std::atomic<std::uint32_t> sid_counter_count{
      0};                   ///< given away, the newest fib::SidCounterId; alone, pairs with nothing
  TimeNs collection_due{};  ///< 0: nothing has a lifetime
  NexthopId last_nexthop_id{};  ///< newest id that was made up for a nexthop object without one

 private:
  [[nodiscard]] bool gets_share(const fib::RouteSlot& slot) const;
  void compile_plan(Snapshot& next, const Snapshot* old);

  fib::Links links_;
  fib::Sysctls sysctls_;
  rules::RuleList rules_;
  std::unique_ptr<Planner> planner_;  // told by the tables, so it comes before them
  std::map<TableId, std::unique_ptr<fib::Table>> tables_;
  std::map<NexthopId, std::shared_ptr<const fib::NexthopObject>> nexthops_;
  NeighborOracle neighbors_;
  std::uint64_t multipath_seed_;
  bool links_changed_ = true;
  bool sysctls_changed_ = true;
  bool rules_changed_ = true;
  bool nexthops_changed_ = true;
  bool tables_changed_ = true;
  std::atomic<const Snapshot*> current_{nullptr};
};

}  // namespace sidestep::lookup
