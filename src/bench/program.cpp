// SPDX-License-Identifier: Apache-2.0
//
//   sidestep-bench lookup | rules | uncached | contention | all   [--json] [--keys N] …
//
// A program of its own, so that the peers are linked into it and nowhere else; `sidestep bench` starts it.
#include "bench/program.hpp"

#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "bench/lookup_bench.hpp"
#include "bench/machine.hpp"
#include "bench/options.hpp"
#include "bench/prefix_table.hpp"
#include "bench/report.hpp"

namespace sidestep::bench {
namespace {

enum ExitCode : int { kOk = 0, kFailed = 1, kUsage = 2 };

struct Command {
  Options options;
  bool lookup = false;
  bool json = false;
};

void add_options(CLI::App& program, Command& command) {
  auto& options = command.options;
  program.add_flag("--json", command.json, "print one JSON object in place of the tables");
  program.add_option("--table", options.table, "prefixes, one a line, plain or .gz")
      ->type_name("FILE");
  program.add_flag("--generated", options.always_generated,
                   "measure with a generated table, also where a real one is found");
  program.add_option("--prefixes", options.generated, "prefixes of a generated table")
      ->check(CLI::Range(std::size_t{100}, std::size_t{2'000'000}));
  program.add_option("--keys", options.keys, "addresses to look up, of each kind")
      ->check(CLI::Range(std::size_t{256}, std::size_t{1'000'000'000}));
  program.add_option("--rounds", options.rounds, "how often everybody has a turn")
      ->check(CLI::Range(1U, 1000U));
  program.add_option("--burst", options.burst, "keys of one batched call")
      ->check(CLI::Range(std::size_t{1}, std::size_t{65536}));
  program.add_option("--updates", options.updates, "random route updates")
      ->check(CLI::Range(std::size_t{100}, std::size_t{100'000'000}));
  program.add_option("--exact-keys", options.exact_keys,
                     "addresses of the exactness rows, of each kind");
  program.add_option("--seed", options.seed, "of everything that is drawn");
}

nlohmann::json machine_json() {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [name, value] : describe_machine()) json[name] = value;
  return json;
}

/// Progress and conditions go to the standard error, so that the tables can be kept.
void print_conditions(const PrefixTable& table) {
  for (const auto& [name, value] : describe_machine()) fmt::print("{:<13} {}\n", name, value);
  fmt::print("{:<13} {} prefixes, {}{}\n", "table", table.prefixes.size(), table.origin,
             table.generated ? " (NOT a real table: targets are about a real one)" : "");
  if (load_average() > 0.5) {
    fmt::print("{:<13} THIS MACHINE IS BUSY: the figures below are not worth much\n", "warning");
  }
}

int work(const Command& command) {
  const auto table = choose_table(command.options);
  if (!table) {
    fmt::print(stderr, "sidestep-bench: {}\n", table.error().message);
    return kFailed;
  }
  if (!command.json) print_conditions(*table);
  Report report;
  if (command.lookup) {
    bench_lookup(command.options, *table, report);
    bench_updates(command.options, *table, report);
  }
  if (command.json) {
    const nlohmann::json json{{"machine", machine_json()},
                              {"table",
                               {{"origin", table->origin},
                                {"prefixes", table->prefixes.size()},
                                {"generated", table->generated}}},
                              {"sections", report.to_json()}};
    fmt::print("{}\n", json.dump(2));
  } else {
    fmt::print("{}", report.to_table());
  }
  return report.mismatches() == 0 ? kOk : kFailed;
}

}  // namespace

int run(int argc, const char* const* argv) {
  CLI::App program("Measures Sidestep's lookups beside those of others.", "sidestep-bench");
  program.require_subcommand(1);
  program.fallthrough();
  Command command;
  add_options(program, command);
  program.add_subcommand("lookup", "longest-prefix match, updates, memory")->callback([&] {
    command.lookup = true;
  });
  program.add_subcommand("all", "everything")->callback([&] { command.lookup = true; });
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return program.exit(success) == 0 ? kOk : kFailed;
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "sidestep-bench: {}\nTry 'sidestep-bench --help'.\n", error.what());
    return kUsage;
  }
  return work(command);
}

}  // namespace sidestep::bench
