// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <sidestep/net/address.hpp>
#include <sidestep/net/ids.hpp>

namespace sidestep::rules {

/// What a lookup is keyed by.
struct Flow {
  net::Ipv6Address destination{};
  net::Ipv6Address source{};
  bool has_source = true;  ///< false: output before source selection; `from` rules do not match
  IfIndex iif{};           ///< ingress device; kLoopbackIndex for locally generated traffic
  IfIndex oif{};           ///< output lookups only
  std::uint32_t mark = 0;
  std::uint8_t traffic_class = 0;
  std::uint32_t flow_label = 0;  ///< 20 bits
  std::uint8_t protocol =
      0;  ///< for rules: dissected only if `ports_known`, else the first next header
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  std::optional<std::uint32_t> uid =
      0;  ///< forwarded packets carry uid 0; empty: the invalid uid of `route get iif`
  std::uint32_t multipath_hash = 0;  ///< 31 bits; 0: to be computed
  /// The destination is a next hop on the link (SRv6 End.X): the answer's neighbor key is the destination itself.
  bool known_nexthop = false;
  TimeNs now{};  ///< for expiry
};

}  // namespace sidestep::rules
