// SPDX-License-Identifier: Apache-2.0
// What lookups answer. Each case was seen on a running kernel.
#include <cerrno>

#include "lookup/test_router.hpp"

namespace sidestep::lookup {
namespace {

using fib::DstInput;
using fib::RouteType;

class Lookup : public Router {
 protected:
  Lookup() { make_two_links(); }
};

TEST_F(Lookup, AFreshRouterHasNoWayOutButItself) {
  Fib fresh;
  rcu::ReadSection section;
  Flow flow;
  flow.destination = address("2001:db8::1");
  EXPECT_TRUE(fresh.input(flow).dst.is(fib::null_dst()));
  flow.destination = address("::1");
  flow.has_source = false;
  const Answer self = fresh.output(flow);
  EXPECT_EQ(self.dst->input, DstInput::kDeliver);
  EXPECT_EQ(self.table, kTableLocal);
}

TEST_F(Lookup, TheNeighborKeyIsTheGatewayElseTheDestination) {
  must(add("2001:db8:9::/64", {{.via = "2001:db8:b::9"}}));
  EXPECT_EQ(input(received("2001:db8:9::1", "r-a")).neighbor, "2001:db8:b::9");
  EXPECT_EQ(input(received("2001:db8:9::1", "r-a")).device, "r-b");
  EXPECT_EQ(input(received("2001:db8:b::77", "r-a")).neighbor, "2001:db8:b::77");
}

TEST_F(Lookup, LocalAddressesAreDeliveredOverTheLoopbackDevice) {
  const Said said = input(received("2001:db8:b::2", "r-a"));
  EXPECT_EQ(said.input, DstInput::kDeliver);
  EXPECT_EQ(said.device, "lo");
  EXPECT_EQ(said.table, kTableLocal);
}

TEST_F(Lookup, ASourceSpecificRouteHidesThePlainOneOfItsPrefix) {
  must(add("2001:db8:9::/64", {{.via = "2001:db8:a::9"}}));
  must(with_source(add("2001:db8:9::/64", {{.via = "2001:db8:b::9"}}), "2001:db8:50::/64"));
  EXPECT_EQ(input(received("2001:db8:9::1", "r-a", "2001:db8:50::1")).neighbor, "2001:db8:b::9");
  EXPECT_TRUE(input(received("2001:db8:9::1", "r-a", "2001:db8:51::1")).is_null);
  must(add("2001:db8::/32", {{.via = "2001:db8:a::8"}}));
  EXPECT_EQ(input(received("2001:db8:9::1", "r-a", "2001:db8:51::1")).prefix, "2001:db8::/32");
}

TEST_F(Lookup, AtTheDefaultRouteASourceSpecificRouteHidesNothing) {
  must(add("::/0", {{.via = "2001:db8:a::9"}}));
  must(with_source(add("::/0", {{.via = "2001:db8:b::9"}}), "2001:db8:50::/64"));
  EXPECT_EQ(input(received("2001:dead::1", "r-a", "2001:db8:50::1")).neighbor, "2001:db8:b::9");
  EXPECT_EQ(input(received("2001:dead::1", "r-a", "2001:db8:51::1")).neighbor, "2001:db8:a::9");
}

TEST_F(Lookup, OutputWithoutSourceIsANonMatchingSource) {
  must(add("2001:db8:9::/64", {{.via = "2001:db8:a::9"}}));
  must(with_source(add("2001:db8:9::/64", {{.via = "2001:db8:b::9"}}), "2001:db8:50::/64"));
  EXPECT_TRUE(output(sent("2001:db8:9::1")).is_null);
}

TEST_F(Lookup, AmongEqualDeviceRoutesTheIngressInterfaceIsPreferred) {
  must(append("2001:db8:9::/64", {{.dev = "r-b"}}));
  must(append("2001:db8:9::/64", {{.dev = "r-a"}}));
  EXPECT_EQ(input(received("2001:db8:9::1", "r-a")).device, "r-a");
  EXPECT_EQ(input(received("2001:db8:9::1", "r-b")).device, "r-b");
  EXPECT_EQ(output(sent("2001:db8:9::1")).device, "r-b");
}

TEST_F(Lookup, OifBindsOnlyWithoutASource) {
  must(with_metric(add("2001:db8:9::/64", {{.dev = "r-b"}}), 10));
  must(with_metric(add("2001:db8:9::/64", {{.dev = "r-a"}}), 20));
  EXPECT_EQ(output(sent("2001:db8:9::1", "r-a")).metric, 20U);
  const Said with_source = output(sent("2001:db8:9::1", "r-a", "2001:db8:a::2"));
  EXPECT_EQ(with_source.metric, 10U);
  EXPECT_EQ(with_source.device, "r-b");
}

TEST_F(Lookup, TheFirstOfEqualScoreWinsEvenWhenItIsUnreachable) {
  must(with_type(add("2001:db8:9::/64"), RouteType::kUnreachable));
  must(append("2001:db8:9::/64", {{.via = "2001:db8:b::9"}}));
  const Said said = input(received("2001:db8:9::1", "r-a"));
  EXPECT_EQ(said.error, EHOSTUNREACH);
  EXPECT_EQ(said.input, DstInput::kUnreachable);
}

TEST_F(Lookup, ASuppressedResultContinuesTheWalk) {
  must(in_table(add("::/0", {{.via = "2001:db8:a::9"}}), 100));
  RuleChange suppressing = rule(10, 100);
  suppressing.rule.suppress_prefix_length = 0;
  must(suppressing);
  EXPECT_TRUE(input(received("2001:dead::1", "r-a")).is_null);
  must(add("::/0", {{.via = "2001:db8:b::9"}}));
  EXPECT_EQ(input(received("2001:dead::1", "r-a")).neighbor, "2001:db8:b::9");
  must(in_table(add("2001:dead::/16", {{.via = "2001:db8:a::7", .dev = "r-a", .onlink = true}}),
                100));
  EXPECT_EQ(input(received("2001:dead::1", "r-a")).neighbor, "2001:db8:a::7");
}

TEST_F(Lookup, RejectsAreNotSuppressed) {
  must(in_table(with_type(add("::/0"), RouteType::kUnreachable), 100));
  RuleChange suppressing = rule(10, 100);
  suppressing.rule.suppress_prefix_length = 0;
  must(suppressing);
  must(add("::/0", {{.via = "2001:db8:b::9"}}));
  EXPECT_EQ(input(received("2001:dead::1", "r-a")).error, EHOSTUNREACH);
}

TEST_F(Lookup, SuppressIfgroupLooksAtTheHopsOwnDevice) {
  must(LinkChange{.name = "r-a", .group = 9});
  RuleChange suppressing = rule(0, 255);
  suppressing.rule.suppress_ifgroup = 9;
  must(rule_del(0));
  must(suppressing);
  // The local entry of r-a's address is passed over although its destination device is lo.
  EXPECT_EQ(input(received("2001:db8:a::2", "r-b")).prefix, "2001:db8:a::/64");
  EXPECT_EQ(input(received("2001:db8:b::2", "r-a")).input, DstInput::kDeliver);
}

TEST_F(Lookup, ThrowContinuesUnreachableStops) {
  must(rule(10, 100));
  must(add("::/0", {{.via = "2001:db8:b::9"}}));
  must(in_table(with_type(add("2001:db8:9::/64"), RouteType::kThrow), 100));
  must(in_table(with_type(add("2001:db8:8::/64"), RouteType::kUnreachable), 100));
  must(in_table(with_type(add("2001:db8:7::/64"), RouteType::kProhibit), 100));
  must(in_table(with_type(add("2001:db8:6::/64"), RouteType::kBlackhole), 100));
  EXPECT_EQ(input(received("2001:db8:9::1", "r-a")).neighbor, "2001:db8:b::9");
  EXPECT_EQ(input(received("2001:db8:8::1", "r-a")).error, EHOSTUNREACH);
  EXPECT_EQ(input(received("2001:db8:7::1", "r-a")).error, EACCES);
  EXPECT_EQ(input(received("2001:db8:6::1", "r-a")).input, DstInput::kBlackhole);
}

TEST_F(Lookup, AThrowInTheLastTableIsNothingFound) {
  must(with_type(add("2001:db8:9::/64"), RouteType::kThrow));
  EXPECT_TRUE(input(received("2001:db8:9::1", "r-a")).is_null);
  must(rule(40000, 100));  // the same with the rule list in force
  EXPECT_TRUE(input(received("2001:db8:9::1", "r-a")).is_null);
}

TEST_F(Lookup, ARuleSaysUnreachableWithAnotherErrorThanARoute) {
  must(rule_action(10, rules::Action::kUnreachable));
  const Said said = input(received("2001:db8:b::9", "r-a"));
  EXPECT_EQ(said.error, ENETUNREACH);
  EXPECT_TRUE(said.is_null);
}

TEST_F(Lookup, RuleActionsGiveTheStaticDestinations) {
  must(rule_action(10, rules::Action::kProhibit));
  EXPECT_EQ(input(received("2001:db8:b::9", "r-a")).error, EACCES);
  must(rule_action(9, rules::Action::kBlackhole));
  EXPECT_EQ(input(received("2001:db8:b::9", "r-a")).input, DstInput::kBlackhole);
  EXPECT_EQ(input(received("2001:db8:b::9", "r-a")).prefix, "");
}

TEST_F(Lookup, NotFromMatchesALookupWithoutSource) {
  RuleChange inverted = rule_action(10, rules::Action::kProhibit);
  inverted.rule.invert = true;
  inverted.rule.from = prefix("2001:db8:50::/64");
  must(inverted);
  EXPECT_EQ(output(sent("2001:db8:b::9")).error, EACCES);
  EXPECT_EQ(output(sent("2001:db8:b::9", "", "2001:db8:50::1")).error, 0);
}

TEST_F(Lookup, DeletingARuleTakesEffectOnlyOnceARuleWasAdded) {
  must(rule_del(32766));
  EXPECT_EQ(input(received("2001:db8:b::9", "r-a")).device, "r-b");
  must(rule(100, 77));
  EXPECT_TRUE(input(received("2001:db8:b::9", "r-a")).is_null);
}

TEST_F(Lookup, ForwardedTrafficHasUidZero) {
  RuleChange root = rule_action(10, rules::Action::kProhibit);
  root.rule.uid_first = 0;
  root.rule.uid_last = 0;
  must(root);
  EXPECT_EQ(input(received("2001:db8:b::9", "r-a")).error, EACCES);
  must(rule_del(10));
  root.rule.uid_first = 1;
  root.rule.uid_last = 100;
  must(root);
  EXPECT_EQ(input(received("2001:db8:b::9", "r-a")).error, 0);
}

TEST_F(Lookup, PortRulesMatchTheFlowsPorts) {
  RuleChange ports = rule_action(10, rules::Action::kProhibit);
  ports.rule.dport = rules::PortRange{2000, 2300};
  must(ports);
  EXPECT_TRUE(fib.needs_ports());
  Flow flow = received("2001:db8:b::9", "r-a");
  EXPECT_EQ(input(flow).error, 0);  // a fragment: ports unknown
  flow.destination_port = 2100;
  EXPECT_EQ(input(flow).error, EACCES);
}

TEST_F(Lookup, TosComparesWithoutEcnBits) {
  RuleChange tos = rule_action(10, rules::Action::kProhibit);
  tos.rule.dsfield = 0x10;
  must(tos);
  Flow flow = received("2001:db8:b::9", "r-a");
  flow.traffic_class = 0x12;
  EXPECT_EQ(input(flow).error, EACCES);
  flow.traffic_class = 0x14;
  EXPECT_EQ(input(flow).error, 0);
}

TEST_F(Lookup, IifLoMeansLocallyGenerated) {
  RuleChange own = rule_action(10, rules::Action::kProhibit);
  own.rule.iif = "lo";
  must(own);
  EXPECT_EQ(output(sent("2001:db8:b::9")).error, EACCES);
  EXPECT_EQ(input(received("2001:db8:b::9", "r-a")).error, 0);
}

TEST_F(Lookup, GotoJumpsForwardAndAnUnresolvedOneIsSkipped) {
  RuleChange jump = rule_action(10, rules::Action::kGoto);
  jump.rule.goto_target = 500;
  must(jump);
  must(rule_action(20, rules::Action::kProhibit));
  EXPECT_EQ(input(received("2001:db8:b::9", "r-a")).error, EACCES);  // no rule 500: skipped
  must(rule_action(500, rules::Action::kNop));
  EXPECT_EQ(input(received("2001:db8:b::9", "r-a")).error, 0);  // over the prohibit, nop, then main
}

TEST_F(Lookup, AnExpiredRouteIsNotUsedButStaysInTheWay) {
  RouteChange route = add("2001:db8:9::/64", {{.via = "2001:db8:b::9"}});
  route.expires_s = 10;
  must(route);
  now = TimeNs{10 * kNsPerSecond - 1};
  EXPECT_EQ(input(received("2001:db8:9::1", "r-a")).neighbor, "2001:db8:b::9");
  now = TimeNs{10 * kNsPerSecond};
  EXPECT_TRUE(input(received("2001:db8:9::1", "r-a")).is_null);
  EXPECT_EQ(refusal(add("2001:db8:9::/64", {{.via = "2001:db8:a::9"}})), "17: File exists");
}

TEST_F(Lookup, AUnicastRouteOverLoopbackIsAHiddenReject) {
  must(add("2001:db8:9::/64", {{.dev = "lo"}}));
  const Said said = input(received("2001:db8:9::1", "r-a"));
  EXPECT_EQ(said.error, 0);
  EXPECT_EQ(said.input, DstInput::kUnreachable);
}

TEST_F(Lookup, AMulticastRouteOnAUnicastPrefixForwards) {
  must(with_type(add("2001:db8:9::/64", {{.dev = "r-b"}}), RouteType::kMulticast));
  EXPECT_EQ(input(received("2001:db8:9::1", "r-a")).input, DstInput::kForward);
}

TEST_F(Lookup, ATypedAnycastRouteDeliversUnlessItIsOverLoopback) {
  must(with_type(add("2001:db8:9::/64", {{.dev = "r-b"}}), RouteType::kAnycast));
  must(with_type(add("2001:db8:8::/64", {{.dev = "lo"}}), RouteType::kAnycast));
  EXPECT_EQ(input(received("2001:db8:9::1", "r-a")).input, DstInput::kDeliver);
  EXPECT_EQ(input(received("2001:db8:9::1", "r-a")).device, "r-b");
  EXPECT_EQ(input(received("2001:db8:8::1", "r-a")).input, DstInput::kUnreachable);
}

TEST_F(Lookup, LinkLocalDestinationsAreStrictToTheIngressInterface) {
  const Said said = input(received("fe80::1234", "r-a"));
  EXPECT_EQ(said.device, "r-a");
  EXPECT_EQ(said.prefix, "fe80::/64");
  EXPECT_EQ(input(received("fe80::1234", "r-b")).device, "r-b");
  EXPECT_EQ(input(received("ff02::1", "r-b")).device, "r-b");
  EXPECT_EQ(input(received("ff02::1", "r-b")).input, DstInput::kDeliverMulticast);
}

TEST_F(Lookup, OurLinkLocalAddressOnTheOtherLinkIsNotOurs) {
  EXPECT_EQ(input(received("fe80::ff:fe00:a", "r-a")).input, DstInput::kDeliver);
  EXPECT_EQ(input(received("fe80::ff:fe00:a", "r-b")).input, DstInput::kForward);
}

TEST_F(Lookup, SubnetAnycastIsLocalWhileTheInterfaceForwards) {
  EXPECT_EQ(input(received("2001:db8:a::", "r-a")).input, DstInput::kDeliver);
  EXPECT_EQ(input(received("fe80::", "r-a")).input, DstInput::kDeliver);
  sysctl("net.ipv6.conf.r-a.forwarding", "0");
  EXPECT_EQ(input(received("2001:db8:a::", "r-a")).input, DstInput::kForward);
  EXPECT_EQ(input(received("2001:db8:b::", "r-a")).input, DstInput::kDeliver);
}

TEST_F(Lookup, ATableLookupWalksNoRules) {
  must(in_table(add("2001:db8:9::/64", {{.via = "2001:db8:b::9"}}), 100));
  must(in_table(with_type(add("2001:db8:8::/64"), RouteType::kThrow), 100));
  EXPECT_EQ(table(100, received("2001:db8:9::1", "r-a")).neighbor, "2001:db8:b::9");
  EXPECT_EQ(table(100, received("2001:db8:8::1", "r-a")).error, EAGAIN);
  EXPECT_TRUE(table(100, received("2001:db8:7::1", "r-a")).is_null);
  const Said missing = table(101, received("2001:db8:9::1", "r-a"));
  EXPECT_EQ(missing.input, DstInput::kBlackhole);
  EXPECT_EQ(table(255, received("2001:db8:a::2", "r-b")).input, DstInput::kDeliver);
}

TEST_F(Lookup, HostsAvoidFailedNeighborsRoutersDoNot) {
  must(with_metric(add("2001:db8:9::/64", {{.via = "2001:db8:a::9"}}), 10));
  must(with_metric(add("2001:db8:9::/64", {{.via = "2001:db8:b::9"}}), 20));
  neighbors.health[address("2001:db8:a::9")] = NeighborHealth::kFailed;
  EXPECT_EQ(output(sent("2001:db8:9::1")).neighbor, "2001:db8:a::9");
  sysctl("net.ipv6.conf.all.forwarding", "0");
  EXPECT_EQ(output(sent("2001:db8:9::1")).neighbor, "2001:db8:b::9");
  neighbors.health[address("2001:db8:b::9")] = NeighborHealth::kFailed;
  EXPECT_EQ(output(sent("2001:db8:9::1")).neighbor,
            "2001:db8:a::9");  // nothing reachable: the first
}

TEST_F(Lookup, WhenTheFirstMetricIsUnusableTheBestScoreOfAllOthersWins) {
  must(with_metric(add("2001:db8:9::/64", {{.dev = "r-b"}}), 10));
  must(with_metric(add("2001:db8:9::/64", {{.dev = "r-b"}}), 20));
  RouteChange high = with_metric(add("2001:db8:9::/64", {{.dev = "r-a"}}), 30);
  high.preference = fib::RouterPreference::kHigh;
  must(high);
  EXPECT_EQ(input(received("2001:db8:9::1", "r-b")).metric, 10U);
  RouteChange expiring =
      with_metric(route_change(RouteVerb::kReplace, "2001:db8:9::/64", {{.dev = "r-b"}}), 10);
  expiring.expires_s = 1;
  must(expiring);
  now = TimeNs{2 * kNsPerSecond};
  EXPECT_EQ(input(received("2001:db8:9::1", "r-b")).metric, 30U);
}

// A14: covering routes and routes of worse metrics come and go in any order; the best of the prefix answers while it is there.
TEST_F(Lookup, TheBestOfAPrefixStaysTheBest) {
  const auto metric = [&] { return input(received("2001:db8:9::1", "r-a")).metric; };
  const auto at = [](const char* destination, std::uint32_t wanted) {
    return with_metric(add(destination, {{.dev = "r-b"}}), wanted);
  };
  const auto without = [](const char* destination, std::uint32_t wanted) {
    return with_metric(del(destination), wanted);
  };
  must(at("2001:db8:9::/64", 20));
  must(at("2001:db8::/32", 5));
  EXPECT_EQ(metric(), 20U);
  must(at("2001:db8:9::/64", 30));
  must(at("2001:db8:9::/64", 10));
  must(at("2001:db8:9::/48", 1));
  EXPECT_EQ(metric(), 10U);
  must(without("2001:db8::/32", 5));
  must(without("2001:db8:9::/64", 20));
  must(at("2001:db8::/32", 7));
  EXPECT_EQ(metric(), 10U);
  must(without("2001:db8:9::/64", 10));
  EXPECT_EQ(metric(), 30U);
  must(without("2001:db8:9::/48", 1));
  EXPECT_EQ(metric(), 30U);
  must(at("2001:db8:9::/64", 10));
  EXPECT_EQ(metric(), 10U);
  must(without("2001:db8:9::/64", 30));
  must(without("2001:db8:9::/64", 10));
  EXPECT_EQ(metric(), 7U);
}

TEST_F(Lookup, AnUnusablePrefixGivesWayToALessSpecificOne) {
  RouteChange expiring = add("2001:db8:9::/64", {{.via = "2001:db8:b::9"}});
  expiring.expires_s = 1;
  must(expiring);
  must(add("2001:db8::/32", {{.via = "2001:db8:a::9"}}));
  now = TimeNs{2 * kNsPerSecond};
  EXPECT_EQ(input(received("2001:db8:9::1", "r-a")).prefix, "2001:db8::/32");
}

TEST_F(Lookup, ExplainTellsTheWalkAndAnswersTheSame) {
  must(in_table(with_type(add("2001:db8:9::/64"), RouteType::kThrow), 100));
  must(rule(10, 100));
  must(rule(11, 101));
  must(add("2001:db8:9::/64", {{.via = "2001:db8:b::9"}}));
  Explanation explanation;
  const Flow flow = received("2001:db8:9::1", "r-a");
  rcu::ReadSection section;
  const Said explained = say(fib.input_explained(flow, explanation));
  EXPECT_EQ(explained.neighbor, say(fib.input(flow)).neighbor);
  EXPECT_TRUE(explanation.custom_rules);
  ASSERT_EQ(explanation.rules.size(), 4U);
  EXPECT_EQ(explanation.rules[0].tables[0].outcome, "nothing: no prefix covers the destination");
  EXPECT_EQ(explanation.rules[1].outcome, "continue: throw");
  EXPECT_EQ(explanation.rules[2].tables[0].outcome, "nothing: no prefix covers the destination");
  EXPECT_EQ(explanation.rules[3].outcome, "stop: route found");
  EXPECT_EQ(explanation.rules[3].tables[0].prefixes.back().destination, prefix("2001:db8:9::/64"));
  EXPECT_NE(explanation.nexthop.find("via 2001:db8:b::9"), std::string::npos);
  EXPECT_NE(explanation.ownership.find("borrowed"), std::string::npos);
}

TEST_F(Lookup, SourceSelectionFollowsRfc6724) {
  const auto source = [&](const char* destination, const char* device) {
    rcu::ReadSection section;
    const auto chosen = fib.select_source(address(destination), index(device));
    return chosen ? chosen->to_string() : "none";
  };
  EXPECT_EQ(source("2001:db8:b::9", "r-b"), "2001:db8:b::2");
  EXPECT_EQ(source("2001:dead::1", "r-a"), "2001:db8:a::2");   // rule 5: outgoing interface
  EXPECT_EQ(source("2001:db8:a::2", "r-b"), "2001:db8:a::2");  // rule 1: same address
  EXPECT_EQ(source("fe80::9", "r-a"), "fe80::ff:fe00:a");      // rule 2: scope
  EXPECT_EQ(source("ff02::1", "r-b"), "fe80::ff:fe00:b");
  EXPECT_EQ(source("ff02::1", ""), "none");  // multicast needs a device
  addr("fd00::2", 64, "r-a");
  EXPECT_EQ(source("fd00:1::1", "r-a"), "fd00::2");  // rule 6: label
  addr("2001:db8:a:1::2", 64, "r-a");
  EXPECT_EQ(source("2001:db8:a:1::9", "r-a"), "2001:db8:a:1::2");  // rule 8: longest match
  AddressChange deprecated = addr_change("2001:db8:a:1::2", 64, "r-a");
  deprecated.replace = true;
  deprecated.address.deprecated = true;
  must(deprecated);
  EXPECT_EQ(source("2001:db8:a:1::9", "r-a"), "2001:db8:a::2");  // rule 3: not deprecated
  link("r-c", "02:00:00:00:00:0c");
  EXPECT_EQ(source("2001:db8:b::9", "r-c"),
            "2001:db8:b::2");  // no global address there: another device's
  sysctl("net.ipv6.conf.r-c.use_oif_addrs_only", "1");
  EXPECT_EQ(source("2001:db8:b::9", "r-c"), "fe80::ff:fe00:c");
}

}  // namespace
}  // namespace sidestep::lookup
