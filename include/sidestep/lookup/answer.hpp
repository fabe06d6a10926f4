// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sidestep/fib/dst.hpp>
#include <sidestep/fib/route.hpp>
#include <sidestep/net/address.hpp>

namespace sidestep::lookup {

/// What a lookup gives back, by value: the borrowed destination and what the kernel would have cloned a route for.
///
/// Lifetime: as BorrowedDst
struct Answer {
  fib::BorrowedDst dst{fib::null_dst()};
  /// The address to resolve on the link: gateway, else the known next hop, else the flow's destination.
  net::Ipv6Address neighbor_key{};
  TableId table{};  ///< where the route was found; 0: a static destination

  /// Positive errno; 0: usable.
  [[nodiscard]] int error() const { return dst->error; }
  /// The route behind, or nullptr for a static destination.
  [[nodiscard]] const fib::Route* route() const { return dst.get().route(); }
};

}  // namespace sidestep::lookup
