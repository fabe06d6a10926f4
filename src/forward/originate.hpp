// SPDX-License-Identifier: Apache-2.0
// Packets of the router's own: where they go, from which address, and their way out.
#pragma once

#include <optional>

#include <sidestep/lookup/answer.hpp>

#include "forward/pipeline.hpp"

namespace sidestep::forward {

/// Where a packet of the router's own goes and which source it has.
struct OwnRoute {
  lookup::Answer answer;
  net::Ipv6Address source{};
};

/// The flow of an ICMPv6 message that the router sends in answer to `cause`.
[[nodiscard]] rules::Flow own_flow(const packet::Packet& cause, const net::Ipv6Address& destination,
                                   std::optional<net::Ipv6Address> source, IfIndex oif);

/// Output lookup, and source selection where the flow has no source (kernel: ip6_dst_lookup). Empty when there is no
/// way, which is counted.
[[nodiscard]] std::optional<OwnRoute> route_own(Pipeline& pipeline, rules::Flow flow);

/// What goes into the fixed header beside the addresses.
struct OwnHeader {
  std::uint8_t traffic_class = 0;
  std::uint32_t flow_label = 0;
  std::optional<std::uint8_t> hop_limit{};  ///< empty: the route's, else the egress device's
};

/// Writes the IPv6 header of a packet whose ICMPv6 message is in place from byte 40 on, completes the message's
/// checksum, counts it and sends it.
void send_own(Pipeline& pipeline, packet::Packet& packet, const OwnRoute& route,
              const net::Ipv6Address& destination, OwnHeader header);

/// The label that a flow of our own gets (RFC 6437 §3): the same for all of its packets, different for others. The
/// kernel's depends on a secret of the running machine, so the value is not comparable.
[[nodiscard]] std::uint32_t own_flow_label(const net::Ipv6Address& source,
                                           const net::Ipv6Address& destination, std::uint8_t type,
                                           std::uint8_t code) noexcept;

}  // namespace sidestep::forward
