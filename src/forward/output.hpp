// SPDX-License-Identifier: Apache-2.0
// The last stage: what is sent leaves through here, whether it was received or is the router's own.
#pragma once

#include "forward/pipeline.hpp"

namespace sidestep::forward {

/// The device whose counters a destination moves (kernel: the dst's idev).
[[nodiscard]] IfIndex charged_device(const fib::Dst& dst, IfIndex fallback) noexcept;

/// Sends a forwarded packet along its destination, or drops it (kernel: ip6_output and ip6_finish_output2).
void output(Pipeline& pipeline, Transit& transit);

/// The same for a packet of the router's own. What is for the router itself is looped back and delivered.
void output_own(Pipeline& pipeline, packet::Packet& packet, net::Ipv6Address neighbor_key);

}  // namespace sidestep::forward
