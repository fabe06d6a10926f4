// SPDX-License-Identifier: Apache-2.0
// Addresses as 128-bit numbers.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sidestep/net/address.hpp>

namespace sidestep::bench {

__extension__ using Number = unsigned __int128;

[[nodiscard]] inline Number to_number(const net::Ipv6Address& address) noexcept {
  Number number = 0;
  for (const auto byte : address.bytes) number = (number << 8) | byte;
  return number;
}

[[nodiscard]] inline net::Ipv6Address to_address(Number number) noexcept {
  net::Ipv6Address address;
  for (std::size_t i = 16; i-- > 0; number >>= 8) {
    address.bytes[i] = static_cast<std::uint8_t>(number & 0xff);
  }
  return address;
}

/// Ones in all bits behind a prefix of this length.
[[nodiscard]] inline Number host_mask(unsigned length) noexcept {
  return length == 0 ? ~Number{0} : (Number{1} << (128 - length)) - 1;
}

}  // namespace sidestep::bench
