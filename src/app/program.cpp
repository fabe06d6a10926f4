// SPDX-License-Identifier: Apache-2.0
//
// The command line of `sidestep`.
//
//   sidestep replay     -c FILE --in DEV=CAPTURE [--in …] --out DIR
//   sidestep route get  -c FILE ADDRESS [from A] [iif DEV] …
//   sidestep show       route [table T] | rule | neigh | link | nexthop  -c FILE
//   sidestep drops
//   sidestep bench      lookup | rules | uncached | contention | all …
//
// CLI11 reads the options; each subcommand's callback stores what is to be done, and it is done after the whole command
// line was understood. Exit status: 0, 1 when the work failed, 2 when the command was not understood. A mistake that shows
// only with the configuration at hand (a device that is not there) is a failure of the work, as it is with ip.
#include "app/program.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <system_error>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "app/bench.hpp"
#include "app/exit_code.hpp"
#include "app/replay.hpp"
#include "app/route_get.hpp"
#include "app/show.hpp"
#include "config/names.hpp"

namespace sidestep::app {
namespace {

constexpr const char* kVersion = "sidestep " SIDESTEP_VERSION;

/// What the command line asked for; set by the innermost subcommand.
struct Command {
  std::function<int()> action;
  ReplayOptions replay;
  std::vector<std::string> replay_inputs;
  std::string replay_explained;
  RouteGetOptions route_get;
  std::string show_config;
  std::vector<std::string> show_words;
  bool drops_json = false;
};

CLI::App* add_command(CLI::App& parent, const char* name, const char* help) {
  CLI::App* command = parent.add_subcommand(name, help);
  command->set_version_flag("--version", kVersion);
  return command;
}

void add_config(CLI::App* command, std::string& config) {
  command->add_option("-c,--config", config, "the router's configuration, in iproute2's language")
      ->required()
      ->type_name("FILE");
}

/// `DEV=CAPTURE` to its parts; false when it is not that.
bool split_input(const std::string& text, ReplayInput& input) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) return false;
  input = {text.substr(0, equals), text.substr(equals + 1)};
  return true;
}

/// `N` or `DEV:N`; false when it is neither.
bool split_choice(const std::string& text, PacketChoice& choice) {
  const auto colon = text.rfind(':');
  if (colon != std::string::npos) choice.device = text.substr(0, colon);
  const auto number =
      config::parse_digits(colon == std::string::npos ? text : text.substr(colon + 1), 10);
  choice.number = number.value_or(0);
  return choice.number != 0;
}

int run_replay(Command& command) {
  auto& options = command.replay;
  for (const auto& text : command.replay_inputs) {
    if (!split_input(text, options.inputs.emplace_back())) {
      return fail_usage(fmt::format("--in {}: DEV=CAPTURE is expected", text));
    }
  }
  if (options.out.empty()) return fail_usage("--out: the name of a directory is expected");
  const auto is_stdin = [](const ReplayInput& input) { return input.path == "-"; };
  if (std::count_if(options.inputs.begin(), options.inputs.end(), is_stdin) > 1) {
    return fail_usage("--in: only one capture can come from the standard input");
  }
  if (!command.replay_explained.empty()) {
    if (!split_choice(command.replay_explained, options.explained.emplace())) {
      return fail_usage(
          fmt::format("--explain-packet {}: a number from 1, or DEV:NUMBER, is expected",
                      command.replay_explained));
    }
    if (options.explained->device.empty() && options.inputs.size() > 1) {
      return fail_usage("--explain-packet: with several inputs, say DEV:NUMBER");
    }
  }
  return replay(options);
}

void add_replay(CLI::App& program, Command& command) {
  CLI::App* replay = add_command(program, "replay", "Run captures through a configured router");
  auto& options = command.replay;
  add_config(replay, options.config);
  replay
      ->add_option("--in", command.replay_inputs,
                   "what a device receives: pcap or pcapng, - for stdin; repeatable")
      ->required()
      ->type_name("DEV=CAPTURE")
      ->allow_extra_args(false);
  replay->add_option("--out", options.out, "directory for DEV.pcap, local.pcap and drops.pcapng")
      ->required()
      ->type_name("DIR");
  replay->add_flag("--check-mac", options.check_mac,
                   "unicast frames to another MAC than the device's are dropped");
  replay->add_flag("--json", options.json, "print one JSON object in place of the table");
  replay
      ->add_option("--explain-packet", command.replay_explained,
                   "tell in words what happened to packet number N")
      ->type_name("[DEV:]N");
  replay->callback([&command] { command.action = [&command] { return run_replay(command); }; });
}

void add_route(CLI::App& program, Command& command) {
  CLI::App* route =
      add_command(program, "route", "Ask a configured router where a packet would go");
  route->require_subcommand(1);
  CLI::App* get = add_command(*route, "get", "Print what `ip -6 route get` prints");
  auto& options = command.route_get;
  add_config(get, options.config);
  get->add_option("ADDRESS", options.words,
                  "ADDRESS [from ADDRESS] [iif DEV] [oif DEV] [mark M] [tos T] [ipproto P] [sport "
                  "N] [dport N] "
                  "[flowlabel L] [uid N]")
      ->type_name("");
  get->add_flag("--explain", options.explain,
                "add the walk: rules, tables, prefixes, nexthop, ownership");
  get->add_flag("--json", options.json, "print one JSON object");
  get->callback(
      [&command] { command.action = [&command] { return route_get(command.route_get); }; });
}

/// `table T`, or nothing.
int run_show_route(const Command& command) {
  const auto& words = command.show_words;
  if (words.empty()) return show(Shown::kRoutes, command.show_config, "");
  if (words.size() == 2 && words[0] == "table")
    return show(Shown::kRoutes, command.show_config, words[1]);
  return fail_usage(
      fmt::format("show route: '{}': 'table' and a table's name or number are expected", words[0]));
}

void add_show(CLI::App& program, Command& command) {
  CLI::App* show_command =
      add_command(program, "show", "Print a configured router as iproute2 prints it");
  show_command->require_subcommand(1);
  CLI::App* route = add_command(*show_command, "route", "Routes of a table, as `ip -6 route show`");
  add_config(route, command.show_config);
  route->add_option("table", command.show_words, "table T: a name or number; without, main")
      ->type_name("");
  route->callback([&command] { command.action = [&command] { return run_show_route(command); }; });

  struct Part {
    const char* name;
    const char* help;
    Shown shown;
  };
  for (const auto& part :
       {Part{"rule", "Policy rules, as `ip -6 rule show`", Shown::kRules},
        Part{"neigh", "Neighbors, as `ip -6 neigh show`", Shown::kNeighbors},
        Part{"link", "Devices with their addresses", Shown::kLinks},
        Part{"nexthop", "Nexthop objects, as `ip nexthop show`", Shown::kNexthops}}) {
    CLI::App* one = add_command(*show_command, part.name, part.help);
    add_config(one, command.show_config);
    one->callback([&command, shown = part.shown] {
      command.action = [&command, shown] { return show(shown, command.show_config, ""); };
    });
  }
}

void add_drops(CLI::App& program, Command& command) {
  CLI::App* drops = add_command(
      program, "drops", "List every drop reason with the kernel's counter and one line of help");
  drops->add_flag("--json", command.drops_json, "print one JSON array");
  drops->callback([&command] {
    command.action = [&command] { return list_drop_reasons(command.drops_json); };
  });
}

/// All that follows belongs to the benchmark's program, `--help` too.
void add_bench(CLI::App& program, Command& command) {
  CLI::App* bench = program.add_subcommand("bench", "Measure lookups beside those of others");
  bench->set_help_flag();
  bench->prefix_command();
  bench->callback([&command, bench] {
    command.action = [words = bench->remaining()] { return start_bench(words); };
  });
}

}  // namespace

int fail(std::string_view message) {
  fmt::print(stderr, "sidestep: {}\n", message);
  return kExitFailed;
}

int fail_usage(std::string_view message) {
  fmt::print(stderr, "sidestep: {}\nTry 'sidestep --help'.\n", message);
  return kExitUsage;
}

int run(int argc, const char* const* argv) {
  CLI::App program("An IPv6 and SRv6 forwarding plane with the Linux kernel's semantics.",
                   "sidestep");
  program.set_version_flag("--version", kVersion);
  program.require_subcommand(1);
  Command command;
  add_replay(program, command);
  add_route(program, command);
  add_show(program, command);
  add_drops(program, command);
  add_bench(program, command);
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return program.exit(success) == 0 ? kExitOk : kExitFailed;
  } catch (const CLI::ParseError& error) {
    // CLI11 asks for what is missing first; a word that it did not know is more likely the mistake.
    const auto unknown = program.remaining(true);
    const bool named = unknown.empty() || dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
    return fail_usage(named ? error.what()
                            : fmt::format("{}; not understood: {}", error.what(), unknown.front()));
  }
  // What was printed must have arrived: a full disk behind a redirection is a failure. fmt throws when it notices, the
  // last flush tells the rest.
  int status = kExitFailed;
  try {
    status = command.action();
  } catch (const std::system_error&) {
    return fail("the output cannot be written");
  }
  if (std::fflush(stdout) != 0) return fail("the output cannot be written");
  return status;
}

}  // namespace sidestep::app
