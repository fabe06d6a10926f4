// SPDX-License-Identifier: Apache-2.0
// From a packet to what a lookup is keyed by.
#pragma once

#include "forward/pipeline.hpp"

namespace sidestep::forward {

/// How much of the packet a lookup may see.
enum class KeyDepth : std::uint8_t {
  kFull,  ///< as the kernel's input path: protocol and ports behind extension headers, if a rule asks for them
  kReduced,  ///< as SRv6 behaviors: the first next header stands for the protocol, and there are no ports
};

/// The flow of a received packet.
[[nodiscard]] rules::Flow flow_of(const Pipeline& pipeline, const Transit& transit, KeyDepth depth);

/// The hash that chooses among equal-cost hops, when the flow's own fields do not determine it; else 0, and the
/// lookup computes it from the flow. An ICMPv6 error is hashed as the packet that it quotes, so that it follows that
/// packet's path.
[[nodiscard]] std::uint32_t multipath_hash_of(const Pipeline& pipeline,
                                              std::span<const std::uint8_t> packet);

/// A flow label for the outer header of an encapsulated packet (RFC 6437 §2, `seg6_flowlabel` 1): the same for all packets
/// of a flow. The kernel's depends on a secret of the running machine, so the value is not comparable.
[[nodiscard]] std::uint32_t flow_label_of(const Pipeline& pipeline,
                                          std::span<const std::uint8_t> packet);

/// The hash of an ICMPv6 error about a packet: that packet's own.
[[nodiscard]] std::uint32_t quoted_hash_of(const Pipeline& pipeline,
                                           std::span<const std::uint8_t> about);

}  // namespace sidestep::forward
