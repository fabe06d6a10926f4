// SPDX-License-Identifier: Apache-2.0
// What this module asks of module forward, and what it is told by it.
#pragma once

#include <cstdint>
#include <optional>

#include <sidestep/net/address.hpp>
#include <sidestep/net/ids.hpp>

#include "packet/drop_reason.hpp"
#include "srv6/hmac.hpp"

namespace sidestep::srv6 {

/// What is asked of an SRH that came in.
struct Policy {
  /// `seg6_require_hmac` of the ingress device: below 0 an HMAC is ignored, 0 it is verified if present, above 0 it must be
  /// present and right.
  std::int32_t require_hmac = 0;
  const HmacSecrets* secrets = nullptr;  ///< the router's; nullptr: none
};

/// What an encapsulation takes from the router around it.
struct Surroundings {
  std::optional<net::Ipv6Address> source{};  ///< of the outer header; empty: the router has none
  std::uint32_t flow_label = 0;              ///< of the outer header, 20 bits
  const HmacSecrets* secrets = nullptr;      ///< the router's; nullptr: none
};

/// What a behavior or a headend wants done with the packet that it leaves, by value.
struct Wanted {
  enum class Kind : std::uint8_t {
    kDrop,          ///< silent; `reason` says why. The packet's bytes are as they came.
    kInputLookup,   ///< by the rules, as a packet of the ingress device
    kOutputLookup,  ///< by the rules, out of `device`
    kTableLookup,   ///< in `table` alone
    kNewLookup,  ///< by the rules and with all of the packet as key, as if it had come in like this
    kSendFrame,  ///< the bytes are an Ethernet frame: out of `device` as they are
  };
  Kind kind = Kind::kDrop;
  packet::DropReason reason = packet::DropReason::kNone;  ///< kDrop
  /// A result that is free of error and whose device is loopback (an address of our own) is fine. If not, it is to be
  /// dropped as kSidLocalNext.
  bool may_be_local = false;
  TableId table{};   ///< kTableLookup
  IfIndex device{};  ///< kOutputLookup, kSendFrame
  /// What to look up, and the neighbor to resolve when it is on the link; empty: the packet's destination.
  std::optional<net::Ipv6Address> nexthop{};

  bool operator==(const Wanted&) const = default;

  [[nodiscard]] static constexpr Wanted drop(packet::DropReason reason) noexcept {
    return {.kind = Kind::kDrop, .reason = reason};
  }
  [[nodiscard]] static constexpr Wanted lookup() noexcept { return {.kind = Kind::kInputLookup}; }
};

}  // namespace sidestep::srv6
