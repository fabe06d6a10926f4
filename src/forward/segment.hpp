// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "forward/pipeline.hpp"

namespace sidestep::forward {

/// How deep the kernel lets routes with an encapsulation lead to each other.
inline constexpr std::uint8_t kEncapsulationsMax = 8;

/// Runs what a route's encapsulation asks for: an SRv6 behavior (RFC 8986 §4) or a headend (§5), then the lookup that
/// it wants.
[[nodiscard]] Next run_encap(Pipeline& pipeline, Transit& transit, const fib::Encap& encap);

/// Encapsulates a packet of the router's own, whose route says so, and gives it the route of the outer header.
/// @param neighbor_key  in and out: the address to resolve
/// @return  kNone, or why the packet cannot be sent
[[nodiscard]] packet::DropReason encapsulate_own(Pipeline& pipeline, packet::Packet& packet,
                                                 const fib::Seg6Encap& encap,
                                                 net::Ipv6Address& neighbor_key);

/// What end_host_srh() found.
struct EndHostResult {
  bool continue_behind = false;  ///< nothing left to visit: go on with the header behind the SRH
  Next next = Next::kDone;       ///< otherwise
};

/// A segment routing header whose current segment is an address of this node, without a SID's route (kernel:
/// ipv6_srh_rcv).
/// @param offset  of the routing header, which is known to be whole
[[nodiscard]] EndHostResult end_host_srh(Pipeline& pipeline, Transit& transit, std::size_t offset);

}  // namespace sidestep::forward
