// SPDX-License-Identifier: Apache-2.0
// The walk of one lookup: rules, tables, prefixes. One code path for packets and for explanations: what is recorded is
// the observer's affair, and the silent one compiles to nothing.
#pragma once

#include <optional>

#include <sidestep/lookup/answer.hpp>
#include <sidestep/lookup/flow.hpp>
#include <sidestep/rules/compiled_rule.hpp>

#include "lookup/select.hpp"
#include "lookup/state.hpp"

namespace sidestep::lookup {

/// A lookup as the rule walk carries it.
struct Query {
  const Snapshot& state;
  const Flow& flow;
  IfIndex interface{};
  Strictness strictness{};
};

/// Observes nothing. Others have the same members; see Recorder in explain.hpp.
struct Silent {
  void rule(const rules::CompiledRule&, const Flow&, bool) {}
  void wired_table(TableId) {}
  void table(TableId) {}
  void prefix(const HopQuery&, const fib::RouteSet&, const Selection&) {}
  void retry_without_reachability() {}
  void path(const Path&) {}
  void table_outcome(const Selection&) {}
  void no_such_table() {}
  void outcome(const char*) {}
  void suppressed_by_length(unsigned, unsigned) {}
  void suppressed_by_group(std::uint32_t) {}
};

/// What a table said. Three things are distinct: nothing here, a throw, and a result (which may be a reject).
struct TableResult {
  Selection selection;
  TableId table{};
  [[nodiscard]] bool found() const noexcept { return static_cast<bool>(selection); }
  [[nodiscard]] const fib::Dst& dst() const noexcept { return selection.route->dst(selection.hop); }
};

/// Destinations whose scope is a link: the interface has to match (kernel: rt6_need_strict).
[[nodiscard]] inline bool needs_strict_interface(const net::Ipv6Address& destination) noexcept {
  return destination.is_multicast() || destination.is_link_local() || destination.is_loopback();
}

/// Longest usable prefix of one table: candidates longest first, each tried by selection (kernel: fib6_table_lookup).
template <typename Observer>
Selection scan_table(const HopQuery& query, const fib::Table& table, const Flow& flow,
                     const fib::RouteSet*& where, Observer& observer) {
  fib::Table::Walk walk(table, flow.destination, flow.source);
  while (const fib::RouteSet* set = walk.next()) {
    const Selection selection = select_route(query, *set);
    observer.prefix(query, *set, selection);
    if (selection) {
      where = set;
      return selection;
    }
  }
  return {};
}

/// One table, with the fallback to unreachable hops and the choice among equal hops (kernel: ip6_pol_route).
template <typename Observer>
TableResult lookup_table(const Query& query, const fib::Table& table, Observer& observer) {
  HopQuery hops{query.state, query.interface, query.strictness, query.flow.now};
  const fib::RouteSet* where = nullptr;
  Selection selection = scan_table(hops, table, query.flow, where, observer);
  if (!selection && hops.strictness.reachable) {
    observer.retry_without_reachability();
    HopQuery any = hops;
    any.strictness.reachable = false;
    selection = scan_table(any, table, query.flow, where, observer);
  }
  if (!selection) return {};
  // The siblings are scored as strictly as the first attempt was.
  const Path path = select_path(hops, *where, selection, query.flow, false);
  observer.path(path);
  return {path.selection, table.id()};
}

/// Whether a rule turns the result down although it would do.
template <typename Observer>
bool is_suppressed(const rules::CompiledRule& rule, const Query& query, const TableResult& result,
                   Observer& observer) {
  const fib::Route& route = *result.selection.route;
  const unsigned length = route->destination.length();
  // As signed numbers: the kernel keeps "no limit" as -1.
  const auto limit = rule.suppress_prefix_length();
  if (limit && static_cast<std::int32_t>(length) <= static_cast<std::int32_t>(*limit)) {
    observer.suppressed_by_length(length, *limit);
    return true;
  }
  // The group is that of the hop's own device, also where the destination's is the loopback (local routes).
  const auto group = rule.suppress_ifgroup();
  if (!group || *group == 0xffff'ffff) return false;
  const fib::Link* link = query.state.links->find(route.hop(result.selection.hop).device);
  if (link == nullptr || link->group != *group) return false;
  observer.suppressed_by_group(*group);
  return true;
}

/// The answer for a table's result. Takes no reference on anything.
[[nodiscard]] inline Answer make_answer(const TableResult& result, const Flow& flow) {
  const fib::Dst& dst = result.dst();
  return {fib::BorrowedDst(dst), dst->has_gateway ? dst->gateway : flow.destination, result.table};
}
[[nodiscard]] inline Answer make_answer(const fib::Dst& dst, const Flow& flow) {
  return {fib::BorrowedDst(dst), flow.destination, TableId{}};
}

/// One `lookup` action: an answer that ends the walk, or empty to continue.
template <typename Observer>
std::optional<TableResult> run_table_action(const Query& query, const fib::Table* table, TableId id,
                                            const rules::CompiledRule* rule, Observer& observer) {
  observer.table(id);
  if (table == nullptr) {
    observer.no_such_table();
    observer.outcome("continue: no such table");
    return std::nullopt;
  }
  const TableResult result = lookup_table(query, *table, observer);
  observer.table_outcome(result.selection);
  if (!result.found()) {
    observer.outcome("continue: nothing found");
    return std::nullopt;
  }
  const int error = result.dst()->error;
  if (error == EAGAIN) {
    observer.outcome("continue: throw");
    return std::nullopt;
  }
  // Suppressors look at routes that would be used; a reject is never suppressed.
  if (error == 0 && rule != nullptr && is_suppressed(*rule, query, result, observer))
    return std::nullopt;
  observer.outcome(error == 0 ? "stop: route found" : "stop: reject route");
  return result;
}

/// Until a rule is added, lookups are wired to local, then main, whatever rules were deleted.
template <typename Observer>
Answer walk_wired(const Query& query, Observer& observer) {
  for (const fib::Table* table : {query.state.local_table, query.state.main_table}) {
    observer.wired_table(table->id());
    if (const auto result = run_table_action(query, table, table->id(), nullptr, observer)) {
      return make_answer(*result, query.flow);
    }
  }
  return make_answer(fib::null_dst(), query.flow);
}

/// The destination of a rule action that ends the walk by itself.
[[nodiscard]] inline const fib::Dst* dst_of_action(rules::Action action) noexcept {
  switch (action) {
    case rules::Action::kUnreachable:
      return &fib::null_dst();
    case rules::Action::kProhibit:
      return &fib::prohibit_dst();
    case rules::Action::kBlackhole:
      return &fib::blackhole_dst();
    default:
      return nullptr;
  }
}

/// All rules in order (kernel: fib_rules_lookup).
template <typename Observer>
Answer walk_rules(const Query& query, Observer& observer) {
  const rules::CompiledRuleList& list = *query.state.rules;
  if (!list.custom()) return walk_wired(query, observer);
  const auto all = list.rules();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const rules::CompiledRule* rule = &all[i];
    bool matched = rule->matches(query.flow);
    observer.rule(*rule, query.flow, matched);
    // A goto goes forward only, and its target's selectors are asked again.
    while (matched && rule->action() == rules::Action::kGoto && rule->goto_index()) {
      observer.outcome("continue: goto");
      i = *rule->goto_index();
      rule = &all[i];
      matched = rule->matches(query.flow);
      observer.rule(*rule, query.flow, matched);
    }
    if (!matched) continue;
    if (const fib::Dst* dst = dst_of_action(rule->action())) {
      observer.outcome("stop: action of the rule");
      return make_answer(*dst, query.flow);
    }
    if (rule->action() != rules::Action::kToTable) {
      observer.outcome(rule->action() == rules::Action::kNop ? "continue: nop"
                                                             : "continue: no rule to go to");
      continue;
    }
    const TableId id = rule->table(query.flow);
    if (const auto result =
            run_table_action(query, query.state.find_table(id), id, rule, observer)) {
      return make_answer(*result, query.flow);
    }
  }
  return make_answer(fib::null_dst(), query.flow);
}

}  // namespace sidestep::lookup
