// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "bench/bits.hpp"

namespace sidestep::bench {

/// SplitMix64: a seed gives the same numbers on every machine, and a number costs a few cycles.
class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) noexcept : state_(seed) {}
  constexpr std::uint64_t next() noexcept {
    std::uint64_t z = (state_ += 0x9e37'79b9'7f4a'7c15);
    z = (z ^ (z >> 30)) * 0xbf58'476d'1ce4'e5b9;
    z = (z ^ (z >> 27)) * 0x94d0'49bb'1331'11eb;
    return z ^ (z >> 31);
  }
  /// 0 … bound - 1, by the upper half of a product.
  constexpr std::uint64_t below(std::uint64_t bound) noexcept {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>(next()) * bound) >> 64);
  }
  /// 0 ≤ … < 1.
  constexpr double fraction() noexcept { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

[[nodiscard]] inline Number random_bits(Random& random) {
  return (Number{random.next()} << 64) | random.next();
}

}  // namespace sidestep::bench
