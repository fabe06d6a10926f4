// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

namespace sidestep::bench {

/// Middle and least of several measurements.
struct Timing {
  double median = 0;
  double minimum = 0;
};

[[nodiscard]] Timing timing_of(std::vector<double> values);

/// Keeps a value that nobody reads, and everything reachable from it, from being optimized away.
template <typename T>
inline void keep(const T& value) {
  asm volatile("" : : "r"(&value) : "memory");
}

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Contestants that take turns: every round runs each of them once, beginning with another one each time, so that a
/// machine that becomes slower or faster meanwhile does so for all of them.
class Rounds {
 public:
  /// @param units  what one run does, so that timings are nanoseconds per unit
  void add(std::size_t units, std::function<void()> run);
  /// Timings in the order of adding.
  [[nodiscard]] std::vector<Timing> run(unsigned rounds) const;

 private:
  struct Contestant {
    std::size_t units;
    std::function<void()> run;
  };
  std::vector<Contestant> contestants_;
};

}  // namespace sidestep::bench
