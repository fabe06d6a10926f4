// SPDX-License-Identifier: Apache-2.0
#pragma once

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

/// Which time is taken.
enum class Clock : bool {
  kWall,
  kThread,  ///< the calling thread's own: what else runs on the processor does not count, though it still disturbs caches
};

class Stopwatch {
 public:
  explicit Stopwatch(Clock clock = Clock::kWall) : clock_(clock), start_(now()) {}
  [[nodiscard]] double seconds() const { return now() - start_; }

 private:
  [[nodiscard]] double now() const;
  Clock clock_;
  double start_;
};

/// Contestants that take turns: every round runs each of them once, beginning with another one each time, so that a
/// machine that becomes slower or faster meanwhile does so for all of them.
class Rounds {
 public:
  explicit Rounds(Clock clock = Clock::kThread) : clock_(clock) {}
  /// @param units  what one run does, so that timings are nanoseconds per unit
  void add(std::size_t units, std::function<void()> run);
  /// Timings in the order of adding.
  [[nodiscard]] std::vector<Timing> run(unsigned rounds) const;

 private:
  struct Contestant {
    std::size_t units;
    std::function<void()> run;
  };
  Clock clock_;
  std::vector<Contestant> contestants_;
};

}  // namespace sidestep::bench
