// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <sidestep/net/wire.hpp>

namespace sidestep::net {

/// Scope of an address as RFC 4291 §2.7 and the kernel number it; a larger number reaches further.
enum class Scope : std::uint8_t {
  kInterfaceLocal = 1,
  kLinkLocal = 2,
  kSiteLocal = 5,
  kGlobal = 14,
};

/// An IPv6 address: sixteen bytes in wire order, so that it may be overlaid on packet bytes.
struct Ipv6Address {
  std::array<std::uint8_t, 16> bytes{};

  constexpr auto operator<=>(const Ipv6Address&) const noexcept = default;

  /// Reads RFC 4291 §2.2 text (no zone, no prefix length); empty when it is not an address.
  [[nodiscard]] static std::optional<Ipv6Address> parse(std::string_view text) noexcept;
  /// Canonical text, as inet_ntop prints it (RFC 5952).
  [[nodiscard]] std::string to_string() const;

  /// Bit number `index` (0 is the most significant), 0..127.
  [[nodiscard]] constexpr bool bit(unsigned index) const noexcept {
    return ((bytes[index / 8] >> (7 - index % 8)) & 1) != 0;
  }
  [[nodiscard]] constexpr bool is_unspecified() const noexcept { return *this == Ipv6Address{}; }
  [[nodiscard]] constexpr bool is_loopback() const noexcept {
    Ipv6Address loopback{};
    loopback.bytes[15] = 1;
    return *this == loopback;
  }
  [[nodiscard]] constexpr bool is_multicast() const noexcept { return bytes[0] == 0xff; }
  [[nodiscard]] constexpr bool is_link_local() const noexcept {  // fe80::/10, unicast
    return bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80;
  }
  [[nodiscard]] constexpr bool is_v4_mapped() const noexcept {
    for (std::size_t i = 0; i < 10; ++i) {
      if (bytes[i] != 0) return false;
    }
    return bytes[10] == 0xff && bytes[11] == 0xff;
  }
  /// The scope nibble of a multicast address, 0..15; only for is_multicast() addresses.
  [[nodiscard]] constexpr std::uint8_t multicast_scope() const noexcept { return bytes[1] & 0x0f; }
  /// Scope of a unicast address, or of a multicast address by its scope nibble.
  [[nodiscard]] Scope scope() const noexcept;
  /// The solicited-node multicast address of this address (RFC 4291 §2.7.1).
  [[nodiscard]] Ipv6Address solicited_node() const noexcept;
};
static_assert(sizeof(Ipv6Address) == 16 && alignof(Ipv6Address) == 1);

/// Number of leading bits that two addresses share, 0..128.
[[nodiscard]] constexpr unsigned common_prefix_length(const Ipv6Address& a,
                                                      const Ipv6Address& b) noexcept {
  const std::uint64_t upper = load_be64(a.bytes.data()) ^ load_be64(b.bytes.data());
  if (upper != 0) return static_cast<unsigned>(std::countl_zero(upper));
  const std::uint64_t lower = load_be64(a.bytes.data() + 8) ^ load_be64(b.bytes.data() + 8);
  return 64 + static_cast<unsigned>(std::countl_zero(lower));
}

/// An IPv4 address: four bytes in wire order.
struct Ipv4Address {
  std::array<std::uint8_t, 4> bytes{};

  constexpr auto operator<=>(const Ipv4Address&) const noexcept = default;
  [[nodiscard]] static std::optional<Ipv4Address> parse(std::string_view text) noexcept;
  [[nodiscard]] std::string to_string() const;
};
static_assert(sizeof(Ipv4Address) == 4 && alignof(Ipv4Address) == 1);

/// An Ethernet address.
struct MacAddress {
  std::array<std::uint8_t, 6> bytes{};

  constexpr auto operator<=>(const MacAddress&) const noexcept = default;
  /// Reads six hexadecimal bytes joined by ':'; empty when the text is anything else.
  [[nodiscard]] static std::optional<MacAddress> parse(std::string_view text) noexcept;
  [[nodiscard]] std::string to_string() const;
  [[nodiscard]] constexpr bool is_multicast() const noexcept { return (bytes[0] & 1) != 0; }
  [[nodiscard]] constexpr bool is_broadcast() const noexcept {
    for (const auto byte : bytes) {
      if (byte != 0xff) return false;
    }
    return true;
  }
  /// fe80::/64 with the modified EUI-64 interface identifier (RFC 4291 appendix A).
  [[nodiscard]] Ipv6Address link_local() const noexcept;
};
static_assert(sizeof(MacAddress) == 6 && alignof(MacAddress) == 1);

}  // namespace sidestep::net

template <>
struct std::hash<sidestep::net::Ipv6Address> {
  std::size_t operator()(const sidestep::net::Ipv6Address& address) const noexcept;
};
