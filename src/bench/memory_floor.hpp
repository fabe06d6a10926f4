// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "bench/rounds.hpp"

namespace sidestep::bench {

/// What memory itself costs: no lookup in a structure of this size can be faster than one load of it.
struct MemoryFloor {
  Timing independent;  ///< ns per load of a random cache line, prefetched, many at once
  Timing dependent;    ///< ns per load whose address is the result of the load before
};

[[nodiscard]] MemoryFloor measure_memory_floor(std::size_t bytes, std::size_t loads,
                                               unsigned rounds);

}  // namespace sidestep::bench
