// SPDX-License-Identifier: Apache-2.0
// Each benchmark at a tiny size: every row has a positive figure or says why not, and every answer was checked. What the
// figures are does not matter here.
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "bench/contention_bench.hpp"
#include "bench/lookup_bench.hpp"
#include "bench/report.hpp"
#include "bench/rules_bench.hpp"
#include "bench/uncached_bench.hpp"

namespace sidestep::bench {
namespace {

Options tiny_options() {
  Options options;
  options.keys = 1000;
  options.exact_keys = 1000;
  options.updates = 500;
  options.flows = 500;
  options.burst = 64;
  options.rounds = 1;
  options.uncached = 1000;
  options.contended = 1000;
  options.steady_ms = 20;
  return options;
}

void expect_whole(const Report& report) {
  EXPECT_FALSE(report.rows().empty());
  EXPECT_EQ(report.mismatches(), 0U) << report.to_table();
  for (const auto& row : report.rows()) {
    if (row.figure) {
      EXPECT_GT(row.figure->median, 0) << row.what << ", " << row.contender;
    } else {
      EXPECT_NE(row.note, "") << row.what << ", " << row.contender;
    }
    if (row.target && row.figure) {
      EXPECT_TRUE(row.passes().has_value()) << row.what;
    }
  }
}

TEST(BenchSmoke, Lookup) {
  Report report;
  bench_lookup(tiny_options(), generate_table(2000, 1), report);
  expect_whole(report);
  for (const auto& row : report.rows()) {
    const bool is_lookup = row.what.find("keys (") != std::string::npos;
    if (is_lookup && row.figure) {
      EXPECT_GT(row.checked, 0U) << row.contender;
    }
  }
  EXPECT_NE(report.to_table().find("dependent chain, keys (a)"), std::string::npos);
  EXPECT_EQ(report.to_json().size(), 5U);
}

TEST(BenchSmoke, Updates) {
  Report report;
  // Updates that the rounds do not divide: none may be left out, and the answers tell.
  auto options = tiny_options();
  options.updates = 5001;
  options.rounds = 7;
  bench_updates(options, generate_table(2000, 1), report);
  expect_whole(report);
  std::size_t exact = 0;
  for (const auto& row : report.rows()) exact += row.must_be_exact && row.checked >= 6000 ? 1U : 0U;
  EXPECT_EQ(exact, 2U);
}

TEST(BenchSmoke, Rules) {
  Report report;
  bench_rules(tiny_options(), generate_table(2000, 1), report);
  expect_whole(report);
  std::size_t checked = 0;
  for (const auto& row : report.rows()) checked += row.checked == 1000 ? 1U : 0U;
  EXPECT_EQ(checked, 8U);  // four cases, by the plan and by the reference walk
}

TEST(BenchSmoke, Contention) {
  Report report;
  bench_contention(tiny_options(), report);
  expect_whole(report);
  for (const auto& row : report.rows()) EXPECT_EQ(row.checked, 2U);
}

TEST(BenchSmoke, Uncached) {
  Report report;
  bench_uncached(tiny_options(), SIDESTEP_BENCH_PROGRAM, report);
  expect_whole(report);
  for (const auto& row : report.rows()) EXPECT_TRUE(row.figure) << row.note;
}

TEST(BenchReport, JudgesRatiosAndFiguresAndNothingThatIsMissing) {
  Row row{.what = "x", .contender = "y", .figure = Timing{3, 2}};
  EXPECT_EQ(row.passes(), std::nullopt);
  row.target = at_least(1.15);
  EXPECT_EQ(row.passes(), std::nullopt);  // no ratio
  row.ratio = 1.2;
  EXPECT_EQ(row.passes(), true);
  row.target = at_most(1.1);
  EXPECT_EQ(row.passes(), false);
  row.target = figure_at_most(3);
  EXPECT_EQ(row.passes(), true);
  row.mismatches = 1;
  EXPECT_EQ(row.passes(), false);
}

TEST(BenchTiming, TakesMiddleAndLeast) {
  EXPECT_EQ(timing_of({3, 1, 2}).median, 2);
  EXPECT_EQ(timing_of({3, 1, 2}).minimum, 1);
  EXPECT_EQ(timing_of({4, 1, 2, 3}).median, 2.5);
}

}  // namespace
}  // namespace sidestep::bench
