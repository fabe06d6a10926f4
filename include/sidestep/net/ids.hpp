// SPDX-License-Identifier: Apache-2.0
// Strong identifiers: one cannot be passed where another is meant.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace sidestep {

/// Interface index as the kernel numbers devices; 0 means none, 1 is the loopback device.
struct IfIndex {
  std::uint32_t value = 0;
  constexpr auto operator<=>(const IfIndex&) const noexcept = default;
  [[nodiscard]] constexpr explicit operator bool() const noexcept { return value != 0; }
};
inline constexpr IfIndex kLoopbackIndex{1};

/// Routing table number, 1..2^32-1.
struct TableId {
  std::uint32_t value = 0;
  constexpr auto operator<=>(const TableId&) const noexcept = default;
};
inline constexpr TableId kTableDefault{253};
inline constexpr TableId kTableMain{254};
inline constexpr TableId kTableLocal{255};

/// Nexthop object id as in ip-nexthop(8); 0 means none.
struct NexthopId {
  std::uint32_t value = 0;
  constexpr auto operator<=>(const NexthopId&) const noexcept = default;
  [[nodiscard]] constexpr explicit operator bool() const noexcept { return value != 0; }
};

/// Nanoseconds on the router's own clock, which starts at 0 when the router does. Time is always a parameter.
struct TimeNs {
  std::uint64_t value = 0;
  constexpr auto operator<=>(const TimeNs&) const noexcept = default;
};
inline constexpr std::uint64_t kNsPerSecond = 1'000'000'000;

}  // namespace sidestep

template <>
struct std::hash<sidestep::IfIndex> {
  std::size_t operator()(sidestep::IfIndex id) const noexcept { return id.value; }
};
template <>
struct std::hash<sidestep::TableId> {
  std::size_t operator()(sidestep::TableId id) const noexcept { return id.value; }
};
template <>
struct std::hash<sidestep::NexthopId> {
  std::size_t operator()(sidestep::NexthopId id) const noexcept { return id.value; }
};
