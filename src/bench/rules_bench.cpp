// SPDX-License-Identifier: Apache-2.0
//
// What rules cost. Each case is a router of its own with the whole routing table in main: one rule; three (local, one of the
// user's, main, of which the first two have nothing for these flows); a hundred unconditional ones, of which the last finds;
// eight with selectors before main, which take some of the flows. Flows are those of keys (a) with sources, marks, traffic
// classes and devices that the selectors tell apart.
//
// Expected answers come from the rules as this file states them, as predicates and tables of prefixes of its own, so neither
// the rule compiler nor a table is trusted. Every flow is compared, by the plan and by the reference walk.
#include "bench/rules_bench.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>

#include <fmt/format.h>

#include <sidestep/lookup/fib.hpp>
#include <sidestep/rcu/rcu.hpp>

#include "bench/background_reader.hpp"
#include "bench/bench_router.hpp"
#include "bench/contender.hpp"
#include "bench/keys.hpp"
#include "bench/longest_match.hpp"
#include "bench/machine.hpp"
#include "bench/random.hpp"
#include "bench/update_stream.hpp"

namespace sidestep::bench {
namespace {

using lookup::Answer;
using lookup::Fib;
using lookup::Flow;

/// One rule as this benchmark understands it.
struct Step {
  std::function<bool(const Flow&)> matches;
  std::vector<net::Prefix> prefixes;  ///< of its table
};

/// A router, and what it must answer.
struct Case {
  std::string name;
  std::unique_ptr<Fib> fib = std::make_unique<Fib>();
  std::vector<Step> steps{};
  std::vector<net::Prefix> expected{};  ///< by flow; ::/0: nothing is found
  std::optional<Target> target{};
  Checked checked{};
};

class CaseBuilder {
 public:
  explicit CaseBuilder(std::string name) {
    case_.name = std::move(name);
    make_devices([this](const auto& change) { return case_.fib->apply(change); });
  }
  void change(const lookup::Change& change) {
    must([this](const auto& one) { return case_.fib->apply(one); }, change);
  }
  /// Writers may look at their own devices.
  [[nodiscard]] IfIndex index(const char* name) const {
    return case_.fib->links().find(name)->index;
  }
  void without_local() { change(rule_removal(0)); }
  void fill(TableId table, std::span<const net::Prefix> prefixes) {
    for (const auto& prefix : prefixes) {
      change(route_change(lookup::RouteVerb::kAdd, prefix, table));
    }
  }
  /// A rule with its table, whose routes are these.
  void step(const lookup::RuleChange& rule, std::vector<net::Prefix> prefixes,
            std::function<bool(const Flow&)> matches = {}) {
    change(rule);
    fill(rule.rule.table, prefixes);
    case_.steps.push_back({std::move(matches), std::move(prefixes)});
  }
  /// The rule that is there from the start. Adding and removing a rule makes the router forget that it never had any.
  void main(std::span<const net::Prefix> prefixes) {
    change(rule_change(1, kTableMain));
    change(rule_removal(1));
    fill(kTableMain, prefixes);
    case_.steps.push_back({{}, {prefixes.begin(), prefixes.end()}});
  }
  Case take(std::optional<Target> target) {
    case_.target = target;
    return std::move(case_);
  }

 private:
  Case case_;
};

/// Prefixes of fd00::/8, where no flow goes.
std::vector<net::Prefix> elsewhere(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<net::Prefix> prefixes;
  for (std::size_t i = 0; i < count; ++i) {
    const Number bits = (Number{random.next()} << 64) >> 8;
    prefixes.emplace_back(to_address((Number{0xfd} << 120) | bits), std::uint8_t{48});
  }
  std::sort(prefixes.begin(), prefixes.end());
  prefixes.erase(std::unique(prefixes.begin(), prefixes.end()), prefixes.end());
  return prefixes;
}

/// Every sixteenth prefix of the table.
std::vector<net::Prefix> share_of(std::span<const net::Prefix> prefixes, std::size_t first) {
  std::vector<net::Prefix> share;
  for (std::size_t i = first; i < prefixes.size(); i += 16) share.push_back(prefixes[i]);
  return share;
}

const net::Prefix kSourceA(net::Ipv6Address{{0x20, 0x01, 0x0d, 0xb8, 0, 0xa}}, 48);
const net::Prefix kSourceB(net::Ipv6Address{{0x20, 0x01, 0x0d, 0xb8, 0, 0xb}}, 48);
constexpr std::uint8_t kClass = 0x20;
constexpr std::uint32_t kMark = 7;

/// One of eight selectors: `bits` says which of from, iif, fwmark and dsfield it names.
void add_selector(CaseBuilder& router, std::uint32_t number, unsigned bits, IfIndex other,
                  std::vector<net::Prefix> prefixes) {
  auto rule = rule_change(100 + number, TableId{2000 + number});
  const net::Prefix from = number % 2 == 0 ? kSourceA : kSourceB;
  const std::uint32_t mark = kMark + number % 2;
  if ((bits & 1) != 0) rule.rule.from = from;
  if ((bits & 2) != 0) rule.rule.iif = kFromOther;
  if ((bits & 4) != 0) {
    rule.rule.fwmark = mark;
    rule.rule.fwmask = 0xff;
  }
  if ((bits & 8) != 0) rule.rule.dsfield = kClass;
  router.step(rule, std::move(prefixes), [=](const Flow& flow) {
    return ((bits & 1) == 0 || from.covers(flow.source)) &&
           ((bits & 2) == 0 || flow.iif == other) &&
           ((bits & 4) == 0 || (flow.mark & 0xff) == mark) &&
           ((bits & 8) == 0 || flow.traffic_class == kClass);
  });
}

std::vector<Case> make_cases(std::span<const net::Prefix> prefixes) {
  std::vector<Case> cases;
  {
    CaseBuilder one("one table");
    one.main(prefixes);
    one.without_local();
    cases.push_back(one.take({}));
  }
  {
    CaseBuilder three("three tables");
    three.step(rule_change(1000, TableId{1000}), elsewhere(1000, 1));
    three.main(prefixes);
    cases.push_back(three.take(at_most(1.10)));
  }
  {
    CaseBuilder hundred("100 tables");
    for (std::uint32_t i = 0; i < 99; ++i) {
      hundred.step(rule_change(1000 + i, TableId{1000 + i}), elsewhere(50, i));
    }
    hundred.main(prefixes);
    hundred.without_local();
    cases.push_back(hundred.take(at_most(1.3)));
  }
  {
    CaseBuilder eight("8 rules with selectors");
    static constexpr std::array<unsigned, 8> kBits{1, 2, 4, 8, 1 | 2, 4 | 8, 1 | 4, 2 | 8};
    for (std::uint32_t i = 0; i < kBits.size(); ++i) {
      add_selector(eight, i, kBits[i], eight.index(kFromOther), share_of(prefixes, i));
    }
    eight.main(prefixes);
    eight.without_local();
    cases.push_back(eight.take(at_most(2)));
  }
  return cases;
}

std::vector<Flow> make_flows(const Options& options, std::span<const net::Prefix> prefixes,
                             const fib::Links& links) {
  const auto keys = make_keys(KeyKind::kPrefixes, prefixes, options.flows, options.seed + 41);
  Random random(options.seed + 43);
  const IfIndex from = links.find(kFrom)->index;
  const IfIndex other = links.find(kFromOther)->index;
  std::vector<Flow> flows(keys.size());
  for (std::size_t i = 0; i < flows.size(); ++i) {
    Flow& flow = flows[i];
    flow.destination = keys[i];
    const Number block = random.below(8) == 0   ? to_number(kSourceA.address())
                         : random.below(8) == 0 ? to_number(kSourceB.address())
                                                : Number{0x2001'0db8'ffff'0000} << 64;
    flow.source = to_address(block | random.next());
    flow.iif = random.below(8) == 0 ? other : from;
    flow.mark = random.below(4) == 0 ? kMark + static_cast<std::uint32_t>(random.below(4)) : 0;
    flow.traffic_class = random.below(8) == 0 ? kClass : 0;
    flow.protocol = 6;
  }
  return flows;
}

void expect_answers(Case& one, std::span<const Flow> flows) {
  std::vector<LongestMatch> matches;
  matches.reserve(one.steps.size());
  for (const auto& step : one.steps) matches.emplace_back(step.prefixes);
  one.expected.clear();
  for (const auto& flow : flows) {
    net::Prefix expected;
    for (std::size_t i = 0; i < one.steps.size(); ++i) {
      const Step& step = one.steps[i];
      if (step.matches && !step.matches(flow)) continue;
      const Found found = matches[i].find(flow.destination);
      if (found == kNothing) continue;
      expected = step.prefixes[found - 1];
      break;
    }
    one.expected.push_back(expected);
  }
}

bool is_right(const Answer& answer, const net::Prefix& expected) {
  if (expected.length() == 0) return answer.dst.is(fib::null_dst());
  return answer.route() != nullptr && answer.route()->fields().destination == expected;
}

/// All flows of a case, a burst and a read section at a time. `visit(first flow, answers)`.
template <typename Visit>
void look_up_batched(const Fib& fib, std::span<const Flow> flows, std::size_t burst, Visit visit) {
  std::vector<Answer> answers(burst);
  for (std::size_t at = 0; at < flows.size(); at += burst) {
    const rcu::ReadSection section;
    const auto part = flows.subspan(at, std::min(burst, flows.size() - at));
    fib.input(part, std::span(answers).first(part.size()));
    visit(at, std::span<const Answer>(answers).first(part.size()));
  }
}

template <typename Visit>
void look_up_by_reference(const Fib& fib, std::span<const Flow> flows, std::size_t burst,
                          Visit visit) {
  for (std::size_t at = 0; at < flows.size(); at += burst) {
    const rcu::ReadSection section;
    for (std::size_t i = at; i < std::min(at + burst, flows.size()); ++i) {
      const Answer answer = fib.input_by_walk(flows[i]);
      visit(i, std::span(&answer, 1));
    }
  }
}

void check_answers(Case& one, std::span<const Flow> flows, std::size_t burst) {
  expect_answers(one, flows);
  const auto compare_part = [&one](std::size_t first, std::span<const Answer> answers) {
    for (std::size_t i = 0; i < answers.size(); ++i) {
      ++one.checked.compared;
      if (!is_right(answers[i], one.expected[first + i])) ++one.checked.mismatches;
    }
  };
  look_up_batched(*one.fib, flows, burst, compare_part);
  look_up_by_reference(*one.fib, flows, burst, compare_part);
}

void add_rows(const std::vector<Case>& cases, const std::vector<Timing>& timings, bool by_reference,
              Report& report) {
  for (std::size_t i = 0; i < cases.size(); ++i) {
    Row row{.what = cases[i].name,
            .contender = by_reference ? "reference walk" : "compiled plan, batched",
            .figure = timings[i]};
    if (i != 0) row.ratio = timings[i].median / timings[0].median;
    if (!by_reference) row.target = cases[i].target;
    row.checked = cases[i].checked.compared;
    row.mismatches = cases[i].checked.mismatches;
    report.add(std::move(row));
  }
}

void measure(const Options& options, std::vector<Case>& cases, std::span<const Flow> flows,
             Report& report) {
  Rounds batched;
  Rounds by_reference;
  const auto ignore = [](std::size_t, std::span<const Answer> answers) { keep(answers[0]); };
  // The reference walk of a hundred tables is slow; a part of the flows says as much.
  const auto few = flows.first(std::max<std::size_t>(flows.size() / 8, 1));
  for (auto& one : cases) {
    check_answers(one, flows, options.burst);
    batched.add(flows.size(), [&one, flows, &options, ignore] {
      look_up_batched(*one.fib, flows, options.burst, ignore);
    });
    by_reference.add(few.size(), [&one, few, &options, ignore] {
      look_up_by_reference(*one.fib, few, options.burst, ignore);
    });
  }
  add_rows(cases, batched.run(options.rounds), false, report);
  add_rows(cases, by_reference.run(options.rounds), true, report);
}

/// Prefixes of main go and come back, as whole changes: checked, published, the old routes retired.
Timing time_changes(Fib& fib, UpdateStream& stream, std::size_t count, unsigned rounds) {
  std::vector<double> rates;
  for (unsigned round = 0; round < rounds; ++round) {
    std::vector<lookup::Change> changes;
    while (changes.size() < std::max<std::size_t>(count / rounds, 1)) {
      const Update update = stream.next();
      if (update.prefix.length() == 0) continue;
      const auto verb = update.insert ? lookup::RouteVerb::kAdd : lookup::RouteVerb::kDelete;
      changes.emplace_back(route_change(verb, update.prefix, kTableMain));
    }
    const Stopwatch stopwatch;
    for (const auto& change : changes) {
      must([&fib](const auto& one) { return fib.apply(one); }, change);
    }
    rates.push_back(static_cast<double>(changes.size()) / 1e6 / stopwatch.seconds());
  }
  return timing_of(std::move(rates));
}

void add_changes(const Options& options, Case& one, std::span<const Flow> flows, Report& report) {
  UpdateStream stream(one.steps.back().prefixes, options.seed + 47);
  const auto count = options.updates / 8;
  report.add({.what = "whole route changes, nobody reads",
              .contender = "lookup::Fib::apply",
              .figure = time_changes(*one.fib, stream, count, options.rounds),
              .unit = "M/s"});
  std::vector<Answer> answers(options.burst);
  const BackgroundReader reader([&](std::size_t n) {
    const std::size_t bursts = flows.size() / options.burst;
    const auto part = flows.subspan(n % bursts * options.burst, options.burst);
    one.fib->input(part, answers);
    keep(answers[0]);
    return part.size();
  });
  const Pin pin(0);
  report.add({.what = "whole route changes, a reader runs",
              .contender = "lookup::Fib::apply",
              .figure = time_changes(*one.fib, stream, count, options.rounds),
              .unit = "M/s"});
}

}  // namespace

void bench_rules(const Options& options, const PrefixTable& table, Report& report) {
  report.section("rules, whole lookups through the library, keys (a)");
  auto cases = make_cases(table.prefixes);
  const auto flows = make_flows(options, table.prefixes, cases.front().fib->links());
  {
    const rcu::Reader reader;
    measure(options, cases, flows, report);
  }
  add_changes(options, cases.front(), flows, report);
}

}  // namespace sidestep::bench
