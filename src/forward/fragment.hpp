// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include <sidestep/net/headers.hpp>

#include "forward/pipeline.hpp"

namespace sidestep::forward {

/// What is to be done with a fragment header at the destination.
struct FragmentVerdict {
  /// Atomic (RFC 6946): the packet is whole, and this is the header to go on behind. Empty: see `reason`.
  std::optional<net::ExtensionHeader> atomic{};
  packet::DropReason reason = packet::DropReason::kNone;
  std::optional<IcmpError>
      error{};  ///< to be counted as a header error and sent before the packet is dropped
};

/// Judges a fragment header as reassembly does before it takes a fragment in (RFC 8200 §4.5, RFC 7112). Fragments
/// that are right would wait for each other; that is not done here, and they end as not_implemented.
/// @param packet    from the IPv6 header on
/// @param position  of the fragment header
[[nodiscard]] FragmentVerdict read_fragment(std::span<const std::uint8_t> packet,
                                            const net::HeaderPosition& position);

}  // namespace sidestep::forward
