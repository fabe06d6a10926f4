// SPDX-License-Identifier: Apache-2.0
// The routing header that a behavior is about: finding it, judging it, moving on along it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <sidestep/net/headers.hpp>

#include "packet/packet.hpp"
#include "srv6/wanted.hpp"

namespace sidestep::srv6 {

/// The SRH that a behavior is to act on, or why there is none.
struct SrhSearch {
  packet::DropReason reason = packet::DropReason::kSidNoSrh;
  net::ExtensionHeader header{};       ///< valid when `reason` is kNone
  bool behind_routing_header = false;  ///< another routing header, used up, is in front of it
};

/// The first routing header with segments left, which must be a valid SRH and stand the policy.
[[nodiscard]] SrhSearch find_srh(std::span<const std::uint8_t> bytes, Policy policy) noexcept;

/// What the policy says to this SRH of a packet from `source`: kNone to go on.
[[nodiscard]] packet::DropReason judge_hmac(const net::RoutingHeader& srh,
                                            const net::Ipv6Address& source, Policy policy) noexcept;

/// Takes the outer headers off a packet that carries `payload` (a next header), so that it begins with what it carried: kNone,
/// or why not. Routing headers that are not valid SRHs do not matter, as in the kernel; a valid one must be used up.
[[nodiscard]] packet::DropReason decapsulate(packet::Packet& packet, std::uint8_t payload,
                                             std::size_t payload_size_min, Policy policy) noexcept;

/// Makes the next segment the destination. The routing header has segments left, and as many addresses.
void advance(std::span<std::uint8_t> bytes, std::size_t offset) noexcept;

}  // namespace sidestep::srv6
