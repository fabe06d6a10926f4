// SPDX-License-Identifier: Apache-2.0
// Which route of a prefix, and which of its hops (kernel: rt6_select, fib6_select_path).
#pragma once

#include <cstddef>

#include <sidestep/fib/table.hpp>
#include <sidestep/lookup/flow.hpp>

#include "lookup/state.hpp"

namespace sidestep::lookup {

/// What one lookup asks of hops.
struct HopQuery {
  const Snapshot& state;
  IfIndex interface{};  ///< iif on input, oif on output; none: no preference
  Strictness strictness{};
  TimeNs now{};
};

/// A route and the hop of it that was chosen; empty when nothing was usable.
struct Selection {
  const fib::Route* route = nullptr;
  std::size_t hop = 0;
  [[nodiscard]] explicit operator bool() const noexcept { return route != nullptr; }
};

/// Scores of hops. Anything from 0 on is usable; a larger one is better.
inline constexpr int kScoreHardFail = -3;  ///< wrong interface where it must match
inline constexpr int kScoreFailedNeighbor = -2;

/// How well a hop of a route suits (kernel: rt6_score_route).
[[nodiscard]] int score_hop(const HopQuery& query, const fib::Route& route, std::size_t hop);

/// The route of a prefix that its metric order, state and score make the first choice.
[[nodiscard]] Selection select_route(const HopQuery& query, const fib::RouteSet& set);

/// Why select_path chose its hop.
enum class PathReason : std::uint8_t {
  kOnlyHop,
  kRingShare,       ///< the flow's hash fell into the hop's share
  kRingKeptChoice,  ///< the hash named a hop that is not usable here, so the first choice stays
  kGroupShare,
  kGroupFirstGood,  ///< no good neighbor at or after the hash
  kGroupFirst,      ///< no good neighbor at all
  kGroupBucket,
  kObject,
};

/// A selection moved along its ring or nexthop group by the flow's hash.
struct Path {
  Selection selection;
  PathReason reason = PathReason::kOnlyHop;
};
/// @param pinned  the output interface has decided already (gateway validation): rings are not hashed
[[nodiscard]] Path select_path(const HopQuery& query, const fib::RouteSet& set, Selection selected,
                               const Flow& flow, bool pinned);

/// What overrides the chosen hop for this flow's destination and is not over yet; nullptr: nothing.
[[nodiscard]] const fib::Route* find_exception(Selection selection, const Flow& flow);

}  // namespace sidestep::lookup
