// SPDX-License-Identifier: Apache-2.0
// Route lookups whose right answer surprises people, stated one by one.
#pragma once

#include <string>
#include <vector>

namespace sidestep::golden {

/// A question in the words of `route get`, and its answer: `ERRNO`, or `[via GATEWAY ]dev DEVICE PREFIX[ from SOURCE] table N`.
struct LookupStep {
  std::string query;
  std::string answer;
};

struct LookupCase {
  std::string name;
  std::string words;
  std::string config;  ///< behind lookup_lab()
  std::vector<LookupStep> steps;
  /// Lines of `config` that must fail, with their errno's name.
  std::vector<LookupStep> failing_lines;
};

/// A router with r-a (2001:db8:a::1/64) and r-b (2001:db8:b::1/64), forwarding.
[[nodiscard]] std::string lookup_lab();
[[nodiscard]] const std::vector<LookupCase>& lookup_cases();

}  // namespace sidestep::golden
