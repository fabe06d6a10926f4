// SPDX-License-Identifier: Apache-2.0
// Random routers for forwarding, and random packets into them, most of them wrong in some way.
#pragma once

#include <string>
#include <vector>

#include "kernel/packet_run.hpp"
#include "kernel/random_config.hpp"

namespace sidestep::kernel {

/// A router with three devices, static neighbors, routes of all kinds, SIDs and rules.
[[nodiscard]] std::vector<std::string> random_forwarding_config(std::uint64_t seed);

/// Frame number `index` (0..63) of a run: each has a source of its own, so that the limits which the kernel keeps per host in real
/// time do not matter.
[[nodiscard]] DeviceFrame random_frame(Dice& dice, unsigned index);

}  // namespace sidestep::kernel
