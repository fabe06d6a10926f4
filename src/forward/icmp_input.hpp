// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "forward/pipeline.hpp"

namespace sidestep::forward {

/// Where a received message is counted; the two differ only for what was looped back.
struct IcmpDevices {
  IfIndex message{};
  IfIndex error{};
};

/// Counts an ICMPv6 message that came in whole: Icmp6InMsgs, its type, and Icmp6InErrors when nobody here can use it.
void count_icmp_received(Pipeline& pipeline, std::span<const std::uint8_t> message,
                         IcmpDevices devices);

/// Takes an ICMPv6 message to the router (kernel: icmpv6_rcv): verifies the checksum, answers echo requests, notes what is to be
/// learned, hands everything but requests to the local host. The packet has a verdict afterwards.
/// @param offset  of the message
void receive_icmp(Pipeline& pipeline, Transit& transit, std::size_t offset);

}  // namespace sidestep::forward
