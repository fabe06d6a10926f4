// SPDX-License-Identifier: Apache-2.0
// Endpoint behaviors: functions from packet and SID to what is wanted next. They never look up, never count and never
// answer; module forward does.
#pragma once

#include <sidestep/fib/encap.hpp>

#include "packet/packet.hpp"
#include "srv6/wanted.hpp"

namespace sidestep::srv6 {

/// Runs the behavior that a route's `encap seg6local` names. What is not there yet drops with kNotImplemented.
///
/// The packet is an IPv6 packet that has passed validation: 40 bytes at least, nothing behind the payload. The hop limit
/// is left alone. Cost: one or two walks along the extension headers; no allocation.
/// @param around  for End.B6 and End.B6.Encaps
[[nodiscard]] Wanted run_behavior(packet::Packet& packet, const fib::Seg6LocalEncap& encap,
                                  Policy policy, const Surroundings& around = {}) noexcept;

}  // namespace sidestep::srv6
