// SPDX-License-Identifier: Apache-2.0
// Random segment routers, and packets for them: valid ones of every kind, most of them then changed in a few bytes.
#pragma once

#include <string>
#include <vector>

#include "kernel/packet_run.hpp"
#include "kernel/random_config.hpp"

namespace sidestep::kernel {

/// A router with every endpoint behavior and headend that takes IPv6 or Ethernet, in random variants, and HMAC keys.
[[nodiscard]] std::vector<std::string> random_srv6_config(std::uint64_t seed);

/// A frame for such a router.
[[nodiscard]] DeviceFrame random_srv6_frame(Dice& dice);

}  // namespace sidestep::kernel
