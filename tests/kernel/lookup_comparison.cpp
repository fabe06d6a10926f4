// SPDX-License-Identifier: Apache-2.0
// What must be equal: which lines of a configuration fail and with which errno, and for each flow the errno, or the route (table,
// prefix, source prefix, type, protocol, metric, nexthop object), all its hops, and the hop chosen. The kernel's multipath hash is
// seeded at random, so a choice among several hops is equal when each side chose one that has a share on the other side.

#include "kernel/lookup_comparison.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include <sidestep/fib/table.hpp>

#include "kernel/kernel_router.hpp"
#include "kernel/our_router.hpp"

namespace sidestep::kernel {
namespace {

std::string outcome_text(int error) {
  if (error == 0) return "done";
  if (error < 0) return "refused by the language";
  return fmt::format("error {} ({})", error, std::strerror(error));
}

bool contains(const std::vector<QueryHop>& hops, const QueryHop& chosen) {
  return std::any_of(hops.begin(), hops.end(), [&](const QueryHop& hop) {
    return hop.device == chosen.device && hop.gateway == chosen.gateway;
  });
}

/// Hops as a set: rings have no first member that matters.
std::vector<QueryHop> sorted(std::vector<QueryHop> hops) {
  std::sort(hops.begin(), hops.end(), [](const QueryHop& a, const QueryHop& b) {
    return std::tie(a.device, a.gateway, a.weight) < std::tie(b.device, b.gateway, b.weight);
  });
  return hops;
}

bool same_route(const QueryAnswer& a, const QueryAnswer& b) {
  return a.table == b.table && a.destination == b.destination && a.source == b.source &&
         a.type == b.type && a.protocol == b.protocol && a.metric == b.metric &&
         a.nexthop_id == b.nexthop_id;
}

bool same(const QueryAnswer& kernel, const OurAnswer& ours) {
  if (kernel.error != 0 || ours.answer.error != 0) return kernel.error == ours.answer.error;
  if (!same_route(kernel, ours.answer)) return false;
  if (sorted(kernel.hops) != sorted(ours.answer.hops)) return false;
  if (kernel.mtu != ours.answer.mtu) return false;
  if (kernel.hops.size() > 1)
    return contains(ours.usable, kernel.chosen) && contains(kernel.hops, ours.answer.chosen);
  return kernel.chosen.device == ours.answer.chosen.device &&
         kernel.chosen.gateway == ours.answer.chosen.gateway;
}

/// Which hop a flow gets may decide more than the hop: a suppressor looks at its device. So any choice of ours that gives the kernel's
/// answer will do.
bool same_for_another_hash(const QueryAnswer& kernel, const OurRouter& ours, const Query& query) {
  constexpr std::uint32_t kChoices = 64;
  for (std::uint32_t i = 0; i < kChoices; ++i) {
    if (same(kernel, ours.ask(query, (0x7fffffffU / kChoices) * i + 1))) return true;
  }
  return false;
}

// Explained differences: each with the heading of docs/kernel-differences.md that says why.

constexpr std::string_view kSharedObject = "Routes that share a nexthop object";

/// The kernel answers with any of the routes that share a nexthop object: the one for which the object's per-CPU route was made.
/// So its answer must be a route of ours too, over an object that shares the hop chosen.
bool shares_nexthop_object(const QueryAnswer& kernel, const QueryAnswer& ours,
                           const lookup::Fib& fib) {
  if (kernel.error != 0 || ours.error != 0 || kernel.nexthop_id == 0 || ours.nexthop_id == 0)
    return false;
  if (!contains(kernel.hops, ours.chosen) && !contains(ours.hops, kernel.chosen)) return false;
  const fib::Table* table = fib.find_table(TableId{kernel.table});
  const fib::RouteSet* set =
      table == nullptr ? nullptr : table->get(kernel.destination, kernel.source);
  if (set == nullptr) return false;
  return std::any_of(set->slots.begin(), set->slots.end(), [&](const fib::RouteSlot& slot) {
    const fib::RouteFields& fields = slot.route->fields();
    return fields.object != nullptr && fields.object->id.value == kernel.nexthop_id &&
           fields.metric == kernel.metric && fields.protocol == kernel.protocol;
  });
}

/// When the kernel changes its mind to our answer because of routes that do not match, it had lost a prefix.
void explain_lost_subtrees(KernelRouter& kernel, RouteQuery& query, const OurRouter& ours,
                           Comparison& result) {
  const auto is_open = [](const Difference& one) { return one.flow && one.explanation.empty(); };
  if (std::none_of(result.differences.begin(), result.differences.end(), is_open)) return;
  const std::string lines = repairing_lines(ours.fib());
  if (lines.empty()) return;
  kernel.apply(lines);
  for (auto& difference : result.differences) {
    if (!is_open(difference)) continue;
    const QueryAnswer now = query.ask(*difference.flow);
    if (same(now, ours.ask(*difference.flow)) ||
        same_for_another_hash(now, ours, *difference.flow)) {
      difference.explanation = kLostSubtree;
    }
  }
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  return text;
}

void compare_lines(const std::vector<LineOutcome>& kernel, const std::vector<LineOutcome>& ours,
                   Comparison& result) {
  result.lines = kernel.size();
  for (const auto& said : kernel) {
    if (said.error != 0) ++result.failed_lines;
    const auto mine = std::find_if(ours.begin(), ours.end(),
                                   [&](const auto& one) { return one.line == said.line; });
    const int error = mine == ours.end() ? 0 : mine->error;
    if (error != said.error) {
      result.differences.push_back({.line = said.text,
                                    .flow = {},
                                    .kernel = outcome_text(said.error),
                                    .ours = outcome_text(error),
                                    .explanation = {}});
    }
  }
}

}  // namespace

std::string repairing_lines(const lookup::Fib& fib) {
  std::string lines;
  for (const TableId id : fib.table_ids()) {
    fib.find_table(id)->for_each([&](const fib::RouteSet& set) {
      const fib::RouteFields& fields = set.slots.front().route->fields();
      if (fields.source.length() == 0) return;
      lines += fmt::format(
          "route append throw {} from 2001:db8:ffff::1/128 table {} metric 4000000000\n",
          fields.destination.to_string(), id.value);
    });
  }
  return lines;
}

Comparison compare(const std::vector<std::string>& lines, const std::vector<Query>& flows) {
  Comparison result;
  auto kernel = KernelRouter::create();
  if (!kernel) {
    result.differences.push_back({.line = "(namespaces)",
                                  .flow = {},
                                  .kernel = kernel.error().message,
                                  .ours = {},
                                  .explanation = {}});
    return result;
  }
  OurRouter ours;
  const std::string text = joined(lines);
  const auto our_outcomes = ours.apply(text);
  compare_lines(kernel->apply(text), our_outcomes, result);
  RouteQuery query(kernel->router());
  const auto is_absent = [&](const std::string& device) {
    return !device.empty() && ours.fib().links().find(device) == nullptr;
  };
  for (const auto& flow : flows) {
    if (is_absent(flow.iif) || is_absent(flow.oif)) continue;
    ++result.flows;
    const QueryAnswer said = query.ask(flow);
    if (said.error != 0) ++result.erroring_flows;
    const OurAnswer mine = ours.ask(flow);
    if (same(said, mine)) continue;
    if (same_for_another_hash(said, ours, flow)) {
      ++result.other_choices;
      continue;
    }
    result.differences.push_back(
        {.line = {},
         .flow = flow,
         .kernel = said.to_string(),
         .ours = mine.answer.to_string(),
         .explanation = shares_nexthop_object(said, mine.answer, ours.fib())
                            ? std::string(kSharedObject)
                            : std::string()});
  }
  explain_lost_subtrees(*kernel, query, ours, result);
  return result;
}

std::vector<std::string> shrink(std::vector<std::string> lines, const Difference& difference) {
  const auto persists = [&](const std::vector<std::string>& fewer) {
    const Comparison now = compare(
        fewer, difference.flow ? std::vector<Query>{*difference.flow} : std::vector<Query>{});
    // A flow must still differ, while every line still does what it does in the kernel.
    if (difference.flow) {
      return now.differences.size() == 1 && now.differences[0].flow &&
             now.differences[0].explanation.empty();
    }
    return std::any_of(now.differences.begin(), now.differences.end(), [&](const Difference& one) {
      return one.line == difference.line && one.kernel == difference.kernel;
    });
  };
  for (std::size_t chunk = std::max<std::size_t>(lines.size() / 2, 1); chunk >= 1; chunk /= 2) {
    for (std::size_t end = lines.size(); end > 0;) {
      const std::size_t begin = end > chunk ? end - chunk : 0;
      std::vector<std::string> fewer(lines.begin(),
                                     lines.begin() + static_cast<std::ptrdiff_t>(begin));
      fewer.insert(fewer.end(), lines.begin() + static_cast<std::ptrdiff_t>(end), lines.end());
      if (persists(fewer)) lines = std::move(fewer);
      end = begin;
    }
    if (chunk == 1) break;
  }
  return lines;
}

}  // namespace sidestep::kernel
