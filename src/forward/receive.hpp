// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "forward/pipeline.hpp"

namespace sidestep::forward {

/// Validates a packet that came in over `transit.ingress`, in the kernel's order, and counts it. A packet that fails
/// is dropped, or only marked as refused when an error message may have to be sent: messages leave in the order of
/// the packets.
void receive(Pipeline& pipeline, Transit& transit);

/// The first stage: finds the ingress device of every packet that is pending, and receives it.
void receive_batch(Pipeline& pipeline, std::span<Transit> batch);

/// Counts a received packet by its ECN code point (RFC 3168 §5).
/// @param ecn  0..3
void count_ecn(Pipeline& pipeline, std::uint8_t ecn, IfIndex device);

}  // namespace sidestep::forward
