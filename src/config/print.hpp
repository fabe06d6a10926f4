// SPDX-License-Identifier: Apache-2.0
// Printing as iproute2 prints.
#pragma once

#include <string>
#include <vector>

#include <sidestep/fib/table.hpp>
#include <sidestep/lookup/fib.hpp>

#include "neighbor/table.hpp"

namespace sidestep::config {

/// What `ip -6 route show [table T]` prints, one route a line (rings with their nexthop lines), in the kernel's order.
/// @param now  lifetimes are printed as seconds from here
[[nodiscard]] std::string print_routes(const lookup::Fib& fib, TableId table, TimeNs now = {});
/// What `ip -6 rule show` prints.
[[nodiscard]] std::string print_rules(const lookup::Fib& fib);
/// One rule without preference, as a line of `ip -6 rule show` behind the tab.
[[nodiscard]] std::string print_rule(const rules::Rule& rule);
/// What `ip nexthop show` prints.
[[nodiscard]] std::string print_nexthops(const lookup::Fib& fib);
/// What `ip -6 neigh show` prints.
[[nodiscard]] std::string print_neighbors(const neighbor::Table& neighbors,
                                          const fib::Links& links);
/// Devices in the manner of `ip link show`, with their addresses.
[[nodiscard]] std::string print_links(const fib::Links& links);
/// Name of a table as iproute2 prints it: local, main, default, or the number.
[[nodiscard]] std::string table_name(TableId table);
/// ` encap seg6 mode …` or ` encap seg6local …` as in a route line; empty for none.
[[nodiscard]] std::string print_encap(const fib::Encap& encap, const fib::Links& links);

}  // namespace sidestep::config
