// SPDX-License-Identifier: Apache-2.0
// One writer changes everything as fast as it can while readers look up and judge every answer; see tests/README.md.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <sidestep/rcu/rcu.hpp>

#include "torture/reader.hpp"

namespace sidestep::torture {
namespace {

struct Options {
  std::uint64_t seconds = 5;
  std::uint64_t seed = 1;
  unsigned readers = std::max(2U, std::thread::hardware_concurrency()) - 1;
  std::uint64_t thread_bound_us = 1000;
  std::uint64_t wall_bound_us = 50'000;
};

struct Written {
  std::uint64_t versions = 0;
  std::uint64_t routes_most =
      0;  ///< alive at once, those that wait for their grace period included
};

Written write(World& world, Subjects& subjects, const Options& options) {
  Random random(options.seed);
  Written written;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(options.seconds);
  while (std::chrono::steady_clock::now() < end) {
    subjects.all[subjects.turns[random() % subjects.turns.size()]]->advance(world);
    ++written.versions;
    written.routes_most = std::max(written.routes_most, fib::Route::live_count());
  }
  return written;
}

void print_times(const char* what, const Histogram& times) {
  fmt::print("{}: p50 {} p99 {} p99.9 {} most {} ns\n", what, times.quantile(0.5),
             times.quantile(0.99), times.quantile(0.999), times.most());
}

void print_ages(const Histogram& age) {
  fmt::print("versions behind what was done when the answer came:");
  std::uint64_t first = 0;
  for (const std::uint64_t last : {0U, 1U, 3U, 7U, 15U, 31U, 63U, 127U, 1023U}) {
    fmt::print(" {}: {}", first == last ? fmt::to_string(first) : fmt::format("{}-{}", first, last),
               age.between(first, last));
    first = last + 1;
  }
  fmt::print(" most: {}\n", age.most());
}

/// True when nothing was wrong.
bool judge(const Options& options, const Observations& seen, std::uint64_t routes_left) {
  bool good = seen.faults == 0 && seen.lookups != 0;
  const auto bound = [&](const char* what, const Histogram& times, std::uint64_t bound_us) {
    const std::uint64_t ns = times.quantile(0.999);
    if (ns <= bound_us * 1000) return;
    fmt::print("FAILED: p99.9 of a lookup's {} is {} ns, bound {} us\n", what, ns, bound_us);
    good = false;
  };
  bound("own time", seen.thread_time_ns, options.thread_bound_us);
  bound("time", seen.time_ns, options.wall_bound_us);
  if (routes_left != 0 || fib::uncached_count() != 0) {
    fmt::print("FAILED: {} routes and {} uncached destinations are left\n", routes_left,
               fib::uncached_count());
    good = false;
  }
  if (seen.faults != 0) fmt::print("FAILED: {} wrong answers\n", seen.faults);
  return good;
}

bool run(const Options& options) {
  Observations seen;
  Written written;
  std::uint64_t changes = 0;
  const std::uint64_t routes_before = fib::Route::live_count();
  {
    World world;
    Subjects subjects = make_subjects(world);
    std::atomic<bool> stop{false};
    std::vector<std::unique_ptr<LookupReader>> readers;
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < options.readers; ++i) {
      readers.push_back(std::make_unique<LookupReader>(world, subjects, options.seed * 1000 + i));
      threads.emplace_back([&stop, reader = readers.back().get()] { reader->run(stop); });
    }
    written = write(world, subjects, options);
    changes = world.changes();
    stop.store(true, std::memory_order_relaxed);  // join() orders the rest
    for (auto& thread : threads) thread.join();
    for (const auto& reader : readers) seen.add(reader->seen());
  }
  rcu::barrier();
  fmt::print(
      "torture: seed {}, {} s, {} readers: {} changes in {} versions, at most {} routes alive\n",
      options.seed, options.seconds, options.readers, changes, written.versions,
      written.routes_most);
  fmt::print("{} lookups in {} sections, {} promoted, {} died before, {} faults\n", seen.lookups,
             seen.sections, seen.promoted, seen.died, seen.faults);
  print_ages(seen.age);
  print_times("a lookup", seen.time_ns);
  print_times("a lookup, the thread's own time", seen.thread_time_ns);
  print_times("a batch of 64", seen.batch_time_ns);
  return judge(options, seen, fib::Route::live_count() - routes_before);
}

}  // namespace
}  // namespace sidestep::torture

int main(int argc, char** argv) {
  CLI::App app{"One writer changes everything while readers judge every answer"};
  sidestep::torture::Options options;
  app.add_option("--seconds", options.seconds, "how long");
  app.add_option("--seed", options.seed, "of the writer's and the readers' choices");
  app.add_option("--readers", options.readers, "threads that look up")->check(CLI::Range(1, 256));
  app.add_option("--own-bound", options.thread_bound_us,
                 "microseconds: p99.9 of a lookup's own time");
  app.add_option("--bound", options.wall_bound_us,
                 "microseconds: p99.9 of a lookup's time, others' turns on the processor included");
  CLI11_PARSE(app, argc, argv);
  return sidestep::torture::run(options) ? 0 : 1;
}
