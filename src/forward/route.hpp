// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "forward/flow_key.hpp"
#include "forward/pipeline.hpp"
#include "srv6/wanted.hpp"

namespace sidestep::forward {

/// Looks a packet's destination up (kernel: ip6_route_input) and attaches what was found, borrowed.
/// @return  false when the packet has used up its lookups on this node and was dropped
[[nodiscard]] bool route(Pipeline& pipeline, Transit& transit, KeyDepth depth);

/// The same for what SRv6 wants: another address, an output device, or one table alone.
[[nodiscard]] bool route_wanted(Pipeline& pipeline, Transit& transit, const srv6::Wanted& wanted);

/// The second stage: the first lookup of every packet that is pending.
void route_batch(Pipeline& pipeline, std::span<Transit> batch);

/// Runs the input functions of a packet's destination, and of each that these lead to, until it has a verdict.
void run_input(Pipeline& pipeline, Transit& transit);

/// True when the destination is one of the router's own addresses, or what the kernel takes for one: free of error,
/// and its device is the loopback device.
[[nodiscard]] bool leads_to_loopback(const fib::Dst& dst) noexcept;

/// The device that a destination's route was made for; deliveries are counted there. `fallback` when it has no route.
[[nodiscard]] IfIndex owner_of(const fib::Dst& dst, IfIndex fallback) noexcept;

}  // namespace sidestep::forward
