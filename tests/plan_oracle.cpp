// SPDX-License-Identifier: Apache-2.0
// Compiled lookups against the plain walk: random routers, random flows, random updates in between.
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <sidestep/lookup/fib.hpp>
#include <sidestep/rcu/rcu.hpp>

#include "kernel/our_router.hpp"
#include "kernel/random_config.hpp"

namespace sidestep::kernel {
namespace {

struct Count {
  std::uint64_t lookups = 0;
  std::uint64_t differences = 0;
};

bool same(const lookup::Answer& a, const lookup::Answer& b) {
  return &a.dst.get() == &b.dst.get() && a.neighbor_key == b.neighbor_key && a.table == b.table;
}

std::string describe(const lookup::Answer& answer) {
  const fib::Route* route = answer.route();
  return fmt::format("table {} {} error {} toward {}", answer.table.value,
                     route == nullptr ? "static" : (*route)->destination.to_string(),
                     answer.error(), answer.neighbor_key.to_string());
}

class Comparison {
 public:
  Comparison(std::uint64_t seed, Count& count) : seed_(seed), count_(count) {}

  void compare(const OurRouter& router, const RandomConfig& config, Dice& dice,
               std::size_t flow_count) {
    std::vector<lookup::Flow> flows;
    for (std::size_t i = 0; i < flow_count; ++i) {
      flows.push_back(flow_of(random_query(config, dice), router.fib().links()));
      if (dice.chance(10)) flows.back().now = TimeNs{dice.below(40) * kNsPerSecond};
    }
    const rcu::ReadSection section;
    const lookup::Fib& fib = router.fib();
    std::vector<lookup::Answer> answers(flows.size());
    fib.input(flows, answers);
    for (std::size_t i = 0; i < flows.size(); ++i) {
      const lookup::Answer expected = fib.input_by_walk(flows[i]);
      check("batch", flows[i], answers[i], expected);
      check("input", flows[i], fib.input(flows[i]), expected);
      check("output", flows[i], fib.output(flows[i]), fib.output_by_walk(flows[i]));
    }
  }

 private:
  void check(const char* what, const lookup::Flow& flow, const lookup::Answer& answer,
             const lookup::Answer& expected) {
    ++count_.lookups;
    if (same(answer, expected)) return;
    if (++count_.differences > 10) return;
    fmt::print("seed {}: {} to {} from {} iif {} oif {}: {}; the walk says: {}\n", seed_, what,
               flow.destination.to_string(), flow.source.to_string(), flow.iif.value,
               flow.oif.value, describe(answer), describe(expected));
  }

  std::uint64_t seed_;
  Count& count_;
};

/// Some destinations get a path MTU of their own, which compiled answers must not miss.
void learn_path_mtus(OurRouter& router, const RandomConfig& config, Dice& dice) {
  constexpr int kMessages = 8;
  for (int i = 0; i < kMessages; ++i) {
    lookup::ExceptionChange change;
    change.flow = flow_of(random_query(config, dice), router.fib().links());
    change.mtu = static_cast<std::uint32_t>(1280 + dice.below(200));
    static_cast<void>(router.change(change));  // what is wrong with it is ignored
  }
}

void run(std::uint64_t seed, std::size_t flows, std::size_t rounds, Count& count) {
  RandomConfig config = random_config(seed);
  Dice dice(seed ^ 0x9e37'79b9'7f4a'7c15);
  OurRouter router;
  router.apply(config.text());
  Comparison comparison(seed, count);
  comparison.compare(router, config, dice, flows);
  for (std::size_t i = 0; i < rounds; ++i) {
    std::string text;
    for (const auto& line : random_updates(config, dice)) text += line + "\n";
    router.apply(text);
    learn_path_mtus(router, config, dice);
    comparison.compare(router, config, dice, flows);
  }
}

}  // namespace
}  // namespace sidestep::kernel

int main(int argc, char** argv) {
  CLI::App app{"Compares compiled lookups with the plain walk on random routers"};
  std::uint64_t configs = 200;
  std::size_t flows = 300;
  std::size_t rounds = 3;
  std::uint64_t seed = 1;
  app.add_option("--configs", configs, "random configurations");
  app.add_option("--flows", flows, "flows for each state of a configuration");
  app.add_option("--rounds", rounds, "how often a configuration is updated");
  app.add_option("--seed", seed, "the first configuration's seed");
  CLI11_PARSE(app, argc, argv);
  sidestep::kernel::Count count;
  for (std::uint64_t i = 0; i < configs; ++i) sidestep::kernel::run(seed + i, flows, rounds, count);
  fmt::print("plan oracle: {} configurations from seed {}, {} lookups compared, {} differences\n",
             configs, seed, count.lookups, count.differences);
  return count.differences == 0 && count.lookups != 0 ? 0 : 1;
}
