// SPDX-License-Identifier: Apache-2.0
// From a route or nexthop as written to checked fields.
#pragma once

#include <sidestep/lookup/change.hpp>
#include <sidestep/result.hpp>

#include "lookup/state.hpp"

namespace sidestep::lookup {

/// What decides how a hop is checked, besides the hop.
struct HopContext {
  net::Prefix destination{};
  fib::RouteType type = fib::RouteType::kUnicast;
  TableId table{};  ///< 0 for nexthop objects
  std::optional<net::Ipv6Address> preferred_source{};
};

/// A checked hop (kernel: fib6_nh_init).
/// Errors: ENODEV, EHOSTUNREACH, EINVAL, EACCES, ENETDOWN, EOPNOTSUPP
Result<fib::Nexthop> build_hop(State& state, const NexthopSpec& spec, const HopContext& context);

/// Fields of a route with one hop (kernel: ip6_route_info_create). `spec` is not looked at with a nexthop object.
Result<fib::RouteFields> build_route(State& state, const RouteChange& change,
                                     const NexthopSpec& spec, TimeNs now);

/// The table that a route change means.
[[nodiscard]] TableId table_of(const RouteChange& change);

}  // namespace sidestep::lookup
