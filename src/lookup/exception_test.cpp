// SPDX-License-Identifier: Apache-2.0
// Path MTU and redirect exceptions. What is expected here the running kernel answered to the same steps.
#include "lookup/test_router.hpp"

namespace sidestep::lookup {
namespace {

class Exceptions : public Router {
 protected:
  Exceptions() {
    make_two_links();
    now = seconds(100);
  }
  static TimeNs seconds(std::uint64_t count) { return TimeNs{count * kNsPerSecond}; }

  void too_big(const char* destination, std::uint32_t mtu, const char* source = "2001:db8:a::2") {
    ExceptionChange change;
    change.flow = flow_to(destination, source);
    change.mtu = mtu;
    must(change);
  }
  void redirect(const char* destination, const char* router, const char* gateway) {
    ExceptionChange change;
    change.verb = ExceptionVerb::kRedirect;
    change.flow = flow_to(destination, "2001:db8:a::2");
    change.flow.oif = index("r-a");
    change.router = address(router);
    change.gateway = address(gateway);
    must(change);
  }
  void flush() {
    ExceptionChange change;
    change.verb = ExceptionVerb::kFlush;
    must(change);
  }
  /// MTU of the destination's route; 0: the device's.
  [[nodiscard]] std::uint32_t mtu(const char* destination,
                                  const char* source = "2001:db8:a::2") const {
    rcu::ReadSection section;
    return fib.output(flow_to(destination, source)).dst->mtu;
  }
  [[nodiscard]] std::uint32_t forwarded_mtu(const char* destination) const {
    rcu::ReadSection section;
    return fib.input(received(destination, "r-b")).dst->mtu;
  }
  [[nodiscard]] bool route_has_exceptions(const char* destination) const {
    rcu::ReadSection section;
    const fib::RouteSet* set = fib.find_table(kTableMain)->get(prefix(destination), {});
    return set->slots.front().route->has_exceptions();
  }
};

TEST_F(Exceptions, J16APathMtuOfTheRoutersOwnTrafficCountsForForwardedPackets) {
  must(add("::/0", {{.via = "2001:db8:a::1"}}));
  EXPECT_FALSE(route_has_exceptions("::/0"));
  too_big("2001:db8:9::1", 1400);
  EXPECT_TRUE(route_has_exceptions("::/0"));
  EXPECT_EQ(mtu("2001:db8:9::1"), 1400U);
  EXPECT_EQ(forwarded_mtu("2001:db8:9::1"), 1400U);
  EXPECT_EQ(mtu("2001:db8:9::2"), 0U);
  const Said said = input(received("2001:db8:9::1", "r-b"));
  EXPECT_EQ(said.neighbor, "2001:db8:a::1");
  EXPECT_EQ(said.prefix, "2001:db8:9::1/128");
  EXPECT_EQ(said.table, kTableMain);
}

TEST_F(Exceptions, TooSmallAndTooLargeMtusAreIgnored) {
  must(add("::/0", {{.via = "2001:db8:a::1"}}));
  too_big("2001:db8:9::1", 1279);
  too_big("2001:db8:9::1", 1500);
  too_big("2001:db8:9::1", 9000);
  EXPECT_EQ(mtu("2001:db8:9::1"), 0U);
  EXPECT_FALSE(route_has_exceptions("::/0"));
  too_big("2001:db8:9::1", 1280);
  EXPECT_EQ(mtu("2001:db8:9::1"), 1280U);
  too_big("2001:db8:9::1", 1400);
  EXPECT_EQ(mtu("2001:db8:9::1"), 1280U);
}

TEST_F(Exceptions, ItLivesTenMinutesFromTheFirstMessage) {
  must(add("::/0", {{.via = "2001:db8:a::1"}}));
  too_big("2001:db8:9::1", 1400);
  now = seconds(400);
  too_big("2001:db8:9::1", 1300);
  EXPECT_EQ(mtu("2001:db8:9::1"), 1300U);
  now = seconds(699);
  EXPECT_EQ(mtu("2001:db8:9::1"), 1300U);
  now = seconds(700);
  EXPECT_EQ(mtu("2001:db8:9::1"), 0U);  // readers pass over it
  EXPECT_TRUE(route_has_exceptions("::/0"));
  now = seconds(731);
  must(CollectChange{});
  EXPECT_FALSE(route_has_exceptions("::/0"));  // and the writer takes it away
  too_big("2001:db8:9::1", 1400);
  EXPECT_EQ(mtu("2001:db8:9::1"), 1400U);
}

TEST_F(Exceptions, A19AnExceptionAgesOutOfARouteWithoutALifetime) {
  RouteChange lives = add("::/0", {{.via = "2001:db8:a::1"}});
  lives.expires_s = 1000;
  must(lives);
  too_big("2001:db8:9::1", 1400);
  must(with_metric(route_change(RouteVerb::kAppend, "::/0", {{.via = "2001:db8:a::1"}}), 2000));
  now = seconds(701);
  EXPECT_EQ(mtu("2001:db8:9::1"), 0U);
  EXPECT_EQ(output(sent("2001:db8:9::1")).neighbor, "2001:db8:a::1");
}

TEST_F(Exceptions, ItDoesNotOutliveItsRoute) {
  RouteChange lives = add("::/0", {{.via = "2001:db8:a::1"}});
  lives.expires_s = 50;
  must(lives);
  must(with_metric(add("::/0", {{.via = "2001:db8:b::1"}}), 2000));
  too_big("2001:db8:9::1", 1400);
  now = seconds(151);
  EXPECT_EQ(mtu("2001:db8:9::1"), 0U);
  EXPECT_EQ(output(sent("2001:db8:9::1")).neighbor, "2001:db8:b::1");
}

TEST_F(Exceptions, TheyGoWithTheirRouteAndOnlyWithIt) {
  must(add("::/0", {{.via = "2001:db8:a::1"}}));
  too_big("2001:db8:9::1", 1400);
  must(add("2001:db8:9::/64", {{.via = "2001:db8:b::1"}}));
  EXPECT_EQ(mtu("2001:db8:9::1"), 0U);
  must(del("2001:db8:9::/64"));
  EXPECT_EQ(mtu("2001:db8:9::1"), 1400U);
  must(append("::/0", {{.via = "2001:db8:a::7"}}));
  must(del("::/0", {{.via = "2001:db8:a::7"}}));
  EXPECT_EQ(mtu("2001:db8:9::1"), 1400U);
  must(route_change(RouteVerb::kReplace, "::/0", {{.via = "2001:db8:a::1"}}));  // the same again
  EXPECT_EQ(mtu("2001:db8:9::1"), 0U);
  EXPECT_FALSE(route_has_exceptions("::/0"));
}

TEST_F(Exceptions, FlushTakesAll) {
  must(add("::/0", {{.via = "2001:db8:a::1"}}));
  too_big("2001:db8:9::1", 1400);
  flush();
  EXPECT_EQ(mtu("2001:db8:9::1"), 0U);
}

TEST_F(Exceptions, TheyFollowTheDevicesMtu) {
  must(add("::/0", {{.via = "2001:db8:a::1"}}));
  too_big("2001:db8:9::1", 1400);
  too_big("2001:db8:9::2", 1290);
  must(LinkChange{.name = "r-a", .mtu = 1290});
  EXPECT_EQ(mtu("2001:db8:9::1"), 1290U);
  EXPECT_EQ(mtu("2001:db8:9::2"), 1290U);
  must(LinkChange{.name = "r-a", .mtu = 1500});
  EXPECT_EQ(mtu("2001:db8:9::2"), 1500U);
}

TEST_F(Exceptions, RoutesOfANexthopObjectShareThem) {
  must(nexthop(1, {.via = "2001:db8:a::1", .dev = "r-a"}));
  must(with_object(add("::/0"), 1));
  must(with_object(add("2001:db8:9::/64"), 1));
  too_big("2001:db8:9::1", 1400);
  EXPECT_EQ(mtu("2001:db8:9::1"), 1400U);
  must(del("2001:db8:9::/64"));  // who made it takes it along
  EXPECT_EQ(mtu("2001:db8:9::1"), 0U);
  too_big("2001:db8:9::1", 1400);
  must(with_object(add("2001:db8:9::/64"), 1));
  EXPECT_EQ(mtu("2001:db8:9::1"), 1400U);
  must(nexthop(1, {.via = "2001:db8:a::1", .dev = "r-a"}, NexthopVerb::kReplace));
  EXPECT_EQ(mtu("2001:db8:9::1"), 0U);
}

TEST_F(Exceptions, ASourceSpecificRouteKeepsThemBySourceOnlyOnLink) {
  addr("2001:db8:a::77", 64, "r-a");
  must(with_source(add("2001:db8:8::/64", {{.via = "2001:db8:a::1"}}), "2001:db8:a::/64"));
  must(with_source(add("2001:db8:5::/64", {{.dev = "r-a"}}), "2001:db8:a::/64"));
  too_big("2001:db8:8::1", 1400);
  EXPECT_EQ(mtu("2001:db8:8::1", "2001:db8:a::2"), 1400U);
  EXPECT_EQ(mtu("2001:db8:8::1", "2001:db8:a::77"), 1400U);
  too_big("2001:db8:5::1", 1400);
  EXPECT_EQ(mtu("2001:db8:5::1", "2001:db8:a::2"), 1400U);
  EXPECT_EQ(mtu("2001:db8:5::1", "2001:db8:a::77"), 0U);
}

TEST_F(Exceptions, J7APathMtuDefeatsSuppression) {
  must(in_table(add("::/0", {{.via = "2001:db8:b::1"}}), 100));
  must(add("::/0", {{.via = "2001:db8:a::1"}}));
  must(rule(10, 100));
  too_big("2001:db8:9::1", 1400);
  must(rule_del(10));
  RuleChange suppressing = rule(10, 100);
  suppressing.rule.suppress_prefix_length = 0;
  must(suppressing);
  EXPECT_EQ(input(received("2001:db8:9::1", "r-a")).neighbor, "2001:db8:b::1");
  EXPECT_EQ(input(received("2001:db8:9::2", "r-a")).neighbor, "2001:db8:a::1");
  sysctl("sidestep.exceptions_defeat_suppression", "0");
  EXPECT_EQ(input(received("2001:db8:9::1", "r-a")).neighbor, "2001:db8:a::1");
}

TEST_F(Exceptions, ARedirectIsBelievedOnlyFromTheGateway) {
  must(add("::/0", {{.via = "fe80::1", .dev = "r-a"}}));
  redirect("2001:db8:9::1", "fe80::2", "fe80::3");
  EXPECT_EQ(output(sent("2001:db8:9::1")).neighbor, "fe80::1");
  redirect("2001:db8:9::1", "fe80::1", "2001:db8:a::5");  // a target must be link-local
  EXPECT_EQ(output(sent("2001:db8:9::1")).neighbor, "fe80::1");
  redirect("2001:db8:9::1", "fe80::1", "fe80::3");
  EXPECT_EQ(output(sent("2001:db8:9::1")).neighbor, "fe80::3");
  EXPECT_EQ(output(sent("2001:db8:9::2")).neighbor, "fe80::1");
  redirect("2001:db8:9::1", "fe80::3", "fe80::4");  // the new one may redirect on
  EXPECT_EQ(output(sent("2001:db8:9::1")).neighbor, "fe80::4");
  redirect("2001:db8:9::2", "fe80::1", "2001:db8:9::2");  // on link after all
  EXPECT_EQ(output(sent("2001:db8:9::2")).neighbor, "2001:db8:9::2");
}

TEST_F(Exceptions, ARedirectGoesWithItsGatewayAndWithTime) {
  must(add("::/0", {{.via = "fe80::1", .dev = "r-a"}}));
  redirect("2001:db8:9::1", "fe80::1", "fe80::3");
  ExceptionChange failed;
  failed.verb = ExceptionVerb::kGatewayFailed;
  failed.flow.oif = index("r-a");
  failed.gateway = address("fe80::3");
  must(failed);
  EXPECT_EQ(output(sent("2001:db8:9::1")).neighbor, "fe80::1");
  redirect("2001:db8:9::1", "fe80::1", "fe80::3");
  now = seconds(159);
  EXPECT_EQ(output(sent("2001:db8:9::1")).neighbor, "fe80::3");
  now = seconds(160);
  EXPECT_EQ(output(sent("2001:db8:9::1")).neighbor, "fe80::1");
}

TEST_F(Exceptions, ThirtySecondsAfterItsEndARouteIsNoLongerInTheWay) {
  RouteChange lives = add("2001:db8:9::/64", {{.via = "2001:db8:a::1"}});
  lives.expires_s = 10;
  must(lives);
  now = seconds(111);
  EXPECT_TRUE(output(sent("2001:db8:9::1")).is_null);
  EXPECT_EQ(refusal(lives), "17: File exists");
  now = seconds(131);
  must(add("2001:db8:9::/64", {{.via = "2001:db8:a::3"}}));
  EXPECT_EQ(routes(254).size(), 5U);
}

TEST_F(Exceptions, TheExplanationNamesThem) {
  must(add("::/0", {{.via = "2001:db8:a::1"}}));
  too_big("2001:db8:9::1", 1400);
  Explanation explanation;
  const rcu::ReadSection section;
  static_cast<void>(fib.output_explained(sent("2001:db8:9::1"), explanation));
  EXPECT_NE(explanation.nexthop.find("path MTU of 1400"), std::string::npos) << explanation.nexthop;
}

}  // namespace
}  // namespace sidestep::lookup
