// SPDX-License-Identifier: Apache-2.0
// Comparing the kernel's answers with ours, and making a difference small.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <sidestep/lookup/fib.hpp>

#include "kernel/random_config.hpp"

namespace sidestep::kernel {

/// What a comparison does next: apply a configuration line to both sides, or ask both about a flow.
using Step = std::variant<std::string, Query>;
[[nodiscard]] std::string to_string(const Step& step);
/// Reads a step back: `route get …` is a flow, anything else a line.
[[nodiscard]] Step parse_step(const std::string& text);

/// One difference: in what became of a line, or in the answer to a flow.
struct Difference {
  std::size_t step = 0;  ///< which one
  std::string what;      ///< the line or the flow
  std::string kernel;    ///< what the kernel said
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

/// Takes the steps in order on both sides, and compares every line's outcome and every flow's answer.
[[nodiscard]] Comparison compare(const std::vector<Step>& steps);

/// Takes steps away as long as the difference persists; it is in the last one.
[[nodiscard]] std::vector<Step> shrink(std::vector<Step> steps, const Difference& difference);

/// Heading of docs/kernel-differences.md.
inline constexpr std::string_view kLostSubtree = "A prefix whose routes are all source-specific";
/// Adds a route that matches no flow to every prefix with source-specific routes. The kernel finds lost prefixes again when it does
/// that once or twice.
/// @param number  of the attempt, from 1; each adds other routes
[[nodiscard]] std::string repairing_lines(const lookup::Fib& fib, unsigned number);

}  // namespace sidestep::kernel
