// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/planb_descent.hpp"

namespace sidestep::bench {
namespace {

struct ScalarRank {
  static std::uint32_t rank(const std::int64_t* node, std::int64_t key) {
    std::uint32_t below = 0;
    for (int i = 0; i < 8; ++i) below += node[i] <= key ? 1 : 0;
    return below;
  }
};

}  // namespace

const PlanbKernel kPlanbScalar = PlanbDescent<ScalarRank>::kernel("scalar");

}  // namespace sidestep::bench
