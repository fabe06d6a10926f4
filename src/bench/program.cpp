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

#include "bench/contention_bench.hpp"
#include "bench/lookup_bench.hpp"
#include "bench/machine.hpp"
#include "bench/options.hpp"
#include "bench/prefix_table.hpp"
#include "bench/report.hpp"
#include "bench/rules_bench.hpp"
#include "bench/uncached_bench.hpp"

namespace sidestep::bench {
namespace {

enum ExitCode : int { kOk = 0, kFailed = 1, kUsage = 2 };

struct Command {
  Options options;
  bool lookup = false;
  bool rules = false;
  bool uncached = false;
  bool contention = false;
  bool json = false;
  bool full = false;
  std::string variant;  ///< of `uncached-run`, which is for the program itself
  std::size_t variant_count = 0;
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
  program.add_option("--flows", options.flows, "flows of the rows about rules")
      ->check(CLI::Range(std::size_t{256}, std::size_t{100'000'000}));
  program.add_option("--uncached", options.uncached, "destinations for one use")
      ->check(CLI::Range(std::size_t{1000}, std::size_t{10'000'000'000}));
  program.add_flag("--full", command.full, "160 million destinations for one use");
  program.add_option("--contended", options.contended, "lookups of each thread that contends")
      ->check(CLI::Range(std::size_t{64}, std::size_t{10'000'000'000}));
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

void add_subjects(CLI::App& program, Command& command) {
  struct Subject {
    const char* name;
    const char* help;
    bool Command::* wanted;
  };
  for (const auto& subject :
       {Subject{"lookup", "longest-prefix match, updates, memory", &Command::lookup},
        Subject{"rules", "whole lookups through rules and tables", &Command::rules},
        Subject{"uncached", "destinations for one use", &Command::uncached},
        Subject{"contention", "borrowed answers beside counted ones", &Command::contention}}) {
    program.add_subcommand(subject.name, subject.help)
        ->callback([&command, wanted = subject.wanted] { command.*wanted = true; });
  }
  program.add_subcommand("all", "everything")->callback([&command] {
    command.lookup = command.rules = command.uncached = command.contention = true;
  });
  CLI::App* run = program.add_subcommand("uncached-run");
  run->group("");  // not for people
  run->add_option("VARIANT", command.variant)->required();
  run->add_option("COUNT", command.variant_count)->required();
}

void measure(const Command& command, const PrefixTable& table, Report& report) {
  const Options& options = command.options;
  if (command.lookup) {
    bench_lookup(options, table, report);
    bench_updates(options, table, report);
  }
  if (command.rules) bench_rules(options, table, report);
  if (command.contention) bench_contention(options, report);
  if (command.uncached) bench_uncached(options, "/proc/self/exe", report);
}

int work(const Command& command) {
  const auto table = choose_table(command.options);
  if (!table) {
    fmt::print(stderr, "sidestep-bench: {}\n", table.error().message);
    return kFailed;
  }
  if (!command.json) print_conditions(*table);
  Report report;
  measure(command, *table, report);
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
  add_subjects(program, command);
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return program.exit(success) == 0 ? kOk : kFailed;
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "sidestep-bench: {}\nTry 'sidestep-bench --help'.\n", error.what());
    return kUsage;
  }
  if (!command.variant.empty()) {
    return run_uncached(command.variant, command.variant_count) ? kOk : kUsage;
  }
  if (command.full) command.options.uncached = 160'000'000;
  return work(command);
}

}  // namespace sidestep::bench
