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
  void exception(const fib::Route&) {}
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
  const fib::Route* exception = nullptr;  ///< overrides the selection for this destination
  [[nodiscard]] bool found() const noexcept { return static_cast<bool>(selection); }
  [[nodiscard]] const fib::Dst& dst() const noexcept {
    return exception != nullptr ? exception->dst(0) : selection.route->dst(selection.hop);
  }
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
  const fib::Route* exception = find_exception(path.selection, query.flow);
  if (exception != nullptr) observer.exception(*exception);
  return {path.selection, table.id(), exception};
}

/// Whether a rule turns the result down although it would do.
template <typename Observer>
bool is_suppressed(const rules::CompiledRule& rule, const Query& query, const TableResult& result,
                   Observer& observer) {
  const fib::Route& route = *result.selection.route;
  // An exception is a /128: to this rule a destination with a path MTU of its own is no default route's any more.
  const bool as_host =
      result.exception != nullptr && query.state.sysctls->exceptions_defeat_suppression;
  const unsigned length = as_host ? net::Prefix::kMaxLength : route->destination.length();
  // As signed numbers: the kernel keeps "no limit" as -1.
  const auto limit = rule.suppress_prefix_length();
  if (limit && static_cast<std::int32_t>(length) <= static_cast<std::int32_t>(*limit)) {
    observer.suppressed_by_length(length, *limit);
    return true;
  }
  // The group is that of the hop's own device, also where the destination's is the loopback (local routes).
  const auto group = rule.suppress_ifgroup();
  if (!group) return false;
  const fib::Link* link = query.state.links->find(route.hop(result.selection.hop).device);
  if (link == nullptr || link->group != *group) return false;
  observer.suppressed_by_group(*group);
  return true;
}

/// The answer that is a destination; a static one belongs to no table. Takes no reference on anything.
[[nodiscard]] inline Answer make_answer(const fib::Dst& dst, const Flow& flow) {
  const fib::Route* const route = dst.route();
  return {fib::BorrowedDst(dst), dst->has_gateway ? dst->gateway : flow.destination,
          route == nullptr ? TableId{} : route->fields().table};
}
[[nodiscard]] inline Answer make_answer(const TableResult& result, const Flow& flow) {
  return make_answer(result.dst(), flow);
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

/// Where a walk ended: with a table's result, or with a static destination.
struct WalkResult {
  TableResult result{};
  const fib::Dst* action = nullptr;  ///< when there is no result
};
[[nodiscard]] inline Answer make_answer(const WalkResult& walked, const Flow& flow) {
  return walked.action == nullptr ? make_answer(walked.result, flow)
                                  : make_answer(*walked.action, flow);
}

/// Until a rule is added, lookups are wired to local, then main, whatever rules were deleted.
template <typename Observer>
WalkResult walk_wired(const Query& query, Observer& observer) {
  for (const fib::Table* table : {query.state.local_table, query.state.main_table}) {
    observer.wired_table(table->id());
    if (const auto result = run_table_action(query, table, table->id(), nullptr, observer)) {
      return {.result = *result};
    }
  }
  return {.action = &fib::null_dst()};
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
WalkResult walk_rules_to_result(const Query& query, Observer& observer) {
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
      return {.action = dst};
    }
    if (rule->action() != rules::Action::kToTable) {
      observer.outcome(rule->action() == rules::Action::kNop ? "continue: nop"
                                                             : "continue: no rule to go to");
      continue;
    }
    const TableId id = rule->table(query.flow);
    if (const auto result =
            run_table_action(query, query.state.find_table(id), id, rule, observer)) {
      return {.result = *result};
    }
  }
  return {.action = &fib::null_dst()};
}
template <typename Observer>
Answer walk_rules(const Query& query, Observer& observer) {
  return make_answer(walk_rules_to_result(query, observer), query.flow);
}

/// The VRF whose table alone is asked for what stays on a link of one of its members (kernel: l3mdev_link_scope_lookup).
[[nodiscard]] inline const fib::Link* link_scope_vrf(const Snapshot& state, const Flow& flow) {
  const bool stays = flow.destination.is_multicast() || flow.destination.is_link_local();
  return stays && flow.oif ? state.links->vrf_of(flow.oif) : nullptr;
}

/// Link-scope output in a VRF. The VRF's own device has no link, hence nothing to find.
template <typename Observer>
WalkResult walk_link_scope(const Query& query, const fib::Link& vrf, Observer& observer) {
  const fib::Table* table = query.state.find_table(*vrf.vrf_table);
  if (table == nullptr || vrf.index == query.flow.oif) return {.action = &fib::null_dst()};
  observer.wired_table(table->id());
  observer.table(table->id());
  const TableResult result = lookup_table(query, *table, observer);
  observer.table_outcome(result.selection);
  if (!result.found()) return {.action = &fib::null_dst()};
  return {.result = result};
}

/// The interface that an output lookup prefers: a VRF as output device chooses the table, not a hop.
[[nodiscard]] inline IfIndex output_interface(const Snapshot& state, const Flow& flow) {
  const fib::Link* device = flow.oif ? state.links->find(flow.oif) : nullptr;
  return device != nullptr && device->vrf_table ? IfIndex{} : flow.oif;
}

[[nodiscard]] inline Strictness output_strictness(const Snapshot& state, const Flow& flow) {
  const bool bound = flow.oif && !flow.has_source;
  return {.interface = bound || needs_strict_interface(flow.destination),
          .reachable = !state.sysctls->all.forwarding};
}

/// Output: the whole lookup of a locally generated packet, whose iif is lo (kernel: ip6_route_output_flags).
template <typename Observer>
WalkResult find_output(const Snapshot& state, const Flow& flow, Observer& observer) {
  const Strictness strictness = output_strictness(state, flow);
  if (const fib::Link* vrf = link_scope_vrf(state, flow)) {
    const Strictness on_link{.interface = true, .reachable = strictness.reachable};
    return walk_link_scope(Query{state, flow, flow.oif, on_link}, *vrf, observer);
  }
  return walk_rules_to_result(Query{state, flow, output_interface(state, flow), strictness},
                              observer);
}

}  // namespace sidestep::lookup
