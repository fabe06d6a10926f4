// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <sidestep/net/prefix.hpp>

#include "bench/contender.hpp"

namespace sidestep::bench {

/// DPDK's two IPv6 tables: `rte_fib6` with 4-byte entries, scalar and AVX-512, and `rte_lpm6`. Whoever cannot take part is
/// named with the reason: DPDK was not there when this was built, or this processor has no AVX-512.
struct DpdkPeers {
  Contenders present;
  std::vector<Absent> absent;
};
[[nodiscard]] DpdkPeers make_dpdk_peers(std::span<const net::Prefix> prefixes, std::size_t burst);

inline constexpr const char* kFib6Scalar = "rte_fib6, scalar";
inline constexpr const char* kFib6Avx512 = "rte_fib6, AVX-512";
inline constexpr const char* kLpm6 = "rte_lpm6";

}  // namespace sidestep::bench
