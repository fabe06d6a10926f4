// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "forward/pipeline.hpp"

namespace sidestep::forward {

/// Notes what an ICMPv6 message to the router teaches about the way to one destination: a path MTU (Packet Too Big), a better first
/// hop (redirect). Other messages, and those that the kernel does not believe, teach nothing.
/// @param message  with a right checksum, whole
void learn(Pipeline& pipeline, const Transit& transit, std::span<const std::uint8_t> message);

}  // namespace sidestep::forward
