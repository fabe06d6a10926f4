// SPDX-License-Identifier: Apache-2.0
// Headends (RFC 8986 §5): a packet into an SRv6 path.
#pragma once

#include <span>

#include <sidestep/fib/encap.hpp>

#include "packet/packet.hpp"
#include "srv6/wanted.hpp"

namespace sidestep::srv6 {

/// How a packet gets onto a path.
struct Path {
  std::span<const net::Ipv6Address> segments{};  ///< in travel order, at least one
  std::uint32_t hmac_key_id = 0;                 ///< 0: no HMAC
  bool reduced =
      false;  ///< the first segment is left out of the SRH, and with it an SRH that would be empty
};

/// Puts an IPv6 header and an SRH in front of the packet, which stays as it is: kNone, or why not.
[[nodiscard]] packet::DropReason encapsulate(packet::Packet& packet, const Path& path,
                                             const Surroundings& around) noexcept;
/// The same for the Ethernet frame that the packet came in.
[[nodiscard]] packet::DropReason encapsulate_frame(packet::Packet& packet, const Path& path,
                                                   const Surroundings& around) noexcept;
/// Puts an SRH between the packet's IPv6 header and what follows; the packet's destination becomes the last segment. kNone, or
/// why not. Not of RFC 8986; `path.reduced` must be false.
[[nodiscard]] packet::DropReason insert_srh(packet::Packet& packet, const Path& path,
                                            const Surroundings& around) noexcept;

/// What a route's `encap seg6` asks for. A packet that is dropped is as it came.
///
/// Cost: no allocation; writes the new headers and, for an SRH that is inserted, moves the IPv6 header
[[nodiscard]] Wanted run_headend(packet::Packet& packet, const fib::Seg6Encap& encap,
                                 const Surroundings& around) noexcept;

/// Bytes that a packet grows by.
[[nodiscard]] std::size_t growth_of(const fib::Seg6Encap& encap) noexcept;

}  // namespace sidestep::srv6
