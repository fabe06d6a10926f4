// SPDX-License-Identifier: Apache-2.0
#include "lookup/recorder.hpp"

#include <cerrno>

#include <fmt/format.h>

namespace sidestep::lookup {
namespace {

const char* words_of(PathReason reason) {
  switch (reason) {
    case PathReason::kOnlyHop:
      return "the only hop that selection left";
    case PathReason::kRingShare:
      return "the flow's hash falls into its share of the multipath ring";
    case PathReason::kRingKeptChoice:
      return "the flow's hash names a sibling that is not usable here, so selection's first choice "
             "stays";
    case PathReason::kGroupShare:
      return "the flow's hash falls into its share of the nexthop group";
    case PathReason::kGroupFirstGood:
      return "the first group member with a good neighbor; none is at the flow's hash";
    case PathReason::kGroupFirst:
      return "the first group member; no member has a good neighbor";
    case PathReason::kGroupBucket:
      return "the flow's bucket of the resilient nexthop group";
    case PathReason::kObject:
      return "the hop of the nexthop object";
  }
  return "";
}

std::string describe_hop(const Snapshot& state, const fib::Route& route, std::size_t index) {
  if (route.is_reject()) return "no hop: a reject route";
  if (route->object != nullptr && route->object->blackhole)
    return "no hop: a blackhole nexthop object";
  const fib::Nexthop& hop = route.hop(index);
  const std::string via = hop.gateway ? fmt::format("via {} ", hop.gateway->to_string()) : "";
  return fmt::format("{}dev {}", via, state.links->name(hop.device));
}

std::string why_slot_is_unusable(const HopQuery& query, const fib::RouteSlot& slot) {
  const fib::Route& route = *slot.route;
  if (route.is_expired(query.now)) return "expired";
  if (slot.dead) return "its device is down";
  if (slot.linkdown && query.state.ignores_linkdown(route.hop(0).device))
    return "its device has no carrier";
  switch (score_hop(query, route, 0)) {
    case kScoreHardFail:
      return "it leaves by another interface, and the destination is bound to one";
    case kScoreFailedNeighbor:
      return "its gateway's neighbor entry has failed";
    default:
      return "not chosen";
  }
}

std::string why_set_is_unusable(const HopQuery& query, const fib::RouteSet& set) {
  std::string text = "passed over:";
  for (const auto& slot : set.slots) {
    text += fmt::format(" [{}: {}]", describe_hop(query.state, *slot.route, 0),
                        why_slot_is_unusable(query, slot));
  }
  return text;
}

}  // namespace

Recorder::Recorder(const Snapshot& state, Explanation& explanation)
    : state_(state), explanation_(explanation) {
  explanation_ = {};
  explanation_.custom_rules = state.rules->custom();
  explanation_.nexthop = "none: no table had a route that is used";
}

void Recorder::rule(const rules::CompiledRule& rule, const Flow& flow, bool matched) {
  RuleStep& step = explanation_.rules.emplace_back();
  step.preference = rule.preference();
  step.matched = matched;
  step.reason = rule.reason(flow);
  if (!matched) step.outcome = "continue: does not match";
}

void Recorder::wired_table(TableId table) {
  RuleStep& step = explanation_.rules.emplace_back();
  step.preference = table == kTableLocal ? 0 : 32766;
  step.matched = true;
  step.reason = "wired in until a rule is added: table local, then table main";
}

void Recorder::table(TableId table) {
  explanation_.rules.back().tables.emplace_back().table = table;
}

void Recorder::prefix(const HopQuery& query, const fib::RouteSet& set, const Selection& selection) {
  if (set.slots.empty()) return;
  PrefixStep& step = explanation_.rules.back().tables.back().prefixes.emplace_back();
  const fib::RouteFields& fields = set.slots.front().route->fields();
  step.destination = fields.destination;
  step.source = fields.source;
  step.outcome = selection ? fmt::format("used: {}, metric {}",
                                         describe_hop(state_, *selection.route, selection.hop),
                                         selection.route->fields().metric)
                           : why_set_is_unusable(query, set);
}

void Recorder::retry_without_reachability() {
  PrefixStep& step = explanation_.rules.back().tables.back().prefixes.emplace_back();
  step.outcome =
      "nothing reachable: once more, failed neighbors allowed (this router does not forward)";
}

void Recorder::path(const Path& path) {
  explanation_.nexthop =
      fmt::format("{}: {}", describe_hop(state_, *path.selection.route, path.selection.hop),
                  words_of(path.reason));
}

void Recorder::exception(const fib::Route& exception) {
  const bool redirected = exception->exception == fib::ExceptionKind::kRedirect;
  explanation_.nexthop +=
      redirected
          ? fmt::format("; overridden for this destination by a redirect: {}",
                        describe_hop(state_, exception, 0))
          : fmt::format("; overridden for this destination by a path MTU of {}", exception->mtu);
}

void Recorder::table_outcome(const Selection& selection) {
  TableStep& step = explanation_.rules.back().tables.back();
  if (!selection) {
    step.outcome = step.prefixes.empty() ? "nothing: no prefix covers the destination"
                                         : "nothing: no prefix is usable";
    return;
  }
  const int error = selection.route->dst(selection.hop)->error;
  const std::string prefix = selection.route->fields().destination.to_string();
  if (error == EAGAIN) {
    step.outcome = fmt::format("throw: {}", prefix);
  } else {
    step.outcome = fmt::format("{}: {}", error == 0 ? "route" : "reject", prefix);
  }
}

void Recorder::no_such_table() {
  explanation_.rules.back().tables.back().outcome = "no such table";
}

void Recorder::outcome(const char* words) { explanation_.rules.back().outcome = words; }

void Recorder::suppressed_by_length(unsigned length, unsigned limit) {
  explanation_.rules.back().outcome =
      fmt::format("suppressed: prefix length {} is not above {}", length, limit);
}

void Recorder::suppressed_by_group(std::uint32_t group) {
  explanation_.rules.back().outcome = fmt::format("suppressed: the device is in group {}", group);
}

void Recorder::finish(const fib::Dst& dst) {
  switch (dst.ownership()) {
    case fib::DstClass::kStatic:
      explanation_.nexthop = "none: nothing was found, or a rule said so";
      explanation_.ownership = "static: immortal, has no counter; holding it costs nothing";
      break;
    case fib::DstClass::kRoute:
      explanation_.ownership = fmt::format(
          "borrowed from its route: no reference was taken on it or on anything passed over "
          "(owners now: {}); "
          "keeping it beyond the batch costs one reference, which a dying route may refuse",
          dst.owner_count());
      break;
    case fib::DstClass::kUncached:
      explanation_.ownership =
          "uncached: made for one use, always owned, freed by its last release";
      break;
  }
}

}  // namespace sidestep::lookup
