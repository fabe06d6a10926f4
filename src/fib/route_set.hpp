// SPDX-License-Identifier: Apache-2.0
// What the kernel does to one prefix's route list at each request, as functions from slots to slots.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include <sidestep/fib/table.hpp>
#include <sidestep/result.hpp>

namespace sidestep::fib {

using Slots = std::vector<RouteSlot>;
using SharePredicate = std::function<bool(const RouteSlot&)>;

/// What an insertion comes to. `error.code` 0: the new route is in `slots`. EEXIST with `changed`: the route is not, but
/// an existing one was refreshed and `slots` must be stored all the same.
struct Insertion {
  Slots slots;
  std::vector<const Route*> displaced;  ///< to be retired once `slots` is published
  Error error;
  bool changed = false;
};

/// Works out an insertion (kernel: fib6_add_rt2node). `current` is not changed; `route` stays the caller's on an error.
[[nodiscard]] Insertion plan_insert(const Slots& current, const Route* route, InsertFlags flags);

/// Indexes of the slots that a delete takes away, ascending; empty: nothing matches.
[[nodiscard]] std::vector<std::size_t> plan_erase(const Slots& current, const RouteMatch& match);

/// The ring that the slot belongs to: all ECMP-capable slots of its metric, in order. Empty when it is not capable.
[[nodiscard]] std::vector<std::size_t> ring_of(const Slots& slots, std::size_t index);

/// Computes the shares of every ring of `slots` that is not as it was in `before`.
///
/// Rings that did not change keep their shares, even if the predicate would now answer otherwise: the kernel recomputes
/// them at events on their own routes only.
void refresh_shares(Slots& slots, const Slots& before, const SharePredicate& usable);

}  // namespace sidestep::fib
