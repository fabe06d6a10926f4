// SPDX-License-Identifier: Apache-2.0
// Integers in wire order. A plain integer is always in host order; wire order has types of its own.
#pragma once

#include <array>
#include <cstdint>

namespace sidestep::net {

/// A 16-bit integer in network byte order, without alignment demands; may be overlaid on packet bytes.
class Be16 {
 public:
  constexpr Be16() noexcept = default;
  constexpr explicit Be16(std::uint16_t host) noexcept
      : bytes_{static_cast<std::uint8_t>(host >> 8), static_cast<std::uint8_t>(host)} {}
  [[nodiscard]] constexpr std::uint16_t host() const noexcept {
    return static_cast<std::uint16_t>((bytes_[0] << 8) | bytes_[1]);
  }
  constexpr bool operator==(const Be16&) const noexcept = default;

 private:
  std::array<std::uint8_t, 2> bytes_{};
};

/// A 32-bit integer in network byte order, without alignment demands; may be overlaid on packet bytes.
class Be32 {
 public:
  constexpr Be32() noexcept = default;
  constexpr explicit Be32(std::uint32_t host) noexcept
      : bytes_{static_cast<std::uint8_t>(host >> 24), static_cast<std::uint8_t>(host >> 16),
               static_cast<std::uint8_t>(host >> 8), static_cast<std::uint8_t>(host)} {}
  [[nodiscard]] constexpr std::uint32_t host() const noexcept {
    return (std::uint32_t{bytes_[0]} << 24) | (std::uint32_t{bytes_[1]} << 16) |
           (std::uint32_t{bytes_[2]} << 8) | std::uint32_t{bytes_[3]};
  }
  constexpr bool operator==(const Be32&) const noexcept = default;

 private:
  std::array<std::uint8_t, 4> bytes_{};
};

/// Reads or writes an integer in wire order at any address; the caller has made sure of the bytes.
[[nodiscard]] constexpr std::uint16_t load_be16(const std::uint8_t* bytes) noexcept {
  return static_cast<std::uint16_t>((bytes[0] << 8) | bytes[1]);
}
[[nodiscard]] constexpr std::uint32_t load_be32(const std::uint8_t* bytes) noexcept {
  return (std::uint32_t{load_be16(bytes)} << 16) | load_be16(bytes + 2);
}
[[nodiscard]] constexpr std::uint64_t load_be64(const std::uint8_t* bytes) noexcept {
  return (std::uint64_t{load_be32(bytes)} << 32) | load_be32(bytes + 4);
}
constexpr void store_be16(std::uint8_t* bytes, std::uint16_t host) noexcept {
  bytes[0] = static_cast<std::uint8_t>(host >> 8);
  bytes[1] = static_cast<std::uint8_t>(host);
}
constexpr void store_be32(std::uint8_t* bytes, std::uint32_t host) noexcept {
  store_be16(bytes, static_cast<std::uint16_t>(host >> 16));
  store_be16(bytes + 2, static_cast<std::uint16_t>(host));
}

static_assert(sizeof(Be16) == 2 && alignof(Be16) == 1);
static_assert(sizeof(Be32) == 4 && alignof(Be32) == 1);

}  // namespace sidestep::net
