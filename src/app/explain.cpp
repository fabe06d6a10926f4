// SPDX-License-Identifier: Apache-2.0
#include "app/explain.hpp"

#include <map>

#include <fmt/format.h>

#include "config/print.hpp"

namespace sidestep::app {
namespace {

std::string prefix_text(const lookup::PrefixStep& step) {
  std::string text = step.destination.to_string();
  if (step.source.length() != 0) text += " from " + step.source.to_string();
  return text;
}

void append_table(std::string& text, const lookup::TableStep& table, std::size_t indent) {
  text += fmt::format("{:{}}table {}: {}\n", "", indent, config::table_name(table.table),
                      table.outcome);
  for (const auto& prefix : table.prefixes) {
    text += fmt::format("{:{}}{}: {}\n", "", indent + 2, prefix_text(prefix), prefix.outcome);
  }
}

nlohmann::ordered_json table_json(const lookup::TableStep& table) {
  auto prefixes = nlohmann::ordered_json::array();
  for (const auto& prefix : table.prefixes) {
    nlohmann::ordered_json one = {{"destination", prefix.destination.to_string()}};
    if (prefix.source.length() != 0) one["source"] = prefix.source.to_string();
    one["outcome"] = prefix.outcome;
    prefixes.push_back(std::move(one));
  }
  return {{"table", config::table_name(table.table)},
          {"outcome", table.outcome},
          {"prefixes", std::move(prefixes)}};
}

}  // namespace

void name_rules(lookup::Explanation& explanation, const lookup::Fib& fib) {
  // Rules of equal preference are walked in their order, so the n-th step of a preference is its n-th rule.
  std::map<std::uint32_t, std::size_t> seen;
  for (auto& step : explanation.rules) {
    if (!step.rule.empty()) continue;
    std::size_t skip = seen[step.preference]++;
    for (const auto& rule : fib.rules()) {
      if (rule.preference != step.preference || skip-- != 0) continue;
      step.rule = config::print_rule(rule);
      break;
    }
    // The two that are wired in are there even when they were deleted.
    if (step.rule.empty() && !step.tables.empty()) {
      step.rule = fmt::format("from all lookup {}", config::table_name(step.tables.front().table));
    }
  }
}

std::string explanation_text(const lookup::Explanation& explanation, std::size_t indent) {
  std::string text;
  for (const auto& rule : explanation.rules) {
    text += fmt::format("{:{}}rule {}:{}{}: {}{}\n", "", indent, rule.preference,
                        rule.rule.empty() ? "" : " ", rule.rule,
                        rule.matched ? "matches" : "does not match",
                        rule.reason.empty() ? "" : fmt::format(" ({})", rule.reason));
    for (const auto& table : rule.tables) append_table(text, table, indent + 2);
    if (rule.matched && !rule.outcome.empty())
      text += fmt::format("{:{}}{}\n", "", indent + 2, rule.outcome);
  }
  if (!explanation.nexthop.empty())
    text += fmt::format("{:{}}nexthop: {}\n", "", indent, explanation.nexthop);
  if (!explanation.ownership.empty())
    text += fmt::format("{:{}}ownership: {}\n", "", indent, explanation.ownership);
  return text;
}

nlohmann::ordered_json explanation_json(const lookup::Explanation& explanation) {
  auto rules = nlohmann::ordered_json::array();
  for (const auto& rule : explanation.rules) {
    auto tables = nlohmann::ordered_json::array();
    for (const auto& table : rule.tables) tables.push_back(table_json(table));
    rules.push_back({{"preference", rule.preference},
                     {"rule", rule.rule},
                     {"matched", rule.matched},
                     {"reason", rule.reason},
                     {"tables", std::move(tables)},
                     {"outcome", rule.outcome}});
  }
  return {{"custom_rules", explanation.custom_rules},
          {"rules", std::move(rules)},
          {"nexthop", explanation.nexthop},
          {"ownership", explanation.ownership}};
}

}  // namespace sidestep::app
