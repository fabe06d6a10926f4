// SPDX-License-Identifier: Apache-2.0
// lookup_oracle: random routers and flows, the kernel's answers against ours.
//
//   lookup_oracle --configs 300 --flows 200 --seed 1    exits 1 on an unexplained difference, 77 without namespaces
//   lookup_oracle --config FILE [--flow "ADDRESS from A iif DEV …"]
//
// A configuration is not only built once: it is updated in rounds, and flows are asked about in each of them. In a FILE a line
// `route get …` asks where it stands.
//
// Configuration number i of a run has the seed SEED + i, so one configuration is repeated with `--configs 1 --seed THAT`.

#include <CLI/CLI.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "kernel/kernel_router.hpp"
#include "kernel/lookup_comparison.hpp"
#include "kernel/oracle_report.hpp"

namespace {

using namespace sidestep;          // NOLINT: a program
using namespace sidestep::kernel;  // NOLINT

struct Options {
  unsigned configs = 300;
  unsigned flows = 200;
  unsigned rounds = 4;
  std::uint64_t seed = 1;
  unsigned shown_max = 5;
  std::string config;
  std::string flow;
};

void show(const std::vector<Step>& steps, const Difference& difference) {
  const auto small = shrink(steps, difference);
  // Ask again: the smaller configuration may give other answers than the whole one.
  const Comparison again = compare(small);
  const Difference& shown = again.differences.empty() ? difference : again.differences.back();
  fmt::print("--- {} steps that show it in the last:\n", small.size());
  for (const auto& step : small) fmt::print("    {}\n", to_string(step));
  fmt::print("    kernel: {}\n    ours:   {}\n    again:  lookup_oracle --config FILE\n",
             shown.kernel, shown.ours);
  std::fflush(stdout);
}

int run_file(const Options& options) {
  std::vector<Step> steps;
  std::ifstream file(options.config);
  for (std::string line; std::getline(file, line);) steps.push_back(parse_step(line));
  if (const auto query = parse_query(options.flow)) steps.emplace_back(*query);
  const Comparison result = compare(steps);
  for (const auto& one : result.differences) {
    fmt::print("{}\n  kernel: {}\n  ours:   {}\n", one.what, one.kernel, one.ours);
  }
  fmt::print("{} lines, {} flows, {} differences\n", result.lines, result.flows,
             result.differences.size());
  return result.differences.empty() ? 0 : 1;
}

/// A router, and flows toward it: as it was made, then after each round of updates.
std::vector<Step> random_steps(std::uint64_t seed, unsigned flows, unsigned rounds) {
  RandomConfig config = random_config(seed);
  std::vector<Step> steps(config.lines.begin(), config.lines.end());
  Dice dice(seed ^ 0x9e3779b97f4a7c15ULL);
  std::vector<Query> asked;
  for (unsigned round = 0; round <= rounds; ++round) {
    if (round != 0) {
      for (auto& line : random_updates(config, dice)) steps.emplace_back(std::move(line));
    }
    const unsigned count = flows / (rounds + 1) + (round < flows % (rounds + 1) ? 1 : 0);
    for (unsigned i = 0; i < count; ++i) {
      // Half of them again: what was answered before an update must not linger.
      const bool repeat = round != 0 && !asked.empty() && dice.chance(50);
      const Query query = repeat ? Query(dice.pick(asked)) : random_query(config, dice);
      if (!repeat) asked.push_back(query);
      steps.emplace_back(query);
    }
  }
  return steps;
}

bool has_unexplained(const Comparison& comparison) {
  return std::ranges::any_of(comparison.differences, [](const Difference& difference) {
    return difference.explanation.empty();
  });
}

int run_random(const Options& options) {
  Comparison total;
  std::uint64_t seen_once = 0;
  std::uint64_t unexplained = 0;
  std::uint64_t explained = 0;
  std::map<std::string, std::uint64_t> explanations;
  for (unsigned i = 0; i < options.configs; ++i) {
    const std::uint64_t seed = options.seed + i;
    const std::vector<Step> steps = random_steps(seed, options.flows, options.rounds);
    Comparison one = compare(steps);
    if (has_unexplained(one)) {
      // The kernel does some things when its timers say so. A difference is one that comes again.
      one = compare(steps);
      if (!has_unexplained(one)) ++seen_once;
    }
    total.lines += one.lines;
    total.failed_lines += one.failed_lines;
    total.flows += one.flows;
    total.erroring_flows += one.erroring_flows;
    total.other_choices += one.other_choices;
    bool shown = false;
    for (const auto& difference : one.differences) {
      if (!difference.explanation.empty()) {
        ++explained;
        ++explanations[difference.explanation];
        continue;
      }
      ++unexplained;
      if (shown || total.differences.size() >= options.shown_max) continue;
      fmt::print("seed {}: {} differences; the first:\n", seed, one.differences.size());
      total.differences.push_back(difference);
      show(steps, difference);
      shown = true;
    }
  }
  fmt::print(
      "lookup oracle: seeds {}..{}: {} configurations updated {} times each, {} lines ({} failing "
      "in the kernel), {} "
      "flows compared ({} with an "
      "error, {} equal but for the choice among equal hops), {} differences, {} of them "
      "explained\n",
      options.seed, options.seed + options.configs - 1, options.configs, options.rounds,
      total.lines, total.failed_lines, total.flows, total.erroring_flows, total.other_choices,
      unexplained + explained, explained);
  if (seen_once != 0) fmt::print("  {} configurations differed once, and not again\n", seen_once);
  print_explained(explanations);
  return unexplained == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Compares the kernel's route lookups with Sidestep's");
  app.add_option("--configs", options.configs, "random configurations");
  app.add_option("--flows", options.flows, "flows per configuration");
  app.add_option("--rounds", options.rounds, "rounds of updates, the flows spread over them");
  app.add_option("--seed", options.seed, "seed of the first configuration");
  app.add_option("--show", options.shown_max, "differences to shrink and show");
  app.add_option("--config", options.config, "compare this file instead");
  app.add_option("--flow", options.flow, "with --config: ADDRESS [from A] [iif DEV] …");
  CLI11_PARSE(app, argc, argv);
  if (must_skip(fmt::format("{} configurations x {} flows", options.configs, options.flows)))
    return kSkipped;
  return options.config.empty() ? run_random(options) : run_file(options);
}
