// SPDX-License-Identifier: Apache-2.0
#include "kernel/oracle_report.hpp"

#include <fmt/format.h>

#include "kernel/netns.hpp"

namespace sidestep::kernel {

bool must_skip(std::string_view what) {
  std::string why;
  if (namespaces_available(why)) return false;
  fmt::print("SKIPPED: {} not compared with the kernel: {}\n", what, why);
  return true;
}

void print_explained(const std::map<std::string, std::uint64_t>& explained) {
  for (const auto& [heading, count] : explained) {
    fmt::print("  {} explained by docs/kernel-differences.md, \"{}\"\n", count, heading);
  }
}

}  // namespace sidestep::kernel
