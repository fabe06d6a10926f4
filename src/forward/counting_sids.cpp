// SPDX-License-Identifier: Apache-2.0
#include "forward/counting_sids.hpp"

#include <variant>

#include <sidestep/fib/table.hpp>

namespace sidestep::forward {
namespace {

void add_counting(const fib::Route& route, std::vector<CountingSid>& sids) {
  for (std::size_t hop = 0; hop < route.hop_count(); ++hop) {
    const fib::Encap* const encap = route.dst(hop)->encap;
    const auto* sid = encap != nullptr ? std::get_if<fib::Seg6LocalEncap>(encap) : nullptr;
    if (sid != nullptr && sid->count)
      sids.push_back({route->destination, route->table, sid->counter});
  }
}

}  // namespace

std::vector<CountingSid> counting_sids(const lookup::Fib& fib) {
  std::vector<CountingSid> sids;
  for (const TableId table : fib.table_ids()) {
    fib.find_table(table)->for_each([&](const fib::RouteSet& set) {
      for (const fib::RouteSlot& slot : set.slots) add_counting(*slot.route, sids);
    });
  }
  return sids;
}

}  // namespace sidestep::forward
