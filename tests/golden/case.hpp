// SPDX-License-Identifier: Apache-2.0
// A golden case: a router's configuration, frames into it, and what must come of each.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "golden/packets.hpp"

namespace sidestep::golden {

struct GoldenFrame {
  std::string device;
  Bytes frame;
  unsigned count = 1;  ///< the same frame that many times
};

/// One frame in and everything that must come of it.
struct Step {
  std::string words;  ///< one line on what it shows
  GoldenFrame in;
  std::vector<GoldenFrame> out;
  /// Counters that must have moved by exactly this; `NAME` or `NAME@DEVICE`. Others are compared between kernel and ours only.
  std::vector<std::pair<std::string, std::int64_t>> counters;
  std::string verdict;  ///< ours: `forwarded`, `delivered`, `answered` or a drop reason
  std::string
      kernel_difference;  ///< heading of docs/kernel-differences.md when the kernel does something else
};

struct Case {
  std::string name;   ///< directory under tests/golden, named by what it shows
  std::string words;  ///< a sentence or two
  std::string config;
  std::vector<Step> steps;
};

/// All cases, in the order of what they are about.
[[nodiscard]] std::vector<Case> all_cases();

/// The text of `router.conf`: the case's words as a comment, then its lines.
[[nodiscard]] std::string print_config(const Case& golden);
/// The text of `packets.txt`, and back. A wrong text aborts with the line.
[[nodiscard]] std::string print_steps(const Case& golden);
[[nodiscard]] std::vector<Step> parse_steps(const std::string& text, const std::string& file);

/// Every case directory under `directory`, by name.
[[nodiscard]] std::vector<Case> read_cases(const std::string& directory);

}  // namespace sidestep::golden
