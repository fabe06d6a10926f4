// SPDX-License-Identifier: Apache-2.0
// What a step states, as a packet outcome to compare with.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "golden/case.hpp"
#include "kernel/packet_run.hpp"

namespace sidestep::golden {

/// In words, how an outcome differs from what the step states; empty when it does not.
inline std::string deviation(const Step& step, const kernel::PacketOutcome& outcome) {
  kernel::PacketOutcome stated;
  for (const auto& out : step.out)
    stated.sent.insert(stated.sent.end(), out.count, {out.device, out.frame});
  std::sort(stated.sent.begin(), stated.sent.end());
  std::string text;
  if (stated.sent != outcome.sent) {
    const auto list = [&](std::string_view who, const std::vector<kernel::DeviceFrame>& frames) {
      text += fmt::format("  {}: {} frames\n", who, frames.size());
      for (const auto& one : frames)
        text += fmt::format("   out {}\n{}\n", one.device, kernel::hex_of(one.frame));
    };
    list("stated", stated.sent);
    list("sent", outcome.sent);
  }
  for (const auto& [name, delta] : step.counters) {
    const auto found = outcome.counters.find(name);
    const std::int64_t moved = found == outcome.counters.end() ? 0 : found->second;
    if (moved != delta) text += fmt::format("  {}: stated {}, moved {}\n", name, delta, moved);
  }
  return text;
}

/// The directory of the golden cases: next to these sources.
inline std::string golden_directory() { return SIDESTEP_GOLDEN_DIRECTORY; }

/// A case's name as GoogleTest wants it.
inline std::string test_name(const std::string& name) {
  std::string text = name;
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

}  // namespace sidestep::golden
