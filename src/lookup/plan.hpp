// SPDX-License-Identifier: Apache-2.0
// The rule list as lookups run it: compiled at each change of the rules, kept up to date at each change of a route.
//
// Consecutive rules that match every packet and look up a table are one step, a Run: all their tables merged into one trie
// whose prefixes say at once which table answers and with what. Rules with selectors, and actions that end the walk, are
// steps of their own. What a run cannot say at once (source-specific routes, several candidates that all fail) is left
// to the reference walk, flow by flow, so that the two never disagree.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <sidestep/fib/table.hpp>
#include <sidestep/lookup/answer.hpp>
#include <sidestep/lookup/flow.hpp>
#include <sidestep/rules/rule_list.hpp>

#include "fib/interval_trie.hpp"
#include "lookup/select.hpp"

namespace sidestep::lookup {

/// What a prefix of a run says. One word, so that it is replaced by one store.
class Verdict {
 public:
  enum class Kind : std::uint8_t {
    kNothing = 0,    ///< no table of the run has anything to say: the next step
    kDst = 1,        ///< this destination, whatever the flow
    kRoutes = 2,     ///< one of these routes, by the flow; if none is usable, ask the reference
    kReference = 3,  ///< ask the reference
  };
  constexpr Verdict() noexcept = default;
  explicit Verdict(fib::LeafValue word) noexcept : word_(word) {}
  static Verdict of(const fib::Dst& dst) noexcept { return Verdict(address_of(&dst) | 1U); }
  static Verdict of(const fib::RouteSet& set) noexcept { return Verdict(address_of(&set) | 2U); }
  static Verdict reference() noexcept { return Verdict(fib::LeafValue{3}); }

  [[nodiscard]] Kind kind() const noexcept { return static_cast<Kind>(word_ & kKindMask); }
  [[nodiscard]] const fib::Dst& dst() const noexcept {
    return *reinterpret_cast<const fib::Dst*>(word_ & ~kKindMask);
  }
  [[nodiscard]] const fib::RouteSet& routes() const noexcept {
    return *reinterpret_cast<const fib::RouteSet*>(word_ & ~kKindMask);
  }
  [[nodiscard]] fib::LeafValue word() const noexcept { return word_; }

 private:
  static constexpr fib::LeafValue kKindMask = 3;
  static fib::LeafValue address_of(const void* object) noexcept {
    return reinterpret_cast<fib::LeafValue>(object);
  }
  fib::LeafValue word_ = 0;
};
static_assert(alignof(fib::Dst) >= 4 && alignof(fib::RouteSet) >= 4);

/// Tables that are looked up one after the other, as one trie.
///
/// Lifetime: the planner's; retired through a grace period after the last plan that names it
struct Run : rcu::Retirable {
  struct Member {
    const fib::Table* table = nullptr;
    std::int32_t suppress_prefix_length =
        -1;  ///< results of at most this length do not count; -1: all count
    bool operator==(const Member&) const = default;
  };
  explicit Run(std::shared_ptr<fib::TriePools> pools) : trie(std::move(pools)) {}

  std::vector<Member> members;
  fib::IntervalTrie trie;
};

/// One step of a plan.
struct Step {
  enum class Kind : std::uint8_t { kRun, kAction, kGoto, kReference };
  Kind kind = Kind::kRun;
  const rules::CompiledRule* rule = nullptr;  ///< whose selectors decide; nullptr: every flow
  std::optional<rules::MaskedSelectors>
      masked{};                   ///< the same for many flows, if it can be said so
  const Run* run = nullptr;       ///< kRun
  const fib::Dst* dst = nullptr;  ///< kAction: where it ends
  std::size_t target = 0;         ///< kGoto: index of a later step
};

/// Immutable; part of a Snapshot.
struct Plan {
  std::vector<Step> steps;
};

struct Snapshot;

/// Runs the plan for one flow.
/// @param interface  iif on input, oif on output
/// @return           nullptr: ask the reference
[[nodiscard]] const fib::Dst* run_plan(const Snapshot& state, const Flow& flow, IfIndex interface,
                                       Strictness strictness);

inline constexpr std::size_t kPlanBatch = 64;
/// How far a goto may lead in a batch; lists with more steps are for the reference where a goto leads beyond.
inline constexpr std::size_t kStepsAheadMax = 64;

/// Runs the plan for at most kPlanBatch received flows.
/// @param outcomes  parallel to flows; nullptr where the reference has to be asked
void run_input_plan(const Snapshot& state, std::span<const Flow> flows, Strictness strictness,
                    std::span<const fib::Dst*> outcomes);

}  // namespace sidestep::lookup
