// SPDX-License-Identifier: Apache-2.0
// A reader: looks up flow after flow, one by one and in batches, and judges every answer.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "torture/histogram.hpp"
#include "torture/subject.hpp"

namespace sidestep::torture {

/// What the readers saw, together.
struct Observations {
  std::uint64_t sections = 0;
  std::uint64_t lookups = 0;
  std::uint64_t faults = 0;
  std::uint64_t promoted = 0;
  std::uint64_t died = 0;  ///< promotions that failed because the route was gone
  Histogram age;           ///< how many versions the answer is behind what was done when it came
  Histogram time_ns;       ///< of a single lookup, by the clock on the wall
  Histogram
      thread_time_ns;  ///< the same by the thread's own clock, which stands still while others run
  Histogram batch_time_ns;  ///< of a batch, by the clock on the wall

  void add(const Observations& other);
};

class LookupReader {
 public:
  LookupReader(const World& world, const Subjects& subjects, std::uint64_t seed)
      : world_(world), subjects_(subjects), random_(seed) {}

  /// Reads until told to stop. On the thread that reads; registers it.
  void run(const std::atomic<bool>& stop);
  [[nodiscard]] const Observations& seen() const noexcept { return seen_; }

 private:
  static constexpr std::size_t kBatch = 64;
  static constexpr std::size_t kKept = 32;
  /// A destination that is kept across sections, and what it said when it was promoted.
  struct Kept {
    fib::OwnedDst dst;
    Facts facts;
  };
  /// A lookup before its answer.
  struct Question {
    const Subject* subject = nullptr;
    std::uint64_t done_before = 0;
    lookup::Flow flow;
  };

  void read_section();
  void read_batch();
  void read_switched();
  void read_one();
  void keep(const lookup::Answer& answer);
  void check_kept();
  [[nodiscard]] Question ask();
  /// Judges an answer; the version that it shows.
  std::uint64_t judge(const Question& question, const lookup::Answer& answer);
  void report(const char* what, const Question& question, const Facts& facts);

  const World& world_;
  const Subjects& subjects_;
  Random random_;
  Observations seen_;
  std::array<Kept, kKept> kept_;
};

}  // namespace sidestep::torture
