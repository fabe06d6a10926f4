// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kernel/our_router.hpp"
#include "kernel/packet_run.hpp"

namespace sidestep::kernel {

/// Heading of docs/kernel-differences.md that covers a difference; empty: none does.
///
/// @param frame  what was sent in
/// @param router  ours, as configured
[[nodiscard]] std::string explanation_of(const DeviceFrame& frame, const PacketOutcome& kernel,
                                         const PacketOutcome& ours, const OurRouter& router);

}  // namespace sidestep::kernel
