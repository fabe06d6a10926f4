// SPDX-License-Identifier: Apache-2.0
// Running plans.
#include "lookup/plan.hpp"

#include <array>
#include <bit>
#include <cerrno>

#include <sidestep/assert.hpp>

#include "lookup/state.hpp"
#include "lookup/walk.hpp"

namespace sidestep::lookup {
namespace {

/// What a prefix's verdict comes to for a flow.
struct Result {
  const fib::Dst* dst = nullptr;
  bool next_step = false;  ///< nothing in this run
};

Result result_of_routes(const Snapshot& state, const fib::RouteSet& set, const Flow& flow,
                        IfIndex interface, Strictness strictness) {
  const HopQuery query{state, interface, strictness, flow.now};
  const Selection selection = select_route(query, set);
  if (!selection) return {};
  const Path path = select_path(query, set, selection, flow, false);
  return {.dst = &path.selection.route->dst(path.selection.hop)};
}

Result result_of(const Snapshot& state, Verdict verdict, const Flow& flow, IfIndex interface,
                 Strictness strictness) {
  switch (verdict.kind()) {
    case Verdict::Kind::kNothing:
      return {.next_step = true};
    case Verdict::Kind::kDst:
      return {.dst = &verdict.dst()};
    case Verdict::Kind::kRoutes:
      return result_of_routes(state, verdict.routes(), flow, interface, strictness);
    case Verdict::Kind::kReference:
      break;
  }
  return {};
}

/// Flows whose interface has to match, and hosts that avoid failed neighbors, choose among candidates.
bool is_for_reference(const Snapshot& state, Strictness strictness) noexcept {
  return strictness.interface || (strictness.reachable && state.neighbors.health != nullptr);
}

using Mask = std::uint64_t;

Mask mask_of(std::size_t count) { return count == kPlanBatch ? ~Mask{0} : (Mask{1} << count) - 1; }

template <typename Function>
void for_each_bit(Mask mask, Function function) {
  for (; mask != 0; mask &= mask - 1) function(static_cast<std::size_t>(std::countr_zero(mask)));
}

/// The flows of `waiting` that the rule of a step lets in.
Mask matching(const Step& step, std::span<const Flow> flows, Mask waiting) {
  if (step.rule == nullptr) return waiting;
  Mask matched = 0;
  for_each_bit(waiting, [&](std::size_t i) { matched |= Mask{step.rule->matches(flows[i])} << i; });
  return matched;
}

}  // namespace

const fib::Dst* run_plan(const Snapshot& state, const Flow& flow, IfIndex interface,
                         Strictness strictness) {
  if (is_for_reference(state, strictness)) return nullptr;
  const auto& steps = state.plan->steps;
  for (std::size_t i = 0; i < steps.size();) {
    const Step& step = steps[i++];
    if (step.rule != nullptr && !step.rule->matches(flow)) continue;
    switch (step.kind) {
      case Step::Kind::kRun: {
        const fib::IntervalTrie& trie = step.run->trie;
        const Verdict verdict(trie.value(trie.lookup(flow.destination)));
        const Result result = result_of(state, verdict, flow, interface, strictness);
        if (!result.next_step) return result.dst;
        break;
      }
      case Step::Kind::kAction:
        return step.dst;
      case Step::Kind::kGoto:
        i = step.target;
        break;
      case Step::Kind::kReference:
        return nullptr;
    }
  }
  return &fib::null_dst();
}

namespace {

/// One run for the flows of a mask; gives back those that it has nothing for.
Mask run_step(const Snapshot& state, const Run& run, std::span<const Flow> flows, Mask mask,
              IfIndex Flow::* interface, Strictness strictness,
              std::span<const fib::Dst*> outcomes) {
  std::array<fib::LeafId, kPlanBatch> leaves;
  if (mask == mask_of(flows.size())) {
    run.trie.lookup_batch(&flows.front().destination, sizeof(Flow),
                          std::span(leaves).first(flows.size()));
  } else {
    for_each_bit(mask, [&](std::size_t i) { leaves[i] = run.trie.lookup(flows[i].destination); });
  }
  for_each_bit(mask, [&](std::size_t i) { run.trie.prefetch_value(leaves[i]); });
  Mask nothing = 0;
  for_each_bit(mask, [&](std::size_t i) {
    const Verdict verdict(run.trie.value(leaves[i]));
    const Result result = result_of(state, verdict, flows[i], flows[i].*interface, strictness);
    outcomes[i] = result.dst;
    if (result.dst != nullptr) __builtin_prefetch(result.dst);
    nothing |= Mask{result.next_step} << i;
  });
  return nothing;
}

}  // namespace

void run_plan_batch(const Snapshot& state, std::span<const Flow> flows, IfIndex Flow::* interface,
                    Strictness strictness, std::span<const fib::Dst*> outcomes) {
  SIDESTEP_ASSERT(flows.size() <= kPlanBatch && flows.size() == outcomes.size());
  const Mask all = mask_of(flows.size());
  for (auto& outcome : outcomes) outcome = nullptr;
  if (is_for_reference(state, strictness)) return;
  Mask waiting = all;
  for_each_bit(all, [&](std::size_t i) {
    if (needs_strict_interface(flows[i].destination)) waiting &= ~(Mask{1} << i);
  });
  const auto& steps = state.plan->steps;
  // Flows that a goto has sent ahead, by the step where they go on.
  std::array<Mask, kStepsAheadMax> ahead{};
  for (std::size_t at = 0; at < steps.size(); ++at) {
    const Step& step = steps[at];
    if (at < ahead.size()) waiting |= ahead[at];
    if (waiting == 0) continue;
    const Mask matched = matching(step, flows, waiting);
    if (matched == 0) continue;
    waiting &= ~matched;
    switch (step.kind) {
      case Step::Kind::kRun:
        waiting |= run_step(state, *step.run, flows, matched, interface, strictness, outcomes);
        break;
      case Step::Kind::kAction:
        for_each_bit(matched, [&](std::size_t i) { outcomes[i] = step.dst; });
        break;
      case Step::Kind::kGoto:
        if (step.target < ahead.size()) ahead[step.target] |= matched;
        break;  // farther ahead: the reference
      case Step::Kind::kReference:
        break;
    }
  }
  for_each_bit(waiting, [&](std::size_t i) { outcomes[i] = &fib::null_dst(); });
}

}  // namespace sidestep::lookup
