// SPDX-License-Identifier: Apache-2.0
// What must be equal: which lines of a configuration fail and with which errno, and for each flow the errno, or the route (table,
// prefix, source prefix, type, protocol, metric, nexthop object), all its hops, and the hop chosen. The kernel's multipath hash is
// seeded at random, so a choice among several hops is equal when each side chose one that has a share on the other side.

#include "kernel/lookup_comparison.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

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
  for (const auto& flow : flows) {
    ++result.flows;
    const QueryAnswer said = query.ask(flow);
    if (said.error != 0) ++result.erroring_flows;
    const OurAnswer mine = ours.ask(flow);
    if (same(said, mine)) continue;
    result.differences.push_back({.line = {},
                                  .flow = flow,
                                  .kernel = said.to_string(),
                                  .ours = mine.answer.to_string(),
                                  .explanation = {}});
  }
  return result;
}

std::vector<std::string> shrink(std::vector<std::string> lines, const Difference& difference) {
  const auto persists = [&](const std::vector<std::string>& fewer) {
    const Comparison now = compare(
        fewer, difference.flow ? std::vector<Query>{*difference.flow} : std::vector<Query>{});
    return std::any_of(now.differences.begin(), now.differences.end(), [&](const Difference& one) {
      if (difference.flow) return one.flow.has_value();
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
