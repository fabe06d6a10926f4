// SPDX-License-Identifier: Apache-2.0
// Changes that make the routers of the benchmarks.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <sidestep/lookup/change.hpp>
#include <sidestep/result.hpp>

namespace sidestep::bench {

inline constexpr const char* kFrom = "in0";       ///< where most flows come from
inline constexpr const char* kFromOther = "in1";  ///< and the others
inline constexpr const char* kTo = "out0";        ///< where all routes lead

/// A change that cannot fail; when it does, measuring makes no sense.
template <typename Apply>
void must(Apply&& apply, const lookup::Change& change) {
  const Result<void> result = apply(change);
  if (result) return;
  fmt::print(stderr, "sidestep-bench: the benchmark's router refused a change: {}\n",
             result.error().message);
  std::abort();
}

/// Forwarding on, and the three devices.
template <typename Apply>
void make_devices(Apply&& apply) {
  must(apply, lookup::SysctlChange{"net.ipv6.conf.all.forwarding", "1"});
  std::uint8_t number = 1;
  for (const char* name : {kFrom, kFromOther, kTo}) {
    lookup::LinkChange link;
    link.name = name;
    link.create = true;
    link.mac = net::MacAddress{{0x02, 0, 0, 0, 0, number++}};
    link.up = true;
    must(apply, link);
  }
}

[[nodiscard]] inline lookup::RouteChange route_change(lookup::RouteVerb verb,
                                                      const net::Prefix& prefix, TableId table) {
  lookup::RouteChange change;
  change.verb = verb;
  change.destination = prefix;
  change.table = table;
  lookup::NexthopSpec hop;
  hop.device = kTo;
  hop.gateway = net::Ipv6Address{{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
  change.hops.push_back(std::move(hop));
  return change;
}

/// `lookup TABLE` at a preference; the caller adds selectors.
[[nodiscard]] inline lookup::RuleChange rule_change(std::uint32_t preference, TableId table) {
  lookup::RuleChange change;
  change.preference_given = true;
  change.rule.preference = preference;
  change.table_given = true;
  change.rule.table = table;
  return change;
}

[[nodiscard]] inline lookup::RuleChange rule_removal(std::uint32_t preference) {
  lookup::RuleChange change;
  change.remove = true;
  change.preference_given = true;
  change.rule.preference = preference;
  return change;
}

}  // namespace sidestep::bench
