// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "forward/pipeline.hpp"

namespace sidestep::forward {

/// Sends an ICMPv6 error about a packet as it is now (kernel: icmp6_send), unless RFC 4443 §2.4 forbids it, a limiter
/// holds it back or there is no way to the sender. To be called before the packet is dropped.
///
/// @param device  the device that the packet is on: its ingress, or its egress once it has been forwarded that far
void send_error(Pipeline& pipeline, const Transit& transit, IcmpError error, IfIndex device);

/// The same for a packet that is still on its ingress device.
void send_error(Pipeline& pipeline, const Transit& transit, IcmpError error);

/// Whether a message of this type may go to a host; counts it as held back if not (net.ipv6.icmp.ratelimit). The
/// message's own flow tells by its route how near the host is: the shorter the route's prefix, the more messages.
[[nodiscard]] bool allow_message(Pipeline& pipeline, std::uint8_t type, const rules::Flow& flow,
                                 bool from_loopback);

}  // namespace sidestep::forward
