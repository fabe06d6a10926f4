// SPDX-License-Identifier: Apache-2.0
#include "bench/rounds.hpp"

#include <algorithm>
#include <utility>

#include <time.h>

namespace sidestep::bench {

Timing timing_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto middle = values.size() / 2;
  const double median =
      values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {median, values.front()};
}

double Stopwatch::now() const {
  timespec time{};
  clock_gettime(clock_ == Clock::kWall ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

void Rounds::add(std::size_t units, std::function<void()> run) {
  contestants_.push_back({units, std::move(run)});
}

std::vector<Timing> Rounds::run(unsigned rounds) const {
  const std::size_t count = contestants_.size();
  std::vector<std::vector<double>> values(count);
  for (unsigned round = 0; round < rounds; ++round) {
    for (std::size_t turn = 0; turn < count; ++turn) {
      const std::size_t who = (turn + round) % count;
      const Stopwatch stopwatch(clock_);
      contestants_[who].run();
      values[who].push_back(stopwatch.seconds() * 1e9 /
                            static_cast<double>(contestants_[who].units));
    }
  }
  std::vector<Timing> timings;
  timings.reserve(count);
  for (auto& each : values) timings.push_back(timing_of(std::move(each)));
  return timings;
}

}  // namespace sidestep::bench
