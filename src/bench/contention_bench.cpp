// SPDX-License-Identifier: Apache-2.0
//
// What counting costs when several threads want the same route. Both modes are the same walk over the same router: rules
// local, one of the user's, main, of which the first two have nothing, and one destination that everybody looks up. One mode
// only borrows; the other counts each result (counting_walk.hpp). Threads keep to processors of their own.
#include "bench/contention_bench.hpp"

#include <atomic>
#include <barrier>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <sidestep/rcu/rcu.hpp>

#include "bench/bench_router.hpp"
#include "bench/contender.hpp"
#include "bench/counting_walk.hpp"
#include "bench/machine.hpp"
#include "lookup/apply.hpp"
#include "lookup/state.hpp"
#include "lookup/walk.hpp"

namespace sidestep::bench {
namespace {

constexpr std::size_t kBatch = 64;  // lookups of one read section

/// The router, one level below the library's face, because the walk takes its observer there.
class HotRouter {
 public:
  HotRouter() : state_({}, 1) {
    make_devices([this](const auto& one) { return apply(one); });
    change(rule_change(1000, TableId{1000}));
    change(route_change(lookup::RouteVerb::kAdd, prefix_of(0xfd), TableId{1000}));
    change(route_change(lookup::RouteVerb::kAdd, hot_prefix(), kTableMain));
    flow_.destination = hot_prefix().address();
    flow_.destination.bytes[15] = 1;
    flow_.source = prefix_of(0x20).address();
    flow_.iif = state_.links().find(kFrom)->index;
  }
  template <typename Observer>
  [[nodiscard]] lookup::Answer look_up(Observer& observer) const {
    const lookup::Snapshot& snapshot = state_.current();
    return lookup::walk_rules(lookup::Query{snapshot, flow_, flow_.iif, {}}, observer);
  }
  [[nodiscard]] static net::Prefix hot_prefix() { return prefix_of(0x2a); }

 private:
  static net::Prefix prefix_of(std::uint8_t first) {
    return {net::Ipv6Address{{first, 0x01, 0x0d, 0xb8}}, 32};
  }
  Result<void> apply(const lookup::Change& change) {
    auto result =
        std::visit([this](const auto& one) { return apply_change(state_, one, {}); }, change);
    state_.publish();
    return result;
  }
  void change(const lookup::Change& change) {
    must([this](const auto& one) { return apply(one); }, change);
  }
  lookup::State state_;
  lookup::Flow flow_;
};

enum class Mode : bool { kBorrowed, kCounted };

class Race {
 public:
  explicit Race(std::size_t lookups) : lookups_(lookups) {}

  /// Runs this many threads, each with all its lookups.
  void run(Mode mode, unsigned threads) {
    std::barrier start(threads);
    std::vector<std::thread> running;
    running.reserve(threads);
    for (unsigned i = 0; i < threads; ++i) {
      running.emplace_back([this, mode, i, &start] {
        const Pin pin(i);
        const rcu::Reader reader;
        start.arrive_and_wait();
        mode == Mode::kBorrowed ? borrow() : count();
      });
    }
    for (auto& thread : running) thread.join();
  }
  /// One lookup of each mode, compared.
  [[nodiscard]] Checked check() {
    const rcu::Reader reader;
    const rcu::ReadSection section;
    lookup::Silent silent;
    Counting counting(null_);
    Checked checked;
    for (const bool counted : {false, true}) {
      const auto answer = counted ? router_.look_up(counting) : router_.look_up(silent);
      ++checked.compared;
      const bool right = answer.route() != nullptr &&
                         answer.route()->fields().destination == HotRouter::hot_prefix();
      checked.mismatches += right ? 0U : 1U;
    }
    return checked;
  }

 private:
  void borrow() {
    for (std::size_t at = 0; at < lookups_; at += kBatch) {
      const rcu::ReadSection section;
      for (std::size_t i = 0; i < kBatch; ++i) {
        lookup::Silent silent;
        keep(router_.look_up(silent));
      }
    }
  }
  void count() {
    for (std::size_t at = 0; at < lookups_; at += kBatch) {
      const rcu::ReadSection section;
      for (std::size_t i = 0; i < kBatch; ++i) {
        Counting counting(null_);
        keep(router_.look_up(counting));
      }
    }
  }
  std::size_t lookups_;
  HotRouter router_;
  Counting::NullCounter null_;
};

}  // namespace

void bench_contention(const Options& options, Report& report) {
  report.section("contention, three tables, the first two miss, one hot route");
  Race race(options.contended);
  const Checked checked = race.check();
  Rounds rounds(Clock::kWall);
  for (const Mode mode : {Mode::kBorrowed, Mode::kCounted}) {
    for (const unsigned threads : {1U, 2U}) {
      rounds.add(options.contended * threads, [&race, mode, threads] { race.run(mode, threads); });
    }
  }
  const auto timings = rounds.run(options.rounds);
  const bool two_cores = std::thread::hardware_concurrency() >= 2;
  for (std::size_t i = 0; i < 4; ++i) {
    const bool borrowed = i < 2;
    const bool both = i % 2 == 1;
    Row row{.what = fmt::format("{} thread{}", both ? 2 : 1, both ? "s" : ""),
            .contender = borrowed ? "borrowed" : "counted",
            .figure = timings[i],
            .checked = checked.compared,
            .mismatches = checked.mismatches};
    if (both) {
      row.ratio = timings[i - 1].median / timings[i].median;
      row.note = "throughput of two threads by that of one";
      if (borrowed && two_cores) row.target = at_least(1.9);
    } else if (!borrowed) {
      row.ratio = timings[i].median / timings[0].median;
      row.note = "by borrowed";
    }
    report.add(std::move(row));
  }
  report.add({.what = "2 threads",
              .contender = "counted by borrowed",
              .figure = timings[3],
              .ratio = timings[3].median / timings[1].median,
              .checked = checked.compared,
              .mismatches = checked.mismatches});
}

}  // namespace sidestep::bench
