// SPDX-License-Identifier: Apache-2.0
// What SRv6 does to a packet at this node: functions from packet and SID to what is wanted next. They never look up,
// never count and never answer; module forward does.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sidestep/fib/encap.hpp>

#include "packet/packet.hpp"

namespace sidestep::srv6 {

/// What the ingress device asks of an SRH.
struct Policy {
  /// `seg6_require_hmac`: below 0 an HMAC is ignored, 0 it is verified if present, above 0 it must be present and right.
  std::int32_t require_hmac = 0;
};

/// What an endpoint behavior wants.
struct EndpointResult {
  enum class Outcome : std::uint8_t {
    kLookup,  ///< input lookup of the packet's (new) destination, then that route's input. A result that is free of
    ///< error and whose device is loopback (the address is our own) is to be dropped as kSidLocalNext.
    kDrop,  ///< silent; `reason` says why. The packet's bytes are as they came.
  };
  Outcome outcome = Outcome::kDrop;
  packet::DropReason reason = packet::DropReason::kNone;

  bool operator==(const EndpointResult&) const = default;
};

/// Runs the behavior that a route's `encap seg6local` names. What is not there yet drops with kNotImplemented.
///
/// The packet is an IPv6 packet that has passed validation: 40 bytes at least, nothing behind the payload. The hop limit
/// is left alone. Cost: one walk along the extension headers; no allocation.
[[nodiscard]] EndpointResult run_behavior(packet::Packet& packet, const fib::Seg6LocalEncap& encap,
                                          Policy policy) noexcept;

/// End (RFC 8986 §4.1) with the flavors PSP (§4.16.1) and NEXT-C-SID (RFC 9800 §4.1).
[[nodiscard]] EndpointResult end(packet::Packet& packet, const fib::Seg6LocalEncap& encap,
                                 Policy policy) noexcept;

/// What is wanted of a packet whose SRH ends at an address of this node without a SID (the kernel's end-host code).
struct LocalSrhResult {
  enum class Outcome : std::uint8_t {
    kNextHeader,  ///< segments_left is 0: go on with the header behind it
    kReceive,     ///< the outer headers are gone: receive the inner packet anew on the same device
    kLookup,  ///< advanced: input lookup of the new destination. If it is free of error and its device is
    ///< loopback: hop limit test and decrement, then local_srh() again at the same offset.
    kParameterProblem,  ///< ICMPv6 4/0 with `pointer`, and Ip6InHdrErrors
    kDrop,              ///< silent; `reason` says why
  };
  Outcome outcome = Outcome::kDrop;
  packet::DropReason reason = packet::DropReason::kNone;  ///< kParameterProblem and kDrop
  std::uint32_t pointer = 0;  ///< kParameterProblem: from the IPv6 header

  bool operator==(const LocalSrhResult&) const = default;
};

/// First look at a routing header of type 4 at the packet's current destination, once per packet: bounds and HMAC policy.
/// Whether `seg6_enabled` (the smaller of `all` and the ingress device's) allows SRHs at all is tested by the caller
/// before, and drops with kSeg6Disabled.
///
/// @param offset  of the routing header, from the IPv6 header
/// @return   kNone, or why to drop: kExtensionHeaderMalformed (Ip6InHdrErrors), kHmac or kNotImplemented (silent)
[[nodiscard]] packet::DropReason check_local_srh(const packet::Packet& packet, std::size_t offset,
                                                 Policy policy) noexcept;

/// One step of an SRH that check_local_srh() passed. Last entry and TLVs are not looked at, as in the kernel.
[[nodiscard]] LocalSrhResult local_srh(packet::Packet& packet, std::size_t offset) noexcept;

/// Headend (RFC 8986 §5): encapsulates by a route's `encap seg6`. The result is as an endpoint's.
[[nodiscard]] EndpointResult run_headend(packet::Packet& packet,
                                         const fib::Seg6Encap& encap) noexcept;

}  // namespace sidestep::srv6
