// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "lookup/test_router.hpp"

namespace sidestep::lookup {
namespace {

class Multipath : public Router {
 protected:
  Multipath() { make_two_links(); }

  /// Share of flows per neighbor, in percent, over many flow labels.
  std::map<std::string, double> shares(const char* destination, int flows = 100'000) {
    std::map<std::string, double> counts;
    Flow flow = received(destination, "r-a");
    for (int i = 0; i < flows; ++i) {
      flow.flow_label = static_cast<std::uint32_t>(i);
      counts[input(flow).neighbor] += 100.0 / flows;
    }
    return counts;
  }
};

TEST_F(Multipath, FlowsSpreadByWeightWithinTwoPercent) {
  must(add("2001:db8:9::/64",
           {{.via = "2001:db8:a::1", .weight = 1}, {.via = "2001:db8:b::1", .weight = 3}}));
  auto share = shares("2001:db8:9::1");
  EXPECT_NEAR(share["2001:db8:a::1"], 25, 2);
  EXPECT_NEAR(share["2001:db8:b::1"], 75, 2);
}

TEST_F(Multipath, ManyWeightsSpreadWithinTwoPercent) {
  must(add("2001:db8:9::/64", {{.via = "2001:db8:a::1", .weight = 5},
                               {.via = "2001:db8:a::2:1", .weight = 10},
                               {.via = "2001:db8:b::1", .weight = 25},
                               {.via = "2001:db8:b::2:1", .weight = 60}}));
  auto share = shares("2001:db8:9::1");
  EXPECT_NEAR(share["2001:db8:a::1"], 5, 2);
  EXPECT_NEAR(share["2001:db8:a::2:1"], 10, 2);
  EXPECT_NEAR(share["2001:db8:b::1"], 25, 2);
  EXPECT_NEAR(share["2001:db8:b::2:1"], 60, 2);
}

TEST_F(Multipath, AFlowStaysWhereItIs) {
  must(add("2001:db8:9::/64", {{.via = "2001:db8:a::1"}, {.via = "2001:db8:b::1"}}));
  Flow flow = received("2001:db8:9::1", "r-a");
  const std::string first = input(flow).neighbor;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(input(flow).neighbor, first);
  flow.multipath_hash = 1;
  EXPECT_EQ(input(flow).neighbor, "2001:db8:a::1");
  flow.multipath_hash = 0x7fffffff;
  EXPECT_EQ(input(flow).neighbor, "2001:db8:b::1");
  flow.multipath_hash = (1U << 30) - 1;  // the last of the first share
  EXPECT_EQ(input(flow).neighbor, "2001:db8:a::1");
  flow.multipath_hash = 1U << 30;
  EXPECT_EQ(input(flow).neighbor, "2001:db8:b::1");
}

TEST_F(Multipath, TheHashPolicySaysWhichFieldsSpread) {
  must(add("2001:db8:9::/64", {{.via = "2001:db8:a::1"}, {.via = "2001:db8:b::1"}}));
  const auto spread_by = [&](auto edit) {
    std::set<std::string> seen;
    Flow flow = received("2001:db8:9::1", "r-a");
    for (std::uint16_t i = 0; i < 64; ++i) {
      edit(flow, i);
      seen.insert(input(flow).neighbor);
    }
    return seen.size() > 1;
  };
  const auto label = [](Flow& flow, std::uint16_t i) { flow.flow_label = i; };
  const auto port = [](Flow& flow, std::uint16_t i) { flow.source_port = i; };
  const auto protocol = [](Flow& flow, std::uint16_t i) {
    flow.protocol = static_cast<std::uint8_t>(i);
  };
  EXPECT_TRUE(spread_by(label));
  EXPECT_FALSE(spread_by(port));
  EXPECT_TRUE(spread_by(protocol));
  sysctl("net.ipv6.fib_multipath_hash_policy", "1");
  EXPECT_FALSE(spread_by(label));
  EXPECT_TRUE(spread_by(port));
  sysctl("net.ipv6.fib_multipath_hash_policy", "3");
  sysctl("net.ipv6.fib_multipath_hash_fields", "0x08");
  EXPECT_TRUE(spread_by(label));
  EXPECT_FALSE(spread_by(port));
  EXPECT_FALSE(spread_by(protocol));
}

TEST_F(Multipath, AnotherSeedSpreadsOtherwise) {
  Fib other({}, 99);
  must(add("2001:db8:9::/64", {{.via = "2001:db8:a::1"}, {.via = "2001:db8:b::1"}}));
  ASSERT_TRUE(other.apply(LinkChange{.name = "r-a", .create = true, .up = true}).has_value());
  ASSERT_TRUE(other.apply(LinkChange{.name = "r-b", .create = true, .up = true}).has_value());
  ASSERT_TRUE(other.apply(addr_change("2001:db8:a::2", 64, "r-a")).has_value());
  ASSERT_TRUE(other.apply(addr_change("2001:db8:b::2", 64, "r-b")).has_value());
  ASSERT_TRUE(
      other.apply(add("2001:db8:9::/64", {{.via = "2001:db8:a::1"}, {.via = "2001:db8:b::1"}}))
          .has_value());
  int different = 0;
  Flow flow = received("2001:db8:9::1", "r-a");
  for (std::uint32_t i = 0; i < 200; ++i) {
    flow.flow_label = i;
    rcu::ReadSection section;
    different += fib.input(flow).neighbor_key != other.input(flow).neighbor_key ? 1 : 0;
  }
  EXPECT_GT(different, 50);
}

TEST_F(Multipath, DeletingASiblingGivesItsShareToTheOthers) {
  must(add("2001:db8:9::/64", {{.via = "2001:db8:a::1"}, {.via = "2001:db8:b::1", .weight = 3}}));
  must(del("2001:db8:9::/64", {{.via = "2001:db8:b::1"}}));
  EXPECT_NEAR(shares("2001:db8:9::1", 1000)["2001:db8:a::1"], 100, 0.01);
  must(append("2001:db8:9::/64", {{.via = "2001:db8:b::1"}}));
  EXPECT_NEAR(shares("2001:db8:9::1")["2001:db8:a::1"], 50, 2);
}

TEST_F(Multipath, IgnoringLinkdownAfterTheFactChangesNothingUntilTheNextEvent) {
  must(add("2001:db8:9::/64", {{.via = "2001:db8:a::1"}, {.via = "2001:db8:b::1"}}));
  set_carrier("r-b", false);
  sysctl("net.ipv6.conf.all.ignore_routes_with_linkdown", "1");
  EXPECT_NEAR(shares("2001:db8:9::1")["2001:db8:b::1"], 50, 2);
  must(append("2001:db8:9::/64", {{.via = "2001:db8:a::3"}}));
  auto share = shares("2001:db8:9::1");
  EXPECT_EQ(share.count("2001:db8:b::1"), 0U);
  EXPECT_NEAR(share["2001:db8:a::3"], 50, 2);
}

TEST_F(Multipath, SharesFollowAtOnceWhenStaleOnesAreSwitchedOff) {
  sysctl("sidestep.stale_multipath_shares", "0");
  must(add("2001:db8:9::/64", {{.via = "2001:db8:a::1"}, {.via = "2001:db8:b::1"}}));
  set_carrier("r-b", false);
  EXPECT_NEAR(shares("2001:db8:9::1")["2001:db8:b::1"], 50, 2);
  sysctl("net.ipv6.conf.all.ignore_routes_with_linkdown", "1");
  EXPECT_EQ(shares("2001:db8:9::1").count("2001:db8:b::1"), 0U);
  sysctl("net.ipv6.conf.r-b.ignore_routes_with_linkdown", "0");
  EXPECT_NEAR(shares("2001:db8:9::1")["2001:db8:b::1"], 50, 2);
}

TEST_F(Multipath, HashingOverridesTheIngressPreference) {
  must(add("2001:db8:9::/64", {{.via = "2001:db8:a::1"}, {.via = "2001:db8:b::1"}}));
  EXPECT_NEAR(shares("2001:db8:9::1")["2001:db8:b::1"], 50, 2);
}

TEST_F(Multipath, HashingIgnoresRouterPreference) {
  RouteChange low = append("2001:db8:9::/64", {{.via = "2001:db8:a::1"}});
  low.preference = fib::RouterPreference::kLow;
  RouteChange high = append("2001:db8:9::/64", {{.via = "2001:db8:b::1"}});
  high.preference = fib::RouterPreference::kHigh;
  must(low);
  must(high);
  EXPECT_NEAR(shares("2001:db8:9::1")["2001:db8:a::1"], 50, 2);
}

TEST_F(Multipath, AStrictOutputInterfaceKeepsItsHop) {
  must(add("2001:db8:9::/64", {{.via = "2001:db8:a::1"}, {.via = "2001:db8:b::1"}}));
  Flow flow = sent("2001:db8:9::1", "r-b");
  for (std::uint32_t i = 0; i < 200; ++i) {
    flow.flow_label = i;
    EXPECT_EQ(output(flow).device, "r-b");
  }
  std::set<std::string> devices;  // with a source, oif is only a preference and the hash decides
  flow = sent("2001:db8:9::1", "r-b", "2001:db8:b::2");
  for (std::uint32_t i = 0; i < 200; ++i) {
    flow.flow_label = i;
    devices.insert(output(flow).device);
  }
  EXPECT_EQ(devices.size(), 2U);
}

TEST_F(Multipath, ARoutersRingKeepsFailedNeighborsAHostsDoesNot) {
  must(add("2001:db8:9::/64", {{.via = "2001:db8:a::1"}, {.via = "2001:db8:b::1"}}));
  neighbors.health[address("2001:db8:b::1")] = NeighborHealth::kFailed;
  EXPECT_NEAR(shares("2001:db8:9::1")["2001:db8:b::1"], 50, 2);
  sysctl("net.ipv6.conf.all.forwarding", "0");
  EXPECT_EQ(shares("2001:db8:9::1", 2000).count("2001:db8:b::1"), 0U);
}

class NexthopGroup : public Multipath {
 protected:
  NexthopGroup() {
    must(nexthop(1, {.via = "2001:db8:a::1", .dev = "r-a"}));
    must(nexthop(2, {.via = "2001:db8:b::1", .dev = "r-b"}));
    must(nexthop_group(10, {{1, 1}, {2, 3}}));
    must(with_object(add("2001:db8:9::/64"), 10));
  }
};

TEST_F(NexthopGroup, MembersShareByWeight) {
  auto share = shares("2001:db8:9::1");
  EXPECT_NEAR(share["2001:db8:a::1"], 25, 2);
  EXPECT_NEAR(share["2001:db8:b::1"], 75, 2);
}

TEST_F(NexthopGroup, AMemberWithABadNeighborGetsNothingEvenOnARouter) {
  for (const auto health : {NeighborHealth::kFailed, NeighborHealth::kIncomplete}) {
    neighbors.health[address("2001:db8:b::1")] = health;
    EXPECT_EQ(shares("2001:db8:9::1", 500).count("2001:db8:b::1"), 0U);
  }
  neighbors.health[address("2001:db8:a::1")] = NeighborHealth::kFailed;
  EXPECT_NEAR(shares("2001:db8:9::1", 500)["2001:db8:a::1"], 100, 0.01);  // none good: the first
}

TEST_F(NexthopGroup, AGoodMemberAfterTheHashIsTakenElseTheFirstGood) {
  must(nexthop(3, {.via = "2001:db8:b::3", .dev = "r-b"}));
  must(nexthop_group(10, {{1, 1}, {2, 1}, {3, 1}}, NexthopVerb::kReplace));
  neighbors.health[address("2001:db8:b::3")] = NeighborHealth::kFailed;
  Flow flow = received("2001:db8:9::1", "r-a");
  flow.multipath_hash = 0x7fffffff;  // the third's share
  EXPECT_EQ(input(flow).neighbor, "2001:db8:a::1");
  neighbors.health = {{address("2001:db8:a::1"), NeighborHealth::kFailed}};
  flow.multipath_hash = 1;  // the first's share
  EXPECT_EQ(input(flow).neighbor, "2001:db8:b::1");
}

TEST_F(NexthopGroup, ReplacingAMemberMovesTheRoutes) {
  must(nexthop(2, {.via = "2001:db8:a::7", .dev = "r-a"}, NexthopVerb::kReplace));
  auto share = shares("2001:db8:9::1");
  EXPECT_NEAR(share["2001:db8:a::7"], 75, 2);
  EXPECT_EQ(share.count("2001:db8:b::1"), 0U);
}

TEST_F(NexthopGroup, AGroupShrinksWithItsMembersAndDiesWithTheLast) {
  must(nexthop_del(2));
  EXPECT_NEAR(shares("2001:db8:9::1", 500)["2001:db8:a::1"], 100, 0.01);
  must(nexthop_del(1));
  EXPECT_TRUE(fib.nexthops().empty());
  EXPECT_TRUE(input(received("2001:db8:9::1", "r-a")).is_null);
  EXPECT_FALSE(has_route(254, "2001:db8:9::/64 nhid 10 metric 1024"));
}

TEST_F(NexthopGroup, LosingCarrierOrGoingDownDeletesTheDevicesObjects) {
  set_carrier("r-b", false);
  EXPECT_EQ(fib.nexthops().size(), 2U);
  EXPECT_NEAR(shares("2001:db8:9::1", 500)["2001:db8:a::1"], 100, 0.01);
  set_up("r-a", false);
  EXPECT_TRUE(fib.nexthops().empty());
}

TEST_F(NexthopGroup, AResilientGroupSharesItsBuckets) {
  NexthopChange resilient = nexthop_group(11, {{1, 1}, {2, 3}});
  resilient.resilient = true;
  resilient.buckets = 64;
  must(resilient);
  must(with_object(add("2001:db8:8::/64"), 11));
  EXPECT_NEAR(shares("2001:db8:8::1")["2001:db8:a::1"], 25, 2);
}

class ResilientGroup : public NexthopGroup {
 protected:
  ResilientGroup() {
    must(nexthop(3, {.via = "2001:db8:b::3", .dev = "r-b"}));
    must(resilient({{1, 1}, {2, 1}, {3, 1}}, 30));
    must(with_object(add("2001:db8:8::/64"), 11));
  }
  static NexthopChange resilient(const std::vector<std::pair<std::uint32_t, int>>& members,
                                 std::optional<std::uint32_t> buckets = {},
                                 NexthopVerb verb = NexthopVerb::kAdd) {
    NexthopChange change = nexthop_group(11, members, verb);
    change.resilient = true;
    change.buckets = buckets;
    return change;
  }
  static NexthopChange replaced(const std::vector<std::pair<std::uint32_t, int>>& members) {
    return resilient(members, {}, NexthopVerb::kReplace);
  }
  /// The neighbor behind each of the 30 buckets.
  std::vector<std::string> ways() {
    std::vector<std::string> found;
    Flow flow = received("2001:db8:8::1", "r-a");
    for (std::uint32_t bucket = 0; bucket < 30; ++bucket) {
      flow.multipath_hash = 30 + bucket;
      found.push_back(input(flow).neighbor);
    }
    return found;
  }
};

TEST_F(ResilientGroup, MovesOnlyTheFlowsOfAMemberThatGoes) {
  const auto before = ways();
  EXPECT_EQ(std::ranges::count(before, "2001:db8:b::3"), 10);
  must(nexthop_del(2));
  const auto after = ways();
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i] != "2001:db8:b::1") {
      EXPECT_EQ(after[i], before[i]) << i;
    }
  }
  EXPECT_EQ(std::ranges::count(after, "2001:db8:a::1"), 15);
}

TEST_F(ResilientGroup, MovesNoMoreFlowsThanANewWeightAsksFor) {
  const auto before = ways();
  must(replaced({{3, 1}, {1, 3}, {2, 1}}));  // 6, 18 and 6 of 30
  const auto after = ways();
  int moved = 0;
  for (std::size_t i = 0; i < before.size(); ++i) moved += before[i] != after[i] ? 1 : 0;
  EXPECT_EQ(moved, 8);
  EXPECT_EQ(std::ranges::count(after, "2001:db8:a::1"), 18);
}

TEST_F(ResilientGroup, AMemberThatIsReplacedKeepsItsBuckets) {
  auto expected = ways();
  std::ranges::replace(expected, "2001:db8:b::1", "2001:db8:a::7");
  must(nexthop(2, {.via = "2001:db8:a::7", .dev = "r-a"}, NexthopVerb::kReplace));
  EXPECT_EQ(ways(), expected);
}

TEST_F(ResilientGroup, WhatIsNotGivenStays) {
  const auto group = [&] { return fib.nexthops().back(); };
  EXPECT_EQ(group()->idle_timer_s, 120U);
  NexthopChange change = replaced({{1, 1}});
  change.idle_timer_s = 0;
  change.unbalanced_timer_s = 9;
  must(change);
  must(replaced({{1, 1}, {2, 1}}));
  EXPECT_EQ(group()->id, NexthopId{11});
  EXPECT_EQ(group()->buckets, 30U);
  EXPECT_EQ(group()->idle_timer_s, 0U);
  EXPECT_EQ(group()->unbalanced_timer_s, 9U);
}

TEST_F(ResilientGroup, HasRefusalsOfItsOwn) {
  EXPECT_EQ(refusal(resilient({{1, 1}}, 60, NexthopVerb::kReplace)),
            "22: Can not change number of buckets of a resilient nexthop group");
  EXPECT_EQ(refusal(nexthop_group(11, {{1, 1}}, NexthopVerb::kReplace)),
            "22: Can not replace a nexthop group with one of a different type");
  EXPECT_EQ(refusal(resilient({{1, 1}})), "17: File exists");
  NexthopChange unnumbered = resilient({{1, 1}});
  unnumbered.id = NexthopId{12};
  EXPECT_EQ(refusal(unnumbered), "22: Number of buckets not specified for nexthop group insertion");
  unnumbered.buckets = 0;
  EXPECT_EQ(refusal(unnumbered), "22: Number of buckets needs to be non-0");
  unnumbered.buckets = 2;  // fewer than members: somebody gets none
  unnumbered.group = {{NexthopId{1}, 1}, {NexthopId{2}, 1}, {NexthopId{3}, 1}};
  must(unnumbered);
}

TEST_F(NexthopGroup, ABlackholeObjectIsSilent) {
  must(nexthop_blackhole(5));
  must(with_object(add("2001:db8:8::/64"), 5));
  const Said said = input(received("2001:db8:8::1", "r-a"));
  EXPECT_EQ(said.input, fib::DstInput::kBlackhole);
  EXPECT_EQ(said.error, EINVAL);
}

TEST_F(NexthopGroup, ObjectsAreRefusedInTheKernelsWords) {
  must(nexthop_blackhole(5));
  EXPECT_EQ(refusal(nexthop(1, {.via = "2001:db8:a::1", .dev = "r-a"})), "17: File exists");
  EXPECT_EQ(refusal(nexthop(20, {.via = "2001:db8:a::1"})),
            "22: Device attribute required for non-blackhole and non-fdb nexthops");
  EXPECT_EQ(refusal(nexthop(20, {.via = "2001:dead::1", .dev = "r-a"})), "113: No route to host");
  EXPECT_EQ(refusal(nexthop_group(20, {{1, 1}, {77, 1}})), "22: Invalid nexthop id");
  EXPECT_EQ(refusal(nexthop_group(20, {{1, 1}, {1, 1}})),
            "22: Nexthop id can not be used twice in a group");
  EXPECT_EQ(refusal(nexthop_group(20, {{10, 1}, {1, 1}})),
            "22: Hash-threshold group can not be a nexthop within a group");
  EXPECT_EQ(refusal(nexthop_group(20, {{5, 1}, {1, 1}})),
            "22: Blackhole nexthop can not be used in a group with more than 1 path");
  EXPECT_EQ(refusal(nexthop_del(99)), "2: No such file or directory");
  EXPECT_EQ(refusal(nexthop_group(1, {{2, 1}}, NexthopVerb::kReplace)),
            "22: Can not replace a nexthop with a nexthop group");
  EXPECT_EQ(refusal(nexthop(10, {.dev = "r-a"}, NexthopVerb::kReplace)),
            "22: Can not replace a nexthop group with a nexthop");
  EXPECT_EQ(refusal(with_object(add("2001:db8:7::/64"), 99)), "22: Nexthop id does not exist");
  EXPECT_EQ(refusal(with_source(with_object(add("2001:db8:7::/64"), 1), "2001:db8:1::/48")),
            "22: Nexthops can not be used with source routing");
  EXPECT_EQ(refusal(with_object(add("2001:db8:7::/64", {{.dev = "r-a"}}), 1)),
            "22: Nexthop specification and nexthop id are mutually exclusive");
}

TEST_F(NexthopGroup, AnObjectWithoutIdGetsTheNextFreeOne) {
  must(nexthop(0, {.dev = "r-a"}));
  must(nexthop(0, {.dev = "r-b"}));
  std::vector<std::uint32_t> ids;
  for (const auto& object : fib.nexthops()) ids.push_back(object->id.value);
  EXPECT_EQ(ids, (std::vector<std::uint32_t>{1, 2, 3, 4, 10}));
}

}  // namespace
}  // namespace sidestep::lookup
