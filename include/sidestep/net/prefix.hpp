// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sidestep/net/address.hpp>

namespace sidestep::net {

/// An IPv6 prefix. Bits behind the length are always zero, so equal prefixes compare equal.
class Prefix {
 public:
  static constexpr std::uint8_t kMaxLength = 128;

  constexpr Prefix() noexcept = default;  ///< ::/0
  /// Clears the bits of `address` behind `length`.
  /// @param length  bits, 0..128; asserted
  Prefix(const Ipv6Address& address, std::uint8_t length) noexcept;

  /// Reads `address/length`; a bare address is /128, never shorter, and so is nothing else.
  /// Empty when the text is not an address or the length is not a decimal 0..128.
  [[nodiscard]] static std::optional<Prefix> parse(std::string_view text) noexcept;
  /// `address/length`, always with the length.
  [[nodiscard]] std::string to_string() const;

  [[nodiscard]] constexpr const Ipv6Address& address() const noexcept { return address_; }
  [[nodiscard]] constexpr std::uint8_t length() const noexcept { return length_; }
  [[nodiscard]] constexpr bool covers(const Ipv6Address& address) const noexcept {
    return common_prefix_length(address_, address) >= length_;
  }
  [[nodiscard]] constexpr bool covers(const Prefix& other) const noexcept {
    return other.length_ >= length_ && covers(other.address_);
  }
  constexpr auto operator<=>(const Prefix&) const noexcept = default;

 private:
  Ipv6Address address_{};
  std::uint8_t length_ = 0;
};

}  // namespace sidestep::net
