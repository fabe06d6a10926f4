// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sidestep/result.hpp>

#include "lookup/state.hpp"

namespace sidestep::lookup {

/// A gateway as a route or nexthop object names it.
struct GatewayRequest {
  net::Ipv6Address gateway{};
  IfIndex device{};  ///< none: to be found
  bool onlink = false;
  TableId table{};  ///< looked up first; 0: only the rules are
  std::optional<net::Ipv6Address> preferred_source{};
};

/// Checks a gateway as the kernel does (ip6_validate_gw) and gives the device that it is on.
/// Errors: EINVAL, EHOSTUNREACH, with the kernel's words
Result<IfIndex> check_gateway(const State& state, const GatewayRequest& request);

/// Whether we have the address: on any device if its scope allows, else on this one. Tentative ones count on demand.
[[nodiscard]] bool is_own_address(const fib::Links& links, const net::Ipv6Address& address,
                                  IfIndex device, bool count_tentative);

}  // namespace sidestep::lookup
