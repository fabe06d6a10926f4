// SPDX-License-Identifier: Apache-2.0
#include "app/show.hpp"

#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/exit_code.hpp"
#include "app/router.hpp"
#include "config/names.hpp"
#include "config/print.hpp"
#include "packet/drop_reason.hpp"

namespace sidestep::app {
namespace {

int show_routes(const Router& router, TableId table) {
  if (router.fib().find_table(table) == nullptr) return fail("FIB table does not exist");
  fmt::print("{}", config::print_routes(router.fib(), table));
  return kExitOk;
}

}  // namespace

int show(Shown what, const std::string& config, std::string_view table) {
  TableId table_id = kTableMain;
  if (!table.empty()) {
    const auto number = config::table_number(table);
    if (!number || *number == 0)
      return fail_usage(fmt::format("table '{}': a name or number is expected", table));
    table_id = TableId{*number};
  }
  Router router;
  if (!router.load(config)) return kExitFailed;
  const rcu::ReadSection section;
  switch (what) {
    case Shown::kRoutes:
      return show_routes(router, table_id);
    case Shown::kRules:
      fmt::print("{}", config::print_rules(router.fib()));
      break;
    case Shown::kNeighbors:
      fmt::print("{}", config::print_neighbors(router.neighbors(), router.links()));
      break;
    case Shown::kLinks:
      fmt::print("{}", config::print_links(router.links()));
      break;
    case Shown::kNexthops:
      fmt::print("{}", config::print_nexthops(router.fib()));
      break;
  }
  return kExitOk;
}

int list_drop_reasons(bool json) {
  auto all = nlohmann::ordered_json::array();
  for (const auto reason : packet::all_drop_reasons()) {
    const auto& text = packet::text_of(reason);
    if (json) {
      all.push_back({{"name", text.name}, {"snmp", text.snmp}, {"help", text.help}});
    } else {
      fmt::print("{:<28} {:<22} {}\n", text.name, text.snmp.empty() ? "-" : text.snmp, text.help);
    }
  }
  if (json) fmt::print("{}\n", all.dump(2));
  return kExitOk;
}

}  // namespace sidestep::app
