// SPDX-License-Identifier: Apache-2.0
// Stands in for dpdk.cpp where DPDK was not found.
#include "bench/peers/dpdk.hpp"

namespace sidestep::bench {

DpdkPeers make_dpdk_peers(std::span<const net::Prefix> /*prefixes*/, std::size_t /*burst*/) {
  DpdkPeers peers;
  for (const char* name : {kFib6Scalar, kFib6Avx512, kLpm6}) {
    peers.absent.push_back({name, "peer not built: libdpdk-dev was not found"});
  }
  return peers;
}

}  // namespace sidestep::bench
