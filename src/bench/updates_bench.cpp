// SPDX-License-Identifier: Apache-2.0
//
// The trie by itself: builds from empty, is it exact before and after random updates, does its memory stay, how fast are
// updates beside a reader, and what does a steady writer cost that reader. After the random updates the trie is compared with
// an oracle and with a fresh trie, both made of the set that the updates should have left.
//
// The writer's thread is registered as no reader, so it holds up no grace period.
#include <chrono>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include <sidestep/rcu/rcu.hpp>

#include "bench/background_reader.hpp"
#include "bench/keys.hpp"
#include "bench/longest_match.hpp"
#include "bench/lookup_bench.hpp"
#include "bench/machine.hpp"
#include "bench/our_trie.hpp"
#include "bench/update_stream.hpp"

namespace sidestep::bench {
namespace {

using Trie = fib::IntervalTrie;

std::unique_ptr<Trie> build_one_by_one(std::span<const net::Prefix> prefixes) {
  auto trie = std::make_unique<Trie>();
  for (const auto& prefix : prefixes) trie->insert(prefix);
  return trie;
}

void apply_updates(Trie& trie, std::span<const Update> updates) {
  for (const auto& update : updates) {
    if (update.insert) {
      trie.insert(update.prefix);
    } else {
      trie.erase(update.prefix);
    }
  }
}

/// Lookups of all kinds of keys against the oracle: the prefix of the leaf that was found must be the longest match.
Checked check_exact(const Trie& trie, std::span<const net::Prefix> prefixes, const Options& options,
                    std::uint64_t seed) {
  const LongestMatch oracle(prefixes);
  Checked checked;
  std::vector<fib::LeafId> leaves(options.exact_keys);
  for (const auto kind : kAllKeyKinds) {
    const auto keys = make_keys(kind, prefixes, options.exact_keys, seed);
    for (std::size_t at = 0; at < keys.size(); at += options.burst) {
      const auto burst = std::min(options.burst, keys.size() - at);
      trie.lookup_batch(keys.span().subspan(at, burst), std::span(leaves).subspan(at, burst));
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const Found expected = oracle.find(keys[i]);
      const net::Prefix wanted = expected == kNothing ? net::Prefix{} : prefixes[expected - 1];
      checked.compared += 2;
      checked.mismatches += trie.prefix(leaves[i]) == wanted ? 0U : 1U;
      checked.mismatches += trie.prefix(trie.lookup(keys[i])) == wanted ? 0U : 1U;
    }
  }
  return checked;
}

void add_exact(const char* what, const Checked& checked, const Options& options, Report& report) {
  report.add({.what = what,
              .contender = "sidestep",
              .unit = "",
              .checked = checked.compared,
              .mismatches = checked.mismatches,
              .must_be_exact = true,
              .note = fmt::format("3 x {} keys, batched and single, {} mismatches",
                                  options.exact_keys, checked.mismatches)});
}

void add_builds(const Options& options, std::span<const net::Prefix> prefixes, Report& report) {
  Rounds rounds(Clock::kWall);
  rounds.add(1, [&] { keep(build_one_by_one(prefixes)); });
  rounds.add(1, [&] {
    Trie trie;
    trie.build_from(prefixes);
  });
  const auto timings = rounds.run(options.rounds);
  const auto seconds = [](const Timing& timing) {
    return Timing{timing.median / 1e9, timing.minimum / 1e9};
  };
  report.add({.what = "build from empty, route by route",
              .contender = "sidestep",
              .figure = seconds(timings[0]),
              .unit = "s",
              .target = figure_at_most(0.5)});
  report.add({.what = "build from empty, bulk",
              .contender = "sidestep",
              .figure = seconds(timings[1]),
              .unit = "s",
              .target = figure_at_most(0.15)});
}

void add_memory(const Trie& used, std::span<const net::Prefix> prefixes, Report& report) {
  Trie fresh;
  fresh.build_from(prefixes);
  const auto megabytes = [](std::size_t bytes) { return static_cast<double>(bytes) / 1e6; };
  const double now = megabytes(used.size().lookup_bytes);
  const double new_one = megabytes(fresh.size().lookup_bytes);
  report.add(
      {.what = "memory after the updates",
       .contender = "sidestep",
       .figure = Timing{now, now},
       .unit = "MB",
       .ratio = now / new_one,
       .target = at_most(1.2),
       .note = fmt::format("fresh build of the same prefixes: {:.2f} MB; writer's own: {:.2f} "
                           "MB, waiting for readers: {:.2f} MB",
                           new_one, megabytes(used.size().leaf_bytes),
                           megabytes(used.size().waiting_bytes))});
}

/// A reader of the trie on keys (a).
class TrieReader {
 public:
  TrieReader(const Trie& trie, std::span<const net::Prefix> prefixes, const Options& options)
      : trie_(trie),
        keys_(make_keys(KeyKind::kPrefixes, prefixes, std::max(options.keys / 8, options.burst),
                        options.seed + 5)),
        leaves_(options.burst),
        reader_([this](std::size_t n) { return look_up(n); }) {}
  [[nodiscard]] std::size_t count() const { return reader_.count(); }

 private:
  std::size_t look_up(std::size_t n) {
    const std::size_t bursts = keys_.size() / leaves_.size();
    const auto burst = keys_.span().subspan(n % bursts * leaves_.size(), leaves_.size());
    trie_.lookup_batch(burst, leaves_);
    keep(leaves_[0]);
    return leaves_.size();
  }
  const Trie& trie_;
  HugeArray<net::Ipv6Address> keys_;
  std::vector<fib::LeafId> leaves_;
  BackgroundReader reader_;
};

/// Applies all updates, a share per round.
/// @return millions of updates per second
Timing time_updates(Trie& trie, std::span<const Update> updates, unsigned rounds) {
  std::vector<double> rates;
  for (unsigned round = 0; round < rounds; ++round) {
    // Shares that add up, so that no update is left out.
    const std::size_t first = updates.size() * round / rounds;
    const std::size_t last = updates.size() * (round + 1) / rounds;
    const auto part = updates.subspan(first, last - first);
    if (part.empty()) continue;
    const Stopwatch stopwatch;
    apply_updates(trie, part);
    rates.push_back(static_cast<double>(part.size()) / 1e6 / stopwatch.seconds());
  }
  return timing_of(std::move(rates));
}

/// Lookups per second of the reader while `meanwhile` runs.
template <typename Meanwhile>
double rate_during(const TrieReader& reader, Meanwhile meanwhile) {
  const auto before = reader.count();
  const Stopwatch stopwatch;
  meanwhile();
  return static_cast<double>(reader.count() - before) / stopwatch.seconds();
}

/// 100 updates each millisecond.
void update_steadily(Trie& trie, UpdateStream& stream, std::chrono::milliseconds duration) {
  const auto start = std::chrono::steady_clock::now();
  for (std::chrono::milliseconds at{0}; at < duration; ++at) {
    std::this_thread::sleep_until(start + at);
    apply_updates(trie, stream.take(100));
  }
  std::this_thread::sleep_until(start + duration);
}

void add_readers_loss(Trie& trie, UpdateStream& stream, const Options& options, Report& report) {
  const TrieReader reader(trie, stream.present(), options);
  const Pin pin(0);
  const std::chrono::milliseconds duration(options.steady_ms);
  std::vector<double> alone;
  std::vector<double> beside;
  std::vector<double> updates_per_second;
  for (unsigned round = 0; round < options.rounds; ++round) {
    alone.push_back(1e9 / rate_during(reader, [&] { std::this_thread::sleep_for(duration); }));
    const Stopwatch stopwatch;
    beside.push_back(1e9 / rate_during(reader, [&] { update_steadily(trie, stream, duration); }));
    updates_per_second.push_back(100.0 * options.steady_ms / stopwatch.seconds());
  }
  const Timing quiet = timing_of(alone);
  const Timing busy = timing_of(beside);
  report.add({.what = "a reader's lookups", .contender = "no updates", .figure = quiet});
  report.add({.what = "a reader's lookups",
              .contender = "100 k updates/s",
              .figure = busy,
              .ratio = quiet.median / busy.median,
              .target = at_least(0.9),
              .note = fmt::format("{:.1f} % lost; the writer managed {:.0f} updates/s",
                                  100 * (1 - quiet.median / busy.median),
                                  timing_of(updates_per_second).median)});
}

}  // namespace

void bench_updates(const Options& options, const PrefixTable& table, Report& report) {
  report.section("the trie by itself: exactness, building, updates");
  add_builds(options, table.prefixes, report);
  const auto trie = build_one_by_one(table.prefixes);
  add_exact("exact as built", check_exact(*trie, table.prefixes, options, options.seed + 23),
            options, report);

  UpdateStream stream(table.prefixes, options.seed + 29);
  const auto half = options.updates / 2;
  report.add({.what = "single-route updates, nobody reads",
              .contender = "sidestep",
              .figure = time_updates(*trie, stream.take(half), options.rounds),
              .unit = "M/s"});
  {
    const auto updates = stream.take(options.updates - half);
    const TrieReader reader(*trie, table.prefixes, options);
    const Pin pin(0);
    report.add({.what = "single-route updates, a reader runs",
                .contender = "sidestep",
                .figure = time_updates(*trie, updates, options.rounds),
                .unit = "M/s",
                .target = figure_at_least(1)});
  }
  rcu::barrier();
  const auto words = fmt::format("exact after {} updates", options.updates);
  add_exact(words.c_str(), check_exact(*trie, stream.present(), options, options.seed + 31),
            options, report);
  add_memory(*trie, stream.present(), report);
  add_readers_loss(*trie, stream, options, report);
}

}  // namespace sidestep::bench
