// SPDX-License-Identifier: Apache-2.0
// Options of hop-by-hop and destination options headers (RFC 8200 §4.2), judged as the kernel judges them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <sidestep/net/headers.hpp>

#include "forward/pipeline.hpp"

namespace sidestep::forward {

/// Which header the options are in.
enum class OptionsHeader : std::uint8_t { kHopByHop, kDestination };

/// What the options of a header say of the packet.
struct OptionsVerdict {
  packet::DropReason reason = packet::DropReason::kNone;  ///< kNone: go on
  std::optional<IcmpError> error{};  ///< to be sent before the packet is dropped
  bool router_alert = false;
};

/// Reads the options of a header.
///
/// @param packet     from the IPv6 header on
/// @param max_count  net.ipv6.max_hbh_opts_number or max_dst_opts_number: options beside padding; below 0: its absolute
///                   value, and unknown options are dropped whatever they ask for
[[nodiscard]] OptionsVerdict read_options(std::span<const std::uint8_t> packet,
                                          const net::ExtensionHeader& header, OptionsHeader kind,
                                          std::int32_t max_count);

}  // namespace sidestep::forward
