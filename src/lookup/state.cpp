// SPDX-License-Identifier: Apache-2.0
#include "lookup/state.hpp"

#include <algorithm>

#include "lookup/planner.hpp"

namespace sidestep::lookup {
namespace {

void destroy_snapshot(rcu::Retirable* object) { delete static_cast<Snapshot*>(object); }

}  // namespace

const fib::Table* Snapshot::find_table(TableId id) const noexcept {
  const auto at = std::lower_bound(
      tables.begin(), tables.end(), id,
      [](const fib::Table* table, TableId wanted) { return table->id() < wanted; });
  return at != tables.end() && (*at)->id() == id ? *at : nullptr;
}

State::State(NeighborOracle neighbors, std::uint64_t multipath_seed)
    : planner_(std::make_unique<Planner>()),
      neighbors_(neighbors),
      multipath_seed_(multipath_seed) {
  sysctls_.all.accept_dad = 0;  // unlike a device's, which is 1
  table(kTableMain);
  table(kTableLocal);
  publish();
}

State::~State() {
  exceptions.clear();  // before the routes that carry them
  delete current_.load(std::memory_order_relaxed);
}  // no reader is left to pair with

fib::Links& State::edit_links() noexcept {
  links_changed_ = true;
  return links_;
}

fib::Sysctls& State::edit_sysctls() noexcept {
  sysctls_changed_ = true;
  return sysctls_;
}

rules::RuleList& State::edit_rules() noexcept {
  rules_changed_ = true;
  return rules_;
}

std::map<NexthopId, std::shared_ptr<const fib::NexthopObject>>& State::edit_nexthops() noexcept {
  nexthops_changed_ = true;
  return nexthops_;
}

fib::Table& State::table(TableId id) {
  auto& slot = tables_[id];
  if (slot == nullptr) {
    slot = std::make_unique<fib::Table>(id);
    slot->set_share_predicate([this](const fib::RouteSlot& route) { return gets_share(route); });
    slot->set_observer([this, table = slot.get()](const net::Prefix& destination) {
      planner_->update(*table, destination);
    });
    tables_changed_ = true;
  }
  return *slot;
}

fib::Table* State::find_table(TableId id) noexcept {
  const auto at = tables_.find(id);
  return at == tables_.end() ? nullptr : at->second.get();
}

void State::for_each_table(const std::function<void(fib::Table&)>& visit) {
  for (auto& [id, table] : tables_) visit(*table);
}

bool State::gets_share(const fib::RouteSlot& slot) const {
  if (slot.dead) return false;
  if (!slot.linkdown) return true;
  const fib::Link* link = links_.find(slot.route->hop(0).device);
  return link == nullptr || !link->conf.ignore_routes_with_linkdown;
}

void State::publish() {
  const Snapshot* old = current_.load(std::memory_order_relaxed);  // only the writer stores
  if (!links_changed_ && !sysctls_changed_ && !rules_changed_ && !nexthops_changed_ &&
      !tables_changed_)
    return;
  auto* next = new Snapshot;
  next->destroy = destroy_snapshot;
  next->links = links_changed_ ? std::make_shared<const fib::Links>(links_) : old->links;
  next->sysctls = sysctls_changed_ ? std::make_shared<const fib::Sysctls>(sysctls_) : old->sysctls;
  // Rules name devices, so they are compiled again when devices change.
  next->rules = rules_changed_ || links_changed_
                    ? std::make_shared<const rules::CompiledRuleList>(rules_, *next->links)
                    : old->rules;
  if (nexthops_changed_) {
    auto list = std::make_shared<NexthopList>();
    for (const auto& [id, object] : nexthops_) list->push_back(object);
    next->nexthops = std::move(list);
  } else {
    next->nexthops = old->nexthops;
  }
  for (const auto& [id, table] : tables_) next->tables.push_back(table.get());
  next->local_table = tables_.at(kTableLocal).get();
  next->main_table = tables_.at(kTableMain).get();
  next->neighbors = neighbors_;
  next->multipath_seed = multipath_seed_;
  compile_plan(*next, old);
  links_changed_ = sysctls_changed_ = rules_changed_ = nexthops_changed_ = tables_changed_ = false;
  // Release: pairs with the acquire in current().
  current_.store(next, std::memory_order_release);
  planner_->drop_unused();
  if (old != nullptr)
    rcu::retire(const_cast<Snapshot*>(old));  // immutable to readers, ours to reclaim
}

// A plan names the rules that it was compiled from, and the tables that there were.
void State::compile_plan(Snapshot& next, const Snapshot* old) {
  const bool same = old != nullptr && next.rules == old->rules && !tables_changed_;
  next.plan = same ? old->plan
                   : planner_->compile(*next.rules, [this](TableId id) { return find_table(id); });
}

}  // namespace sidestep::lookup
