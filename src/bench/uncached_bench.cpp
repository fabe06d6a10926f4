// SPDX-License-Identifier: Apache-2.0
//
// A destination for one use (a tunnel's, a packet with its own MTU) is in no table. Nobody can have borrowed it, so its last release
// may free it on the spot; the classical way is to send it through a grace period like everything else. Both variants make
// batches of 64 inside a read section and let them go: the first through OwnedDst, the second by retiring the same object. The
// second is done when all memory is back, so it waits for the last grace period; that is part of its price.
//
// Without a limit the backlog of the second may grow to any size. When it has taken half of the memory that was free, the
// benchmark waits for a grace period, and says how often it did.
#include "bench/uncached_bench.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sidestep/fib/dst.hpp>
#include <sidestep/rcu/rcu.hpp>

#include "bench/machine.hpp"
#include "bench/rounds.hpp"

namespace sidestep::bench {
namespace {

constexpr std::size_t kBatch = 64;
constexpr const char* kAtOnce = "at-once";
constexpr const char* kGracePeriod = "grace-period";

fib::DstFields fields_for(std::size_t number) {
  fib::DstFields fields;
  fields.device = IfIndex{2};
  fields.mtu = 1280 + static_cast<std::uint32_t>(number % 64);
  return fields;
}

void free_at_once(std::size_t count) {
  const rcu::Reader reader;
  std::array<fib::OwnedDst, kBatch> batch;
  for (std::size_t at = 0; at < count; at += kBatch) {
    const rcu::ReadSection section;
    for (std::size_t i = 0; i < kBatch; ++i) batch[i] = fib::make_uncached(fields_for(at + i));
    keep(batch[0].get());
    for (auto& dst : batch) dst.reset();
  }
}

/// The same object, made to be retired.
struct Retired : rcu::Retirable {
  explicit Retired(const fib::DstFields& fields) : dst(fib::DstClass::kUncached, fields, nullptr) {
    destroy = [](rcu::Retirable* object) {
      const std::unique_ptr<Retired> owned(static_cast<Retired*>(object));
    };
  }
  fib::Dst dst;
};

/// @return how often memory was waited for
std::size_t free_after_grace_period(std::size_t count) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const auto limit = static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)) * page / 2;
  std::size_t waits = 0;
  {
    const rcu::Reader reader;
    std::array<std::unique_ptr<Retired>, kBatch> batch;
    for (std::size_t at = 0; at < count; at += kBatch) {
      {
        const rcu::ReadSection section;
        for (std::size_t i = 0; i < kBatch; ++i) {
          batch[i] = std::make_unique<Retired>(fields_for(at + i));
        }
        keep(batch[0]->dst);
        for (auto& one : batch) rcu::retire(one.release());
      }
      if (at % (kBatch << 14) == 0 && resident_bytes() > limit) {
        rcu::barrier();
        ++waits;
      }
    }
  }
  rcu::barrier();
  return waits;
}

/// The most memory that this process had; of this program alone, unlike getrusage().
std::size_t peak_bytes() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmHWM:")) return std::strtoull(line.c_str() + 6, nullptr, 10) * 1024;
  }
  return 0;
}

struct Outcome {
  double seconds = 0;
  double megabytes = 0;
  std::size_t waits = 0;
};

std::string output_of(const std::string& program, const char* variant, std::size_t count) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return "";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  std::array<std::string, 4> words{program, "uncached-run", variant, std::to_string(count)};
  std::array<char*, 5> arguments{words[0].data(), words[1].data(), words[2].data(), words[3].data(),
                                 nullptr};
  pid_t child = 0;
  const int error =
      posix_spawn(&child, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::array<char, 256> buffer{};
  std::string text;
  for (ssize_t got = 0; error == 0 && (got = read(ends[0], buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  close(ends[0]);
  int status = 1;
  if (error != 0 || waitpid(child, &status, 0) != child || status != 0) return "";
  return text;
}

std::optional<Outcome> start(const std::string& program, const char* variant, std::size_t count) {
  std::istringstream text(output_of(program, variant, count));
  Outcome outcome;
  if (!(text >> outcome.seconds >> outcome.megabytes >> outcome.waits)) return std::nullopt;
  outcome.megabytes /= 1e6;
  return outcome;
}

/// Several runs of one variant.
struct Runs {
  std::vector<double> seconds;
  std::vector<double> megabytes;
  std::size_t waits = 0;
  bool failed = false;

  void add(const std::optional<Outcome>& outcome) {
    if (!outcome) {
      failed = true;
      return;
    }
    seconds.push_back(outcome->seconds);
    megabytes.push_back(outcome->megabytes);
    waits += outcome->waits;
  }
  [[nodiscard]] std::optional<Timing> time() const {
    return failed ? std::nullopt : std::optional(timing_of(seconds));
  }
  [[nodiscard]] std::optional<Timing> memory() const {
    return failed ? std::nullopt : std::optional(timing_of(megabytes));
  }
  [[nodiscard]] std::string note() const {
    if (failed) return "the process failed; out of memory?";
    return waits == 0 ? "" : fmt::format("waited {} times for memory", waits);
  }
};

std::optional<double> ratio_of(const std::optional<Timing>& above,
                               const std::optional<Timing>& below) {
  if (!above || !below) return std::nullopt;
  return above->median / below->median;
}

}  // namespace

bool run_uncached(const std::string& variant, std::size_t count) {
  const bool at_once = variant == kAtOnce;
  if (!at_once && variant != kGracePeriod) return false;
  const Stopwatch stopwatch;
  std::size_t waits = 0;
  if (at_once) {
    free_at_once(count);
  } else {
    waits = free_after_grace_period(count);
  }
  fmt::print("{} {} {}\n", stopwatch.seconds(), peak_bytes(), waits);
  return true;
}

void bench_uncached(const Options& options, const std::string& program, Report& report) {
  report.section(fmt::format("uncached destinations, {} for one use each", options.uncached));
  Runs at_once;
  Runs tenth;
  Runs through;
  for (unsigned round = 0; round < options.rounds; ++round) {
    at_once.add(start(program, kAtOnce, options.uncached));
    tenth.add(start(program, kAtOnce, options.uncached / 10));
    through.add(start(program, kGracePeriod, options.uncached));
  }
  report.add({.what = "wall time",
              .contender = "freed at once",
              .figure = at_once.time(),
              .unit = "s",
              .note = at_once.note()});
  report.add({.what = "wall time",
              .contender = "through a grace period",
              .figure = through.time(),
              .unit = "s",
              .ratio = ratio_of(through.time(), at_once.time()),
              .target = at_least(1.27),
              .note = through.note()});
  report.add({.what = "peak memory",
              .contender = "freed at once",
              .figure = at_once.memory(),
              .unit = "MB",
              .ratio = ratio_of(at_once.memory(), tenth.memory()),
              .target = at_most(1.1),
              .note = at_once.failed ? at_once.note() : "by the peak of a tenth as many"});
  report.add({.what = "peak memory",
              .contender = "through a grace period",
              .figure = through.memory(),
              .unit = "MB",
              .ratio = ratio_of(through.memory(), at_once.memory()),
              .note = through.failed ? through.note() : "by freed at once"});
}

}  // namespace sidestep::bench
