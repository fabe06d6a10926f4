// SPDX-License-Identifier: Apache-2.0
// Running plans.
#include "lookup/plan.hpp"

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

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

/// A block of flows by field, so that a selector is asked about all of them in one loop. A field is laid out when it is first
/// asked for.
class Columns {
 public:
  explicit Columns(std::span<const Flow> flows) : flows_(flows) {}

  /// The flows that pass all of the compares.
  [[nodiscard]] Mask passing(const rules::MaskedSelectors& masked) {
    Mask passing = mask_of(flows_.size());
    const auto word = [&](Field field, const rules::MaskedSelectors::Word& test, auto value_of) {
      if (test.mask != 0) passing &= equal(words(field, value_of), test.mask, test.value);
    };
    word(kIif, masked.iif, [](const Flow& flow) { return flow.iif.value; });
    word(kOif, masked.oif, [](const Flow& flow) { return flow.oif.value; });
    word(kMark, masked.mark, [](const Flow& flow) { return flow.mark; });
    word(kClass, masked.traffic_class,
         [](const Flow& flow) { return std::uint32_t{flow.traffic_class}; });
    word(kLabel, masked.flow_label, [](const Flow& flow) { return flow.flow_label; });
    word(kProtocol, masked.protocol, [](const Flow& flow) { return std::uint32_t{flow.protocol}; });
    for (std::size_t half = 0; half < 2; ++half) {
      if (masked.from.mask[half] != 0)
        passing &= equal(halves(half == 0 ? kSourceFirst : kSourceSecond, &Flow::source, half),
                         masked.from.mask[half], masked.from.value[half]);
      if (masked.to.mask[half] != 0)
        passing &= equal(
            halves(half == 0 ? kDestinationFirst : kDestinationSecond, &Flow::destination, half),
            masked.to.mask[half], masked.to.value[half]);
    }
    if (masked.from.mask[0] != 0) passing &= with_source();
    return passing;
  }

 private:
  enum Field : unsigned { kIif, kOif, kMark, kClass, kLabel, kProtocol, kWordFields };
  enum Half : unsigned {
    kSourceFirst,
    kSourceSecond,
    kDestinationFirst,
    kDestinationSecond,
    kHalves
  };
  using Words = std::array<std::uint32_t, kPlanBatch>;
  using Halves = std::array<std::uint64_t, kPlanBatch>;

  template <typename Values, typename Value>
  [[nodiscard]] Mask equal(const Values& values, Value mask, Value value) const {
    Mask equal = 0;
    for (std::size_t i = 0; i < flows_.size(); ++i) equal |= Mask{(values[i] & mask) == value} << i;
    return equal;
  }
  template <typename ValueOf>
  const Words& words(Field field, ValueOf value_of) {
    if (!std::exchange(has_words_[field], true))
      for (std::size_t i = 0; i < flows_.size(); ++i) words_[field][i] = value_of(flows_[i]);
    return words_[field];
  }
  const Halves& halves(Half which, net::Ipv6Address Flow::* address, std::size_t half) {
    if (!std::exchange(has_halves_[which], true)) {
      for (std::size_t i = 0; i < flows_.size(); ++i)
        std::memcpy(&halves_[which][i], (flows_[i].*address).bytes.data() + half * 8, 8);
    }
    return halves_[which];
  }
  [[nodiscard]] Mask with_source() const {
    Mask with = 0;
    for (std::size_t i = 0; i < flows_.size(); ++i) with |= Mask{flows_[i].has_source} << i;
    return with;
  }

  std::span<const Flow> flows_;
  std::array<bool, kWordFields> has_words_{};
  std::array<bool, kHalves> has_halves_{};
  std::array<Words, kWordFields> words_;
  std::array<Halves, kHalves> halves_;
};

/// The flows of `waiting` that the rule of a step lets in.
Mask matching(const Step& step, std::span<const Flow> flows, Columns& columns, Mask waiting) {
  if (step.rule == nullptr) return waiting;
  if (step.masked) {
    const Mask passing = columns.passing(*step.masked);
    return waiting & (step.rule->rule().invert ? ~passing : passing);
  }
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
              Strictness strictness, std::span<const fib::Dst*> outcomes) {
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
    const Result result = result_of(state, verdict, flows[i], flows[i].iif, strictness);
    outcomes[i] = result.dst;
    if (result.dst != nullptr) __builtin_prefetch(result.dst);
    nothing |= Mask{result.next_step} << i;
  });
  return nothing;
}

}  // namespace

void run_input_plan(const Snapshot& state, std::span<const Flow> flows, Strictness strictness,
                    std::span<const fib::Dst*> outcomes) {
  SIDESTEP_ASSERT(flows.size() <= kPlanBatch && flows.size() == outcomes.size());
  const Mask all = mask_of(flows.size());
  for (auto& outcome : outcomes) outcome = nullptr;
  if (is_for_reference(state, strictness)) return;
  Mask waiting = all;
  for_each_bit(all, [&](std::size_t i) {
    if (needs_strict_interface(flows[i].destination)) waiting &= ~(Mask{1} << i);
  });
  const auto& steps = state.plan->steps;
  Columns columns(flows);
  // Flows that a goto has sent ahead, by the step where they go on.
  std::array<Mask, kStepsAheadMax> ahead{};
  for (std::size_t at = 0; at < steps.size(); ++at) {
    const Step& step = steps[at];
    if (at < ahead.size()) waiting |= ahead[at];
    if (waiting == 0) continue;
    const Mask matched = matching(step, flows, columns, waiting);
    if (matched == 0) continue;
    waiting &= ~matched;
    switch (step.kind) {
      case Step::Kind::kRun:
        waiting |= run_step(state, *step.run, flows, matched, strictness, outcomes);
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
