// SPDX-License-Identifier: Apache-2.0
// Comparing the kernel's answers with ours, and making a difference small.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sidestep/lookup/fib.hpp>

#include "kernel/random_config.hpp"

namespace sidestep::kernel {

/// One difference: in what became of a line, or in the answer to a flow.
struct Difference {
  std::string line;  ///< the configuration line; empty: the flow
  std::optional<Query> flow;
  std::string kernel;  ///< what the kernel said
  std::string ours;
  std::string
      explanation;  ///< heading of docs/kernel-differences.md that covers it; empty: unexplained
};

struct Comparison {
  std::uint64_t lines = 0;
  std::uint64_t failed_lines = 0;  ///< that failed in the kernel
  std::uint64_t flows = 0;
  std::uint64_t erroring_flows = 0;
  std::uint64_t other_choices = 0;  ///< equal only when ours chooses another of several equal hops
  std::vector<Difference> differences;
};

/// Applies `lines` to the kernel and to ours, compares every line's outcome, then asks both about every flow.
[[nodiscard]] Comparison compare(const std::vector<std::string>& lines,
                                 const std::vector<Query>& flows);

/// Takes lines away as long as the difference, of a flow or of the last line, persists.
[[nodiscard]] std::vector<std::string> shrink(std::vector<std::string> lines,
                                              const Difference& difference);

/// Heading of docs/kernel-differences.md.
inline constexpr std::string_view kLostSubtree = "A prefix whose routes are all source-specific";
/// Adds, beside every source-specific route, one that matches no flow. The kernel finds lost prefixes again when it does that.
[[nodiscard]] std::string repairing_lines(const lookup::Fib& fib);

}  // namespace sidestep::kernel
