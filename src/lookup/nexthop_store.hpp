// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lookup/state.hpp"

namespace sidestep::lookup {

/// Puts an object in the place of the one with its id; groups it is in and routes that use either follow.
void replace_nexthop(State& state, std::shared_ptr<const fib::NexthopObject> object);
/// Removes an object and the routes that use it. Groups lose it; one that is left without members goes too.
void remove_nexthop(State& state, NexthopId id);
/// Removes every object over a device: the kernel does so when it goes down, loses carrier or is deleted.
void remove_nexthops_over(State& state, IfIndex device);

/// Copies members' hops into a group and computes their shares of the hash space.
[[nodiscard]] std::shared_ptr<const fib::NexthopObject> with_members(const State& state,
                                                                     fib::NexthopObject group);

}  // namespace sidestep::lookup
