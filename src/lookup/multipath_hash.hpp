// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <sidestep/lookup/flow.hpp>

#include "lookup/state.hpp"

namespace sidestep::lookup {

/// The hash that spreads a flow over equal-cost hops: 31 bits, never 0. Which fields it covers is
/// net.ipv6.fib_multipath_hash_policy's to say.
/// @param inner  the flow that this one carries (tunnels), for the inner fields of policy 3; nullptr: none
[[nodiscard]] std::uint32_t multipath_hash(const Snapshot& state, const Flow& flow,
                                           const Flow* inner = nullptr) noexcept;

}  // namespace sidestep::lookup
