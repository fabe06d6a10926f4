// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace sidestep::forward {

/// Where an upper layer header would be.
struct RoughUpperLayer {
  std::uint8_t type =
      0;  ///< protocol; the fragment header's own number behind a fragment that is not the first
  std::size_t offset = 0;  ///< may lie beyond the packet
};

/// Walks extension headers as the kernel does when it wants a quick idea of what a packet is (ipv6_skip_exthdr): of
/// each header the first bytes must be there, and its length is believed. So a header that is cut off still names
/// what follows it. The checked walk of module net would call that truncated, and the two differ in what is answered.
///
/// @return  empty: a header's first bytes are missing, or there is no next header
[[nodiscard]] std::optional<RoughUpperLayer> find_rough_upper_layer(
    std::span<const std::uint8_t> packet) noexcept;

}  // namespace sidestep::forward
