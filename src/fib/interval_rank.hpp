// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace sidestep::fib {

/// Fills the places of a search node behind its last separator.
inline constexpr std::int32_t kSeparatorUnused = std::numeric_limits<std::int32_t>::max();

/// How many of the first fifteen separators (biased by 2^31) are not above `key` (unbiased). Unused separators count when
/// the key is 2^32 - 1, which is why a node repeats its last reference behind them.
///
/// Example: separators 10, 20, unused…; key 9 → 0, key 10 → 1, key 25 → 2.
[[nodiscard]] inline unsigned count_not_above(const std::array<std::int32_t, 16>& separators,
                                              std::uint32_t key) noexcept {
  const auto biased = static_cast<std::int32_t>(key ^ 0x8000'0000U);
#if defined(__SSE2__)
  const __m128i keys = _mm_set1_epi32(biased);
  const auto* lanes = reinterpret_cast<const __m128i*>(separators.data());
  const __m128i above0 = _mm_cmpgt_epi32(_mm_load_si128(lanes), keys);
  const __m128i above1 = _mm_cmpgt_epi32(_mm_load_si128(lanes + 1), keys);
  const __m128i above2 = _mm_cmpgt_epi32(_mm_load_si128(lanes + 2), keys);
  const __m128i above3 = _mm_cmpgt_epi32(_mm_load_si128(lanes + 3), keys);
  // Sixteen words of all ones or zero become sixteen bytes, one bit each; the last lane is no separator.
  const __m128i bytes =
      _mm_packs_epi16(_mm_packs_epi32(above0, above1), _mm_packs_epi32(above2, above3));
  const auto above = static_cast<unsigned>(_mm_movemask_epi8(bytes)) & 0x7fffU;
  // The separators ascend, so the ones above the key are the last: the first of them is the count.
  return static_cast<unsigned>(std::countr_zero(above | 0x8000U));
#else
  unsigned count = 0;
  for (unsigned i = 0; i < 15; ++i) count += separators[i] <= biased ? 1U : 0U;
  return count;
#endif
}

}  // namespace sidestep::fib
