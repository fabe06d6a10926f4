// SPDX-License-Identifier: Apache-2.0
// Compiled for AVX2, and run only where that is.
#include <immintrin.h>

#include "bench/peers/planb_descent.hpp"

namespace sidestep::bench {
namespace {

struct Avx2Rank {
  static std::uint32_t rank(const std::int64_t* node, std::int64_t key) {
    const __m256i wanted = _mm256_set1_epi64x(key);
    const auto* halves = reinterpret_cast<const __m256i*>(node);
    const __m256i above_low = _mm256_cmpgt_epi64(_mm256_load_si256(halves), wanted);
    const __m256i above_high = _mm256_cmpgt_epi64(_mm256_load_si256(halves + 1), wanted);
    // Packed to 32 bits each; the order is lost, the number is not: four bits of the mask per separator.
    const int mask = _mm256_movemask_epi8(_mm256_packs_epi32(above_low, above_high));
    return 8 - (static_cast<std::uint32_t>(_mm_popcnt_u32(static_cast<unsigned>(mask))) >> 2);
  }
};

}  // namespace

const PlanbKernel kPlanbAvx2 = PlanbDescent<Avx2Rank>::kernel("AVX2");

}  // namespace sidestep::bench
