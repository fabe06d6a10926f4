// SPDX-License-Identifier: Apache-2.0
// Lookups borrow: no count moves, whatever they end with and whatever they pass over.
#include <atomic>
#include <thread>

#include "lookup/test_router.hpp"

namespace sidestep::lookup {
namespace {

/// Every kind of outcome on one router: null, suppressed, throw, reject, ring, group, good.
class Ownership : public Router {
 protected:
  Ownership() {
    make_two_links();
    must(in_table(add("2001:db8::/32", {{.via = "2001:db8:a::1"}}), 100));
    must(in_table(with_type(add("2001:db8:1::/64"), fib::RouteType::kThrow), 200));
    must(in_table(with_type(add("2001:db8:2::/64"), fib::RouteType::kUnreachable), 200));
    must(in_table(with_type(add("2001:db8:3::/64"), fib::RouteType::kBlackhole), 200));
    must(add("2001:db8:1::/64", {{.via = "2001:db8:b::1"}}));
    must(add("2001:db8:4::/64", {{.via = "2001:db8:a::1"}, {.via = "2001:db8:b::1"}}));
    must(nexthop(1, {.via = "2001:db8:a::1", .dev = "r-a"}));
    must(nexthop(2, {.via = "2001:db8:b::1", .dev = "r-b"}));
    must(nexthop_group(10, {{1, 1}, {2, 1}}));
    must(with_object(add("2001:db8:5::/64"), 10));
    // The rules come last: gateways are looked up by them, and without their suppressors.
    RuleChange suppressing = rule(10, 100);
    suppressing.rule.suppress_prefix_length = 32;
    must(suppressing);
    must(rule(20, 200));
  }

  /// Owners of every destination of every table, in order.
  [[nodiscard]] std::vector<std::uint32_t> counts() const {
    rcu::ReadSection section;
    std::vector<std::uint32_t> owners;
    for (const TableId id : fib.table_ids()) {
      fib.find_table(id)->for_each([&](const fib::RouteSet& set) {
        for (const auto& slot : set.slots) {
          for (std::size_t hop = 0; hop < slot.route->hop_count(); ++hop) {
            owners.push_back(slot.route->dst(hop).owner_count());
          }
        }
      });
    }
    for (const fib::Dst* dst : {&fib::null_dst(), &fib::blackhole_dst(), &fib::prohibit_dst()}) {
      owners.push_back(dst->owner_count());
    }
    return owners;
  }
};

TEST_F(Ownership, AMillionLookupsEndWithEveryCountWhereItStarted) {
  constexpr int kLookups = 1'000'000;
  const char* const kDestinations[] = {
      "2001:db8:1::1",  // suppressed, throw, then good
      "2001:db8:2::1",  // suppressed, unreachable
      "2001:db8:3::1",  // suppressed, blackhole
      "2001:db8:4::1",  // ring
      "2001:db8:5::1",  // group
      "2001:db8:9::1",  // suppressed, then nothing
      "2002::1",        // nothing
      "2001:db8:a::2",  // local
  };
  rcu::barrier();  // earlier tests' routes are gone
  const auto before = counts();
  const auto live = fib::Route::live_count();
  std::vector<Flow> flows;
  for (const char* destination : kDestinations) flows.push_back(received(destination, "r-a"));
  std::uint64_t usable = 0;
  for (int i = 0; i < kLookups;) {
    rcu::ReadSection section;
    for (int batch = 0; batch < 64 && i < kLookups; ++batch, ++i) {
      Flow& flow = flows[static_cast<std::size_t>(i) % flows.size()];
      flow.flow_label = static_cast<std::uint32_t>(i);
      const Answer answer = i % 3 == 2 ? fib.output(flow) : fib.input(flow);
      usable += answer.error() == 0 ? 1U : 0U;
    }
  }
  EXPECT_EQ(counts(), before);
  EXPECT_EQ(fib::Route::live_count(), live);
  EXPECT_EQ(fib::uncached_count(), 0U);
  EXPECT_GT(usable, 400'000U);
  EXPECT_LT(usable, 600'000U);
}

TEST_F(Ownership, APromotedResultTakesOneReferenceOnItAndNoneOnThosePassedOver) {
  const auto before = counts();
  fib::OwnedDst owned;
  {
    rcu::ReadSection section;
    const Answer answer = fib.input(received("2001:db8:1::1", "r-a"));
    owned = fib::OwnedDst::try_promote(answer.dst);
    ASSERT_TRUE(owned);
    EXPECT_EQ(answer.dst->gateway, address("2001:db8:b::1"));
    EXPECT_EQ(owned.get().owner_count(), 2U);
  }
  const auto held = counts();
  std::uint32_t difference = 0;
  for (std::size_t i = 0; i < held.size(); ++i) difference += held[i] - before[i];
  EXPECT_EQ(difference, 1U);
  owned.reset();
  EXPECT_EQ(counts(), before);
}

TEST_F(Ownership, AResultOutlivesItsRouteInTheSectionButIsNotPromoted) {
  rcu::ReadSection section;
  const Answer answer = fib.input(received("2001:db8:1::1", "r-a"));
  must(del("2001:db8:1::/64"));
  EXPECT_EQ(answer.dst->gateway, address("2001:db8:b::1"));
  EXPECT_FALSE(fib::OwnedDst::try_promote(answer.dst));
}

TEST_F(Ownership, DestroyingTheFibFreesEveryRoute) {
  rcu::barrier();  // earlier tests' routes are gone
  const auto before = fib::Route::live_count();
  {
    Fib other;
    ASSERT_TRUE(other.apply(LinkChange{.name = "r-a", .create = true, .up = true}).has_value());
    ASSERT_TRUE(other.apply(addr_change("2001:db8:a::2", 64, "r-a")).has_value());
    ASSERT_TRUE(other.apply(add("2001:db8:9::/64", {{.via = "2001:db8:a::9"}})).has_value());
    EXPECT_GT(fib::Route::live_count(), before);
  }
  rcu::barrier();
  EXPECT_EQ(fib::Route::live_count(), before);
}

// Readers look up while the writer pulls routes, rules, devices and nexthop objects from under them. Every answer must be one
// that some state of the router gives.
TEST_F(Ownership, ReadersSeeOnlyStatesThatTheWriterMade) {
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> lookups{0};
  std::atomic<std::uint64_t> wrong{0};
  const Flow flows[] = {received("2001:db8:1::1", "r-a"), received("2001:db8:4::1", "r-a"),
                        received("2001:db8:5::1", "r-a")};
  const net::Ipv6Address by_a = address("2001:db8:a::1");
  const net::Ipv6Address by_b = address("2001:db8:b::1");
  const auto read = [&] {
    rcu::Reader registered;
    std::uint64_t count = 0;
    while (!stop.load(std::memory_order_relaxed)) {
      rcu::ReadSection section;
      for (const Flow& given : flows) {
        Flow flow = given;
        flow.flow_label = static_cast<std::uint32_t>(++count);
        const Answer answer = fib.input(flow);
        const bool known =
            answer.error() != 0 || answer.dst->gateway == by_a || answer.dst->gateway == by_b;
        if (!known) wrong.fetch_add(1, std::memory_order_relaxed);
        auto owned = fib::OwnedDst::try_promote(answer.dst);  // may fail, must not crash
      }
    }
    lookups.fetch_add(count, std::memory_order_relaxed);
  };
  std::thread one(read);
  std::thread two(read);
  reader.offline();  // this thread only writes
  for (int round = 0; round < 150; ++round) {
    must(del("2001:db8:1::/64"));
    must(rule(15, 300));
    must(add("2001:db8:1::/64", {{.via = "2001:db8:b::1", .dev = "r-b", .onlink = true}}));
    must(nexthop(2, {.via = "2001:db8:a::1", .dev = "r-a", .onlink = true}, NexthopVerb::kReplace));
    set_carrier("r-b", false);
    must(route_change(RouteVerb::kReplace, "2001:db8:4::/64",
                      {{.via = "2001:db8:b::1", .dev = "r-b", .onlink = true},
                       {.via = "2001:db8:a::1", .dev = "r-a", .onlink = true}}));
    set_carrier("r-b", true);
    must(nexthop(2, {.via = "2001:db8:b::1", .dev = "r-b", .onlink = true}, NexthopVerb::kReplace));
    must(rule_del(15));
  }
  stop = true;
  one.join();
  two.join();
  reader.online();
  EXPECT_EQ(wrong.load(), 0U);
  EXPECT_GT(lookups.load(), 0U);
  const auto live = fib::Route::live_count();
  rcu::barrier();
  EXPECT_LE(fib::Route::live_count(), live);
  for (const auto count : counts()) EXPECT_LE(count, 1U);
}

}  // namespace
}  // namespace sidestep::lookup
