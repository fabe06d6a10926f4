// SPDX-License-Identifier: Apache-2.0
// Answers in the short form in which lookup cases state them.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "golden/lookup_cases.hpp"
#include "kernel/kernel_router.hpp"
#include "kernel/route_query.hpp"

namespace sidestep::golden {

inline std::string error_name(int error) {
  const char* name = strerrorname_np(error);
  return name == nullptr ? std::to_string(error) : name;
}

inline std::string short_text(const kernel::QueryAnswer& answer) {
  if (answer.error != 0) return error_name(answer.error);
  return fmt::format("{}dev {} {}{} table {}",
                     answer.chosen.gateway ? "via " + answer.chosen.gateway->to_string() + " " : "",
                     answer.chosen.device, answer.destination.to_string(),
                     answer.source.length() == 0 ? "" : " from " + answer.source.to_string(),
                     answer.table);
}

inline std::vector<std::string> failing_lines(const std::vector<kernel::LineOutcome>& outcomes) {
  std::vector<std::string> failing;
  for (const auto& one : outcomes) {
    if (one.error != 0) failing.push_back(one.text + ": " + error_name(one.error));
  }
  return failing;
}

inline std::vector<std::string> stated_failures(const LookupCase& stated) {
  std::vector<std::string> failing;
  for (const auto& one : stated.failing_lines) failing.push_back(one.query + ": " + one.answer);
  return failing;
}

}  // namespace sidestep::golden
