// SPDX-License-Identifier: Apache-2.0
// lookup_oracle: random routers and flows, the kernel's answers against ours.
//
//   lookup_oracle --configs 300 --flows 200 --seed 1    exits 1 on an unexplained difference, 77 without namespaces
//   lookup_oracle --config FILE [--flow "ADDRESS from A iif DEV …"]
//
// Configuration number i of a run has the seed SEED + i, so one configuration is repeated with `--configs 1 --seed THAT`.

#include <CLI/CLI.hpp>

#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "kernel/kernel_router.hpp"
#include "kernel/lookup_comparison.hpp"
#include "kernel/netns.hpp"

namespace {

using namespace sidestep;          // NOLINT: a program
using namespace sidestep::kernel;  // NOLINT

constexpr int kSkipped = 77;

struct Options {
  unsigned configs = 300;
  unsigned flows = 200;
  std::uint64_t seed = 1;
  unsigned shown_max = 5;
  std::string config;
  std::string flow;
};

void show(const std::vector<std::string>& lines, const Difference& difference) {
  const auto small = shrink(lines, difference);
  // Ask again: the smaller configuration may give other answers than the whole one.
  const Comparison again =
      compare(small, difference.flow ? std::vector<Query>{*difference.flow} : std::vector<Query>{});
  const Difference& shown = again.differences.empty() ? difference : again.differences.back();
  fmt::print("--- {} configuration lines that show it:\n", small.size());
  for (const auto& line : small) fmt::print("    {}\n", line);
  if (difference.flow) {
    fmt::print("    route get {}\n", difference.flow->to_string());
  } else {
    fmt::print("    at the line: {}\n", difference.line);
  }
  fmt::print("    kernel: {}\n    ours:   {}\n", shown.kernel, shown.ours);
  fmt::print("    again:  lookup_oracle --config FILE{}\n",
             difference.flow ? fmt::format(" --flow \"{}\"", difference.flow->to_string()) : "");
  std::fflush(stdout);
}

int run_file(const Options& options) {
  std::vector<std::string> lines;
  std::ifstream file(options.config);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  std::vector<Query> flows;
  if (const auto query = parse_query(options.flow)) flows.push_back(*query);
  const Comparison result = compare(lines, flows);
  for (const auto& one : result.differences) {
    fmt::print("{}\n  kernel: {}\n  ours:   {}\n", one.flow ? one.flow->to_string() : one.line,
               one.kernel, one.ours);
  }
  fmt::print("{} lines, {} flows, {} differences\n", result.lines, result.flows,
             result.differences.size());
  return result.differences.empty() ? 0 : 1;
}

int run_random(const Options& options) {
  Comparison total;
  std::uint64_t unexplained = 0;
  std::uint64_t explained = 0;
  std::map<std::string, std::uint64_t> explanations;
  for (unsigned i = 0; i < options.configs; ++i) {
    const std::uint64_t seed = options.seed + i;
    const RandomConfig config = random_config(seed);
    Dice dice(seed ^ 0x9e3779b97f4a7c15ULL);
    std::vector<Query> flows;
    for (unsigned flow = 0; flow < options.flows; ++flow)
      flows.push_back(random_query(config, dice));
    const Comparison one = compare(config.lines, flows);
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
      show(config.lines, difference);
      shown = true;
    }
  }
  fmt::print(
      "lookup oracle: seeds {}..{}: {} configurations, {} lines ({} failing in the kernel), {} "
      "flows compared ({} with an "
      "error, {} equal but for the choice among equal hops), {} differences, {} of them "
      "explained\n",
      options.seed, options.seed + options.configs - 1, options.configs, total.lines,
      total.failed_lines, total.flows, total.erroring_flows, total.other_choices,
      unexplained + explained, explained);
  for (const auto& [heading, count] : explanations) {
    fmt::print("  {} explained by docs/kernel-differences.md, \"{}\"\n", count, heading);
  }
  return unexplained == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Compares the kernel's route lookups with Sidestep's");
  app.add_option("--configs", options.configs, "random configurations");
  app.add_option("--flows", options.flows, "flows per configuration");
  app.add_option("--seed", options.seed, "seed of the first configuration");
  app.add_option("--show", options.shown_max, "differences to shrink and show");
  app.add_option("--config", options.config, "compare this file instead");
  app.add_option("--flow", options.flow, "with --config: ADDRESS [from A] [iif DEV] …");
  CLI11_PARSE(app, argc, argv);
  std::string why;
  if (!namespaces_available(why)) {
    fmt::print("SKIPPED: {} configurations x {} flows not compared with the kernel: {}\n",
               options.configs, options.flows, why);
    return kSkipped;
  }
  return options.config.empty() ? run_random(options) : run_file(options);
}
