// SPDX-License-Identifier: Apache-2.0
// Random routers and random flows toward them, small enough that everything overlaps with everything.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "kernel/route_query.hpp"

namespace sidestep::kernel {

/// Deterministic choices from one seed, the same with every standard library.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  /// 0 .. bound-1
  std::uint64_t below(std::uint64_t bound) { return engine_() % bound; }
  bool chance(unsigned percent) { return below(100) < percent; }
  template <typename Container>
  const auto& pick(const Container& container) {
    return container[below(container.size())];
  }

 private:
  std::mt19937_64 engine_;
};

/// A configuration in the language of `ip -6 -batch` with our extensions, and what flows need to know of it.
struct RandomConfig {
  std::vector<std::string> lines;
  std::vector<std::string> devices;
  bool has_objects = false;  ///< whether nexthop objects take part
  [[nodiscard]] std::string text() const;
};

/// A router with two to five devices, several tables, all route types, nexthop objects, rules with every selector that the kernel has,
/// and some lines that must fail.
[[nodiscard]] RandomConfig random_config(std::uint64_t seed);
/// What happens to such a router while it runs: routes, rules, nexthop objects, devices and addresses come, change and go. The lines join
/// those of the configuration, so that later updates find what earlier ones made.
[[nodiscard]] std::vector<std::string> random_updates(RandomConfig& config, Dice& dice);
/// A flow that is likely to meet what the configuration has.
[[nodiscard]] Query random_query(const RandomConfig& config, Dice& dice);

}  // namespace sidestep::kernel
