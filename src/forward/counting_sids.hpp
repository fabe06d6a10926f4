// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <sidestep/fib/encap.hpp>
#include <sidestep/lookup/fib.hpp>
#include <sidestep/net/prefix.hpp>

namespace sidestep::forward {

/// A route with a SID that counts.
struct CountingSid {
  net::Prefix prefix{};
  TableId table{};
  fib::SidCounterId id{};
};

/// All of them, by table and in the order in which the kernel shows routes. Not for the packet path: allocates.
[[nodiscard]] std::vector<CountingSid> counting_sids(const lookup::Fib& fib);

}  // namespace sidestep::forward
