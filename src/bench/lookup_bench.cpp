// SPDX-License-Identifier: Apache-2.0
//
// The comparison of lookups. For each kind of keys all contenders' answers are compared with the oracle, batched and one by
// one; then the rounds run. A row's ratio is the peer's time by ours: how many times as fast we are. Targets hang on the
// rows of those peers that they name, and on a row of their own where they name the fastest.
#include "bench/lookup_bench.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "bench/contender.hpp"
#include "bench/keys.hpp"
#include "bench/machine.hpp"
#include "bench/memory_floor.hpp"
#include "bench/our_trie.hpp"
#include "bench/peers/dpdk.hpp"
#include "bench/peers/planb.hpp"

namespace sidestep::bench {
namespace {

enum class Pass : std::uint8_t { kBatched, kOneByOne, kChain };
constexpr std::array kPasses{Pass::kBatched, Pass::kOneByOne, Pass::kChain};

const char* words_of(Pass pass) {
  switch (pass) {
    case Pass::kBatched:
      return "batched";
    case Pass::kOneByOne:
      return "one by one";
    case Pass::kChain:
      return "dependent chain";
  }
  return "";
}

void run(Pass pass, Contender& contender, Keys keys) {
  switch (pass) {
    case Pass::kBatched:
      return contender.batched(keys, {});
    case Pass::kOneByOne:
      return contender.one_by_one(keys, {});
    case Pass::kChain:
      return contender.chain(keys);
  }
}

/// Everybody who takes part; the first is ours.
struct Field {
  Contenders contenders;
  std::vector<Absent> absent;
  std::vector<Checked> checked;  ///< of the current keys, by contender

  [[nodiscard]] Contender& ours() const { return *contenders.front(); }
};

Field make_field(const Options& options, const PrefixTable& table, Keys sample) {
  Field field;
  field.contenders.push_back(std::make_unique<OurTrie>(table.prefixes, options.burst));
  auto planb = std::make_unique<Planb>(table.prefixes, options.burst, *planb_kernels().front());
  planb->tune(sample);
  field.contenders.push_back(std::move(planb));
  auto dpdk = make_dpdk_peers(table.prefixes, options.burst);
  for (auto& peer : dpdk.present) field.contenders.push_back(std::move(peer));
  field.absent = std::move(dpdk.absent);
  return field;
}

void check_answers(Field& field, Keys keys, const LongestMatch& oracle, const PrefixTable& table) {
  HugeArray<Found> expected(keys.size());
  HugeArray<Found> answers(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) expected[i] = oracle.find(keys[i]);
  field.checked.clear();
  for (const auto& contender : field.contenders) {
    Checked sum;
    for (const bool batched : {true, false}) {
      if (batched) {
        contender->batched(keys, answers.span());
      } else {
        contender->one_by_one(keys, answers.span());
      }
      const auto once =
          compare(answers.span(), expected.span(), table.prefixes, contender->longest());
      sum.compared += once.compared;
      sum.mismatches += once.mismatches;
    }
    field.checked.push_back(sum);
  }
}

bool is_planb(std::string_view name) { return name.starts_with("PlanB"); }
bool is_fib6(std::string_view name) { return name.starts_with("rte_fib6"); }

/// The fastest of the rte_fib6 flavors that take part; the target is about that one.
std::size_t best_fib6(const Field& field, const std::vector<Timing>& timings) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < timings.size(); ++i) {
    if (!is_fib6(field.contenders[i]->name())) continue;
    if (best == 0 || timings[i].median < timings[best].median) best = i;
  }
  return best;
}

std::optional<Target> target_of(Pass pass, KeyKind kind, std::string_view name, bool is_best_fib6) {
  if (kind != KeyKind::kPrefixes || pass == Pass::kChain) return std::nullopt;
  const bool batched = pass == Pass::kBatched;
  if (is_planb(name)) return at_least(batched ? 1.15 : 1.2);
  if (is_best_fib6) return at_least(batched ? 2.2 : 3.5);
  return std::nullopt;
}

void add_fastest(Pass pass, KeyKind kind, const std::string& what, const Field& field,
                 const std::vector<Timing>& timings, Report& report) {
  std::size_t fastest = 1;
  for (std::size_t i = 2; i < timings.size(); ++i) {
    if (timings[i].median < timings[fastest].median) fastest = i;
  }
  Row row{.what = what, .contender = "ours by the fastest peer", .figure = timings[0]};
  row.ratio = timings[0].median / timings[fastest].median;
  row.checked = field.checked[0].compared;
  row.note = field.contenders[fastest]->name();
  if (pass == Pass::kChain && kind == KeyKind::kPrefixes) row.target = at_most(0.75);
  if (pass == Pass::kBatched && kind != KeyKind::kPrefixes) row.target = at_most(1.0);
  if (row.target) report.add(std::move(row));
}

void measure(Pass pass, KeyKind kind, Keys keys, const Options& options, const Field& field,
             Report& report) {
  // A chain waits for each answer; a quarter of the keys says as much. An even number, for the chain.
  const auto used =
      pass == Pass::kChain ? keys.first(std::max<std::size_t>(keys.size() / 8, 1) * 2) : keys;
  Rounds rounds;
  for (const auto& contender : field.contenders) {
    rounds.add(used.size(), [pass, used, &one = *contender] { run(pass, one, used); });
  }
  const auto timings = rounds.run(options.rounds);
  const auto what = fmt::format("{}, keys ({})", words_of(pass), letter_of(kind));
  const auto fib6 = best_fib6(field, timings);
  for (std::size_t i = 0; i < timings.size(); ++i) {
    Row row{.what = what, .contender = field.contenders[i]->name(), .figure = timings[i]};
    if (i != 0) row.ratio = timings[i].median / timings[0].median;
    if (i != 0) row.target = target_of(pass, kind, row.contender, i == fib6);
    row.checked = field.checked[i].compared;
    row.mismatches = field.checked[i].mismatches;
    report.add(std::move(row));
  }
  for (const auto& absent : field.absent) {
    report.add({.what = what, .contender = absent.name, .note = absent.why});
  }
  add_fastest(pass, kind, what, field, timings, report);
}

void add_floor(const Options& options, const Field& field, Report& report) {
  const auto bytes = field.ours().bytes();
  report.section(fmt::format("memory floor, in {:.1f} MB, the size of our structure",
                             static_cast<double>(bytes) / 1e6));
  const auto floor = measure_memory_floor(bytes, options.keys, options.rounds);
  report.add({.what = "memory floor",
              .contender = "independent, prefetched",
              .figure = floor.independent});
  report.add({.what = "memory floor", .contender = "dependent", .figure = floor.dependent});
}

void add_sizes(const Field& field, Report& report) {
  report.section("memory of the lookup structures");
  for (std::size_t i = 0; i < field.contenders.size(); ++i) {
    const double megabytes = static_cast<double>(field.contenders[i]->bytes()) / 1e6;
    Row row{.what = "memory",
            .contender = field.contenders[i]->name(),
            .figure = Timing{megabytes, megabytes},
            .unit = "MB"};
    if (i == 0) row.target = figure_at_most(12);
    report.add(std::move(row));
  }
}

}  // namespace

void bench_lookup(const Options& options, const PrefixTable& table, Report& report) {
  const LongestMatch oracle(table.prefixes);
  std::optional<Field> field;
  for (const auto kind : kAllKeyKinds) {
    const auto keys = make_keys(kind, table.prefixes, options.keys, options.seed + 17);
    if (!field) field = make_field(options, table, keys.span().first(options.keys / 8 + 1));
    check_answers(*field, keys.span(), oracle, table);
    report.section(fmt::format("lookup, keys ({}): {}", letter_of(kind), words_of(kind)));
    for (const auto pass : kPasses) measure(pass, kind, keys.span(), options, *field, report);
  }
  add_sizes(*field, report);
  add_floor(options, *field, report);
}

}  // namespace sidestep::bench
