// SPDX-License-Identifier: Apache-2.0
// What compiled lookups do where they differ in kind from the walk. That they answer alike is the plan oracle's affair.
#include "lookup/plan.hpp"

#include <atomic>
#include <thread>

#include "lookup/planner.hpp"
#include "lookup/test_router.hpp"

namespace sidestep::lookup {
namespace {

class PlanTest : public Router {
 protected:
  [[nodiscard]] RuleChange rule(std::uint32_t preference, std::uint32_t table) const {
    RuleChange change;
    change.preference_given = true;
    change.rule.preference = preference;
    change.rule.table = TableId{table};
    return change;
  }
  void add_route(const char* destination, const char* via, std::uint32_t table) {
    RouteChange change;
    change.destination = prefix(destination);
    change.table = TableId{table};
    const bool over_a = prefix("2001:db8:a::/64").covers(address(via));
    change.hops.push_back(
        {.device = over_a ? "r-a" : "r-b", .gateway = address(via), .onlink = true});
    must(change);
  }
  void delete_route(const char* destination, std::uint32_t table) {
    RouteChange change;
    change.verb = RouteVerb::kDelete;
    change.destination = prefix(destination);
    change.table = TableId{table};
    must(change);
  }
  // Both ways of asking, which must agree.
  std::string gateway_of(const Flow& flow) {
    const rcu::ReadSection section;
    Answer many[1];
    fib.input(std::span(&flow, 1), many);
    const Answer one = fib.input(flow);
    EXPECT_EQ(&one.dst.get(), &many[0].dst.get());
    EXPECT_EQ(&one.dst.get(), &fib.input_by_walk(flow).dst.get());
    return one.error() != 0 ? "error " + std::to_string(one.error()) : one.neighbor_key.to_string();
  }
};

TEST_F(PlanTest, TablesOfUnconditionalRulesAnswerInOrder) {
  make_two_links();
  must(rule(100, 100));
  add_route("2001:db8:9::/48", "2001:db8:a::1", 254);
  const Flow flow = received("2001:db8:9::1", "r-a");
  EXPECT_EQ(gateway_of(flow), "2001:db8:a::1");
  add_route("2001:db8::/32", "2001:db8:b::1", 100);
  EXPECT_EQ(gateway_of(flow), "2001:db8:b::1")
      << "the first table's shorter prefix covers main's longer one";
  delete_route("2001:db8::/32", 100);
  EXPECT_EQ(gateway_of(flow), "2001:db8:a::1");
  delete_route("2001:db8:9::/48", 254);
  EXPECT_EQ(gateway_of(flow), "error 101");
}

TEST_F(PlanTest, DefaultRoutesComeAndGoInEveryTable) {
  make_two_links();
  must(rule(100, 100));
  const Flow flow = received("2001:db8:9::1", "r-a");
  add_route("::/0", "2001:db8:a::1", 254);
  EXPECT_EQ(gateway_of(flow), "2001:db8:a::1");
  add_route("::/0", "2001:db8:b::1", 100);
  EXPECT_EQ(gateway_of(flow), "2001:db8:b::1");
  delete_route("::/0", 254);
  EXPECT_EQ(gateway_of(flow), "2001:db8:b::1");
  delete_route("::/0", 100);
  EXPECT_EQ(gateway_of(flow), "error 101");
}

TEST_F(PlanTest, SuppressedResultsAreHolesInTheirTable) {
  make_two_links();
  auto no_default = rule(100, 100);
  no_default.rule.suppress_prefix_length = 0;
  must(no_default);
  add_route("::/0", "2001:db8:b::1", 100);
  add_route("2001:db8:9::/48", "2001:db8:a::1", 254);
  EXPECT_EQ(gateway_of(received("2001:db8:9::1", "r-a")), "2001:db8:a::1");
  add_route("2001:db8::/32", "2001:db8:b::1", 100);
  EXPECT_EQ(gateway_of(received("2001:db8:9::1", "r-a")), "2001:db8:b::1");
}

TEST_F(PlanTest, RuleChangesAreSeenWholeByABlock) {
  make_two_links();
  add_route("2001:db8:9::/48", "2001:db8:a::1", 100);
  add_route("2001:db8:9::/48", "2001:db8:b::1", 101);
  must(rule(100, 100));
  std::atomic<bool> done{false};
  std::uint64_t mixed = 0;
  std::uint64_t blocks = 0;
  const Flow flow = received("2001:db8:9::1", "r-a");
  std::thread asking([&] {
    const rcu::Reader asking_reader;
    const std::vector<Flow> flows(kPlanBatch, flow);
    std::vector<Answer> answers(kPlanBatch);
    while (!done.load(std::memory_order_relaxed)) {
      const rcu::ReadSection section;
      fib.input(flows, answers);
      ++blocks;
      for (const Answer& answer : answers) mixed += answer.table != answers[0].table ? 1U : 0U;
    }
  });
  for (int i = 0; i < 300; ++i) {
    auto other = rule(99, 101);
    must(other);
    other.remove = true;
    must(other);
  }
  done.store(true, std::memory_order_relaxed);
  asking.join();
  EXPECT_GT(blocks, 0U);
  EXPECT_EQ(mixed, 0U);
}

TEST_F(PlanTest, RunsThatNoRuleNeedsGiveTheirMemoryBack) {
  fib::Table main(kTableMain);
  fib::Table other(TableId{100});
  for (std::uint8_t i = 0; i < 100; ++i) {
    const net::Prefix destination(net::Ipv6Address{{0x20, 0x01, i}}, 48);
    ASSERT_TRUE(main.insert(fib::Route::create({.destination = destination}), {}));
  }
  const auto find_table = [&](TableId id) { return id == kTableMain ? &main : &other; };
  const fib::Links links;
  rules::RuleList list;
  Planner planner;
  const auto compile = [&] {
    const rules::CompiledRuleList compiled(list, links);
    static_cast<void>(planner.compile(compiled, find_table));
    planner.drop_unused();
    return planner.used_bytes();
  };
  const rules::Rule added = rule(100, 100).rule;
  ASSERT_TRUE(list.add(added, {.preference = true}));
  const std::size_t with_rule = compile();
  ASSERT_TRUE(list.erase(added, {.preference = true}));
  const std::size_t without_rule = compile();
  EXPECT_GT(without_rule, 0U);
  EXPECT_EQ(compile(), without_rule) << "the same runs are taken over";
  ASSERT_TRUE(list.add(added, {.preference = true}));
  EXPECT_EQ(compile(), with_rule) << "what the rule list before needed was given back";
}

}  // namespace
}  // namespace sidestep::lookup
