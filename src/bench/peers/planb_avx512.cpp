// SPDX-License-Identifier: Apache-2.0
// Compiled for AVX-512, and run only where that is.
#include <immintrin.h>

#include "bench/peers/planb_descent.hpp"

namespace sidestep::bench {
namespace {

struct Avx512Rank {
  static std::uint32_t rank(const std::int64_t* node, std::int64_t key) {
    const __mmask8 below = _mm512_cmple_epi64_mask(_mm512_load_si512(node), _mm512_set1_epi64(key));
    return static_cast<std::uint32_t>(_mm_popcnt_u32(below));
  }
};

}  // namespace

const PlanbKernel kPlanbAvx512 = PlanbDescent<Avx512Rank>::kernel("AVX-512");

}  // namespace sidestep::bench
