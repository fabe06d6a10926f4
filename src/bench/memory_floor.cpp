// SPDX-License-Identifier: Apache-2.0
#include "bench/memory_floor.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include "bench/huge_array.hpp"
#include "bench/random.hpp"

namespace sidestep::bench {
namespace {

struct alignas(64) Line {
  std::uint64_t next;
  std::array<std::uint64_t, 7> rest;
};

/// One cycle through all lines in random order.
HugeArray<Line> make_cycle(std::size_t lines) {
  std::vector<std::uint64_t> order(lines);
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  Random random(lines);
  for (std::size_t i = lines; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  HugeArray<Line> cycle(lines);
  for (std::size_t i = 0; i < lines; ++i) cycle[order[i]].next = order[(i + 1) % lines];
  return cycle;
}

void load_dependent(const HugeArray<Line>& lines, std::size_t loads) {
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < loads; ++i) at = lines[at].next;
  keep(at);
}

/// Groups of 32: all addresses first, with a prefetch each, then the loads. An LCG makes the addresses, which costs little
/// beside a load.
void load_independent(const HugeArray<Line>& lines, std::size_t loads) {
  std::array<std::uint64_t, 32> at;
  std::uint64_t state = 1;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < loads; i += at.size()) {
    for (auto& one : at) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      one = ((state >> 32) * lines.size()) >> 32;
      __builtin_prefetch(&lines[one]);
    }
    for (const auto one : at) sum += lines[one].next;
  }
  keep(sum);
}

}  // namespace

MemoryFloor measure_memory_floor(std::size_t bytes, std::size_t loads, unsigned rounds) {
  const auto lines = make_cycle(std::max<std::size_t>(bytes / sizeof(Line), 64));
  const std::size_t dependent_loads = std::max<std::size_t>(loads / 8, 1);
  Rounds turns;
  turns.add(loads, [&] { load_independent(lines, loads); });
  turns.add(dependent_loads, [&] { load_dependent(lines, dependent_loads); });
  const auto timings = turns.run(rounds);
  return {timings[0], timings[1]};
}

}  // namespace sidestep::bench
