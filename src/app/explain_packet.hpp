// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/replay_record.hpp"
#include "app/router.hpp"
#include "packet/packet.hpp"

namespace sidestep::app {

/// A packet with all that became of it.
struct PacketFate {
  const ReplayRecord& record;
  const fib::Link& device;                       ///< that it was received on
  std::uint64_t start_ns = 0;                    ///< when the router's clock was 0, since 1970
  const packet::Packet* packet = nullptr;        ///< nullptr: it never reached the router
  std::vector<const packet::Packet*> generated;  ///< what the router made because of it
};

/// Tells in words what happened to a packet and why: what it was, how its lookups went, what changed, where it went.
///
/// The lookups are asked again, in the same state of the router and at the same time of its clock, with the walk recorded.
/// Thread: registered reader, outside any read section
[[nodiscard]] std::string explain_packet(const Router& router, const PacketFate& fate);

/// `icmp_rate_limited`-like words for what the router made, by ICMPv6 type: `time_exceeded`, `echo_reply`, …
[[nodiscard]] std::string kind_of(std::span<const std::uint8_t> packet);

}  // namespace sidestep::app
