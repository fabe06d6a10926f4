// SPDX-License-Identifier: Apache-2.0
// An SRH whose current segment is an address of this node without a SID (the kernel's end-host code).
#pragma once

#include <cstddef>
#include <cstdint>

#include "packet/packet.hpp"
#include "srv6/wanted.hpp"

namespace sidestep::srv6 {

/// What is wanted of a packet whose SRH ends at an address of this node without a SID (the kernel's end-host code).
struct LocalSrhResult {
  enum class Outcome : std::uint8_t {
    kNextHeader,  ///< segments_left is 0: go on with the header behind it
    kReceive,     ///< the outer headers are gone: receive the inner packet anew on the same device
    kLookup,  ///< advanced: input lookup of the new destination. If it is free of error and its device is
    ///< loopback: hop limit test and decrement, then local_srh() again at the same offset.
    kParameterProblem,  ///< ICMPv6 4/0 with `pointer`, and Ip6InHdrErrors
    kDrop,              ///< silent; `reason` says why
  };
  Outcome outcome = Outcome::kDrop;
  packet::DropReason reason = packet::DropReason::kNone;  ///< kParameterProblem and kDrop
  std::uint32_t pointer = 0;  ///< kParameterProblem: from the IPv6 header

  bool operator==(const LocalSrhResult&) const = default;
};

/// First look at a routing header of type 4 at the packet's current destination, once per packet: bounds and HMAC policy.
/// Whether `seg6_enabled` (the smaller of `all` and the ingress device's) allows SRHs at all is tested by the caller
/// before, and drops with kSeg6Disabled.
///
/// @param offset  of the routing header, from the IPv6 header
/// @return   kNone, or why to drop: kExtensionHeaderMalformed (Ip6InHdrErrors), kHmac (silent)
[[nodiscard]] packet::DropReason check_local_srh(const packet::Packet& packet, std::size_t offset,
                                                 Policy policy) noexcept;

/// One step of an SRH that check_local_srh() passed. Last entry and TLVs are not looked at, as in the kernel.
[[nodiscard]] LocalSrhResult local_srh(packet::Packet& packet, std::size_t offset) noexcept;

}  // namespace sidestep::srv6
