// SPDX-License-Identifier: Apache-2.0
// The Internet checksum (RFC 1071) with the IPv6 pseudo-header (RFC 8200 §8.1).
#pragma once

#include <cstdint>
#include <span>

#include <sidestep/net/address.hpp>

namespace sidestep::net {

/// One's complement sum of an upper layer packet and its pseudo-header, complemented.
///
/// To compute: the checksum field holds zero, and the result is what to write there (UDP writes 0xffff for 0).
/// To verify:  the field is as received, and the result is 0 exactly when it is right.
///
/// @param destination  the final one: with a routing header the last segment, not the current destination
/// @param upper        from the upper layer header to the end of the packet; below 4 GiB
[[nodiscard]] std::uint16_t upper_layer_checksum(const Ipv6Address& source,
                                                 const Ipv6Address& destination,
                                                 std::uint8_t next_header,
                                                 std::span<const std::uint8_t> upper) noexcept;

/// One's complement sum of `bytes` in 16-bit words, an odd last byte padded with zero; not complemented.
///
/// @param initial  a sum to go on from; what was summed before must have been of even size
[[nodiscard]] std::uint16_t ones_complement_sum(std::span<const std::uint8_t> bytes,
                                                std::uint16_t initial = 0) noexcept;

}  // namespace sidestep::net
