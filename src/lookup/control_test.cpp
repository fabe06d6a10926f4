// SPDX-License-Identifier: Apache-2.0
// What changes do, and in which words they are refused. Each case was seen on a running kernel.
#include <algorithm>
#include <cerrno>

#include "lookup/test_router.hpp"

namespace sidestep::lookup {
namespace {

using fib::RouteType;

constexpr std::uint32_t kMain = 254;
constexpr std::uint32_t kLocal = 255;

class Routes : public Router {
 protected:
  Routes() { make_two_links(); }
};

TEST_F(Routes, GatewaysAreRefusedInTheKernelsWords) {
  must(add("2001:db8:99::/64", {{.via = "2001:db8:a::9"}}));
  const auto try_hop = [&](Via hop) { return refusal(add("2001:db8:98::/64", {hop})); };
  EXPECT_EQ(try_hop({.via = "2001:db8:a::2"}), "22: Gateway can not be a local address");
  EXPECT_EQ(try_hop({.via = "2001:db8:a::2", .dev = "r-b"}),
            "22: Gateway can not be a local address");
  EXPECT_EQ(try_hop({.via = "ff02::1", .dev = "r-a"}), "22: Invalid gateway address");
  EXPECT_EQ(try_hop({.via = "::", .dev = "r-a"}), "22: Invalid gateway address");
  EXPECT_EQ(try_hop({.via = "fe80::1"}), "22: Egress device not specified");
  EXPECT_EQ(try_hop({.via = "2001:dead::1"}), "113: No route to host");
  EXPECT_EQ(try_hop({.via = "2001:db8:a::9", .dev = "r-b"}), "113: No route to host");
  EXPECT_EQ(try_hop({.via = "2001:db8:99::1"}),
            "113: No route to host");  // reached by a gateway itself
  EXPECT_EQ(try_hop({.via = "2001:dead::1", .dev = "r-a"}), "113: No route to host");
  EXPECT_EQ(try_hop({.via = "2001:dead::1", .onlink = true}),
            "19: Nexthop device required for onlink");
  EXPECT_EQ(try_hop({.via = "::1", .dev = "lo"}), "22: Gateway can not be a local address");
  EXPECT_EQ(try_hop({.dev = "nosuch"}), "19: Cannot find device \"nosuch\"");
  EXPECT_EQ(try_hop({}), "19: No such device");
  EXPECT_EQ(try_hop({.via = "2001:db8:a::9", .dev = "lo"}), "113: No route to host");
  EXPECT_EQ(try_hop({.via = "fe80::1", .dev = "lo"}),
            "22: Egress device can not be loopback device for this route");
  EXPECT_EQ(try_hop({.via = "2001:dead::1", .dev = "r-a", .onlink = true}), "accepted");
  must(with_type(add("2001:db8:97::/64"), RouteType::kUnreachable));
  EXPECT_EQ(refusal(add("2001:db8:96::/64", {{.via = "2001:db8:97::1", .dev = "r-a"}})),
            "113: No route to host");
  EXPECT_EQ(
      refusal(add("2001:db8:96::/64", {{.via = "2001:db8:b::7", .dev = "r-a", .onlink = true}})),
      "22: Nexthop has invalid gateway or device mismatch");
  EXPECT_EQ(refusal(add("2001:db8:96::/64", {{.via = "fe80::9", .dev = "r-b"}})), "accepted");
}

TEST_F(Routes, AGatewayMayBeInTheRoutesOwnTable) {
  must(in_table(add("2001:db8:77::/64", {{.dev = "r-b"}}), 100));
  EXPECT_EQ(refusal(add("2001:db8:98::/64", {{.via = "2001:db8:77::1"}})), "113: No route to host");
  must(in_table(add("2001:db8:98::/64", {{.via = "2001:db8:77::1"}}), 100));
  EXPECT_TRUE(has_route(100, "2001:db8:98::/64 via 2001:db8:77::1 dev r-b metric 1024"));
}

TEST_F(Routes, DownOrDisabledDevicesAreRefused) {
  set_up("r-b", false);
  EXPECT_EQ(refusal(add("2001:db8:66::/64", {{.dev = "r-b"}})), "100: Nexthop device is not up");
  EXPECT_EQ(refusal(add("2001:db8:66::/64", {{.via = "2001:db8:b::9"}})), "113: No route to host");
  EXPECT_EQ(refusal(add("2001:db8:66::/64", {{.via = "fe80::9", .dev = "r-b", .onlink = true}})),
            "100: Nexthop device is not up");
  EXPECT_EQ(refusal(with_type(add("2001:db8:66::/64", {{.dev = "r-b"}}), RouteType::kLocal)),
            "100: Nexthop device is not up");
  EXPECT_EQ(refusal(with_type(add("2001:db8:66::/64", {{.dev = "r-b"}}), RouteType::kBlackhole)),
            "accepted");
  sysctl("net.ipv6.conf.r-a.disable_ipv6", "1");
  EXPECT_EQ(refusal(add("2001:db8:67::/64", {{.dev = "r-a"}})),
            "13: IPv6 is disabled on nexthop device");
}

TEST_F(Routes, RejectsSitOnTheLoopbackDeviceAndLoseTheirGateway) {
  must(with_type(add("2001:db8:85::/64", {{.via = "2001:db8:a::9"}}), RouteType::kProhibit));
  must(with_type(add("2001:db8:86::/64", {{.dev = "r-a"}}), RouteType::kBlackhole));
  EXPECT_TRUE(has_route(kMain, "prohibit 2001:db8:85::/64 dev lo metric 1024"));
  EXPECT_TRUE(has_route(kMain, "blackhole 2001:db8:86::/64 dev lo metric 1024"));
}

TEST_F(Routes, TypesChooseTheirTable) {
  must(with_type(add("2001:db8:91::/64", {{.dev = "r-a"}}), RouteType::kLocal));
  must(with_type(add("2001:db8:90::/64", {{.dev = "r-a"}}), RouteType::kAnycast));
  must(with_type(add("2001:db8:89::/64", {{.dev = "r-a"}}), RouteType::kBroadcast));
  must(with_type(add("2001:db8:88::/64", {{.dev = "r-a"}}), RouteType::kMulticast));
  EXPECT_TRUE(has_route(kLocal, "local 2001:db8:91::/64 dev r-a metric 1024"));
  EXPECT_TRUE(has_route(kLocal, "anycast 2001:db8:90::/64 dev r-a metric 1024"));
  EXPECT_TRUE(has_route(kLocal, "broadcast 2001:db8:89::/64 dev r-a metric 1024"));
  EXPECT_TRUE(has_route(kMain, "multicast 2001:db8:88::/64 dev r-a metric 1024"));
  must(with_type(del("2001:db8:91::/64"), RouteType::kLocal));
  EXPECT_FALSE(has_route(kLocal, "local 2001:db8:91::/64 dev r-a metric 1024"));
}

TEST_F(Routes, ReplaceTakesTheFirstOfTheSameKind) {
  must(add("2001:db8:9::/64", {{.via = "2001:db8:a::9"}}));
  must(append("2001:db8:9::/64", {{.dev = "r-a"}}));
  must(append("2001:db8:9::/64", {{.dev = "r-b"}}));
  RouteChange metric = route_change(RouteVerb::kReplace, "2001:db8:9::/64", {{.dev = "r-b"}});
  must(metric);
  EXPECT_TRUE(has_route(kMain, "2001:db8:9::/64 via 2001:db8:a::9 dev r-a metric 1024"));
  EXPECT_FALSE(has_route(kMain, "2001:db8:9::/64 dev r-a metric 1024"));
}

TEST_F(Routes, VerbsDifferInWhatTheyNeed) {
  EXPECT_EQ(refusal(route_change(RouteVerb::kChange, "2001:db8:9::/64", {{.dev = "r-a"}})),
            "2: Can not replace route - no match found");
  must(route_change(RouteVerb::kReplace, "2001:db8:9::/64", {{.dev = "r-a"}}));
  must(route_change(RouteVerb::kChange, "2001:db8:9::/64", {{.dev = "r-b"}}));
  EXPECT_EQ(routes(kMain).front().find("2001:db8:9::/64"), 0U);
  EXPECT_EQ(refusal(add("2001:db8:9::/64", {{.dev = "r-a"}})), "17: File exists");
  EXPECT_EQ(refusal(append("2001:db8:9::/64", {{.dev = "r-b"}})), "17: File exists");
  EXPECT_EQ(refusal(route_change(RouteVerb::kPrepend, "2001:db8:9::/64", {{.dev = "r-a"}})),
            "accepted");
}

TEST_F(Routes, MultipathIsCheckedWholeAndInsertedHopByHop) {
  const char* const kPrefix = "2001:db8:79::/64";
  EXPECT_EQ(refusal(add(kPrefix, {{.via = "2001:db8:a::9"}, {.dev = "r-a"}})),
            "22: Device only routes can not be added for IPv6 using the multipath API");
  EXPECT_EQ(refusal(add(kPrefix, {{.via = "2001:db8:a::9"}, {.via = "2001:db8:a::9"}})),
            "17: File exists");
  must(add(kPrefix, {{.via = "2001:db8:a::9"}, {.via = "2001:db8:b::9"}}));
  EXPECT_EQ(refusal(add(kPrefix, {{.via = "2001:db8:a::11"}, {.via = "2001:db8:a::12"}})),
            "17: File exists");
  // The second hop is there already: the first one goes again.
  EXPECT_EQ(refusal(append(kPrefix, {{.via = "2001:db8:a::11"}, {.via = "2001:db8:a::9"}})),
            "17: File exists");
  EXPECT_FALSE(has_route(kMain, "2001:db8:79::/64 via 2001:db8:a::11 dev r-a metric 1024"));
  must(append(kPrefix, {{.via = "2001:db8:a::11"}, {.via = "2001:db8:a::12"}}));
  must(route_change(RouteVerb::kReplace, kPrefix,
                    {{.via = "2001:db8:b::1"}, {.via = "2001:db8:b::3"}}));
  const auto lines = routes(kMain);
  EXPECT_EQ(std::ranges::count_if(
                lines, [&](const std::string& line) { return line.starts_with(kPrefix); }),
            2);
}

TEST_F(Routes, DeleteTakesTheLowestMetricAndItsWholeRing) {
  must(with_metric(add("2001:db8:9::/64", {{.via = "2001:db8:a::9"}, {.via = "2001:db8:b::9"}}),
                   10));
  must(with_metric(add("2001:db8:9::/64", {{.dev = "r-a"}}), 20));
  must(del("2001:db8:9::/64"));
  EXPECT_TRUE(has_route(kMain, "2001:db8:9::/64 dev r-a metric 20"));
  EXPECT_FALSE(has_route(kMain, "2001:db8:9::/64 via 2001:db8:b::9 dev r-b metric 10"));
  EXPECT_EQ(refusal(with_metric(del("2001:db8:9::/64"), 3)), "3: No such process");
  EXPECT_EQ(refusal(in_table(del("2001:db8:9::/64"), 77)), "3: FIB table does not exist");
  must(del("2001:db8:9::/64", {{.dev = "r-a"}}));
  EXPECT_EQ(refusal(del("2001:db8:9::/64")), "3: No such process");
}

TEST_F(Routes, APreferredSourceMustBeOursAndGoesWithTheAddress) {
  RouteChange route = add("2001:db8:9::/64", {{.dev = "r-a"}});
  route.preferred_source = address("2001:db8:77::1");
  EXPECT_EQ(refusal(route), "22: Invalid source address");
  route.preferred_source = address("2001:db8:b::2");
  must(route);
  addr_del("2001:db8:b::2", 64, "r-b");
  EXPECT_TRUE(has_route(kMain, "2001:db8:9::/64 dev r-a metric 1024"));
}

TEST_F(Routes, APreferredSourceStaysWhenItsDeviceGoesDown) {
  RouteChange route = add("2001:db8:9::/64", {{.dev = "r-a"}});
  route.preferred_source = address("2001:db8:b::2");
  must(route);
  set_up("r-b", false);
  EXPECT_TRUE(has_route(kMain, "2001:db8:9::/64 dev r-a metric 1024 src 2001:db8:b::2"));
}

TEST_F(Routes, DeletingWhatIsNotThereHasThreeAnswers) {
  EXPECT_EQ(refusal(del("::/0")), "2: No such file or directory");  // the kernel's own null entry
  EXPECT_EQ(refusal(with_metric(del("::/0"), 5)), "3: No such process");
  EXPECT_EQ(refusal(with_object(del("2001:db8:9::/64"), 7)), "22: Nexthop id does not exist");
}

TEST_F(Routes, ARefusedRouteLeavesNoRouteButItsTable) {
  const auto before = routes(kMain);
  EXPECT_EQ(refusal(in_table(add("2001:db8:9::/64", {{.via = "2001:dead::1"}}), 500)),
            "113: No route to host");
  EXPECT_EQ(routes(kMain), before);
  EXPECT_TRUE(routes(500).empty());
  // The kernel has made the table: a lookup there finds nothing, where it would be silent without a table.
  EXPECT_TRUE(table(500, received("2001:db8:9::1", "r-a")).is_null);
}

// A04: a replacement that is refused is refused aloud, and lookups and listings go on as before.
TEST_F(Routes, ARefusedReplacementLeavesTheOldWay) {
  must(nexthop(1, {.via = "2001:db8:a::1", .dev = "r-a"}));
  must(with_object(add("2001:db8:9::/64"), 1));
  must(add("2001:db8:8::/64", {{.via = "2001:db8:b::9"}}));
  const auto before = routes(kMain);
  const auto replace = [](const char* destination, const std::vector<Via>& hops = {}) {
    return route_change(RouteVerb::kReplace, destination, hops);
  };
  EXPECT_EQ(refusal(with_object(replace("2001:db8:9::/64"), 70000)),
            "22: Nexthop id does not exist");
  EXPECT_EQ(refusal(replace("2001:db8:8::/64", {{.via = "2001:dead::1"}})),
            "113: No route to host");
  EXPECT_EQ(refusal(nexthop(1, {.via = "2001:dead::1", .dev = "r-a"}, NexthopVerb::kReplace)),
            "113: No route to host");
  EXPECT_EQ(routes(kMain), before);
  EXPECT_EQ(input(received("2001:db8:9::1", "r-a")).neighbor, "2001:db8:a::1");
  EXPECT_EQ(input(received("2001:db8:8::1", "r-a")).neighbor, "2001:db8:b::9");
}

TEST_F(Routes, SrhBehaviorsNeedTheirAttributes) {
  const auto try_encap = [&](fib::Encap encap, const char* device = "r-a") {
    RouteChange route = add("2001:db8:9::/64", {{.dev = device}});
    route.hops[0].encap = std::move(encap);
    const std::string words = refusal(route);
    if (words == "accepted") must(del("2001:db8:9::/64"));
    return words;
  };
  using Action = fib::Seg6LocalAction;
  const std::string invalid = "22: Invalid argument";
  for (const auto action :
       {Action::kEndX, Action::kEndT, Action::kEndDX2, Action::kEndDX6, Action::kEndDX4,
        Action::kEndDT6, Action::kEndDT4, Action::kEndDT46, Action::kEndB6, Action::kEndB6Encaps}) {
    EXPECT_EQ(try_encap(fib::Seg6LocalEncap{.action = action}), invalid)
        << static_cast<int>(action);
  }
  EXPECT_EQ(try_encap(fib::Seg6LocalEncap{}), "accepted");
  EXPECT_EQ(try_encap(fib::Seg6LocalEncap{.action = Action::kEndX, .nh6 = address("2001:db8::1")}),
            "accepted");
  EXPECT_EQ(try_encap(fib::Seg6LocalEncap{.action = Action::kEndDT6, .table = kTableLocal}),
            "accepted");
  EXPECT_EQ(try_encap(fib::Seg6LocalEncap{
                .action = Action::kEndDT6, .table = kTableLocal, .vrf_table = kTableMain}),
            invalid);
  EXPECT_EQ(try_encap(fib::Seg6LocalEncap{.action = Action::kEndDT6, .vrf_table = kTableMain}),
            invalid);
  EXPECT_EQ(try_encap(fib::Seg6LocalEncap{.flavor_psp = true}), "accepted");
  EXPECT_EQ(try_encap(fib::Seg6LocalEncap{.flavor_usd = true}), "95: Operation not supported");
  EXPECT_EQ(try_encap(fib::Seg6LocalEncap{.flavor_next_csid = true, .lbl_bits = 33}), invalid);
  EXPECT_EQ(
      try_encap(fib::Seg6LocalEncap{.flavor_next_csid = true, .lbl_bits = 120, .lnfl_bits = 16}),
      invalid);
  EXPECT_EQ(try_encap(fib::Seg6Encap{}), invalid);
  EXPECT_EQ(try_encap(fib::Seg6Encap{.segments = {address("2001:db8::1")}}), "accepted");
  EXPECT_EQ(try_encap(fib::Seg6LocalEncap{.action = Action::kEndX}, "lo"), invalid);
}

class Devices : public Router {};

TEST_F(Devices, UpBringsALinkLocalAddressAndItsRoutes) {
  link("r-a", "02:00:00:00:00:01", false);
  EXPECT_EQ(routes(kMain), std::vector<std::string>{});
  set_up("r-a", true);
  EXPECT_EQ(routes(kMain), std::vector<std::string>{"fe80::/64 dev r-a metric 256"});
  EXPECT_EQ(routes(kLocal), (std::vector<std::string>{"local ::1/128 dev lo metric 0",
                                                      "local fe80::ff:fe00:1/128 dev r-a metric 0",
                                                      "multicast ff00::/8 dev r-a metric 256"}));
}

TEST_F(Devices, AddressesComeInTheKernelsOrder) {
  link("r-a", "02:00:00:00:00:01");
  addr("2001:db8:a::2", 64, "r-a");
  addr("2001:db8:a::1", 64, "r-a");
  addr("fe80::99", 64, "r-a");
  std::vector<std::string> order;
  for (const auto& own : fib.links().find("r-a")->addresses)
    order.push_back(own.address.to_string());
  EXPECT_EQ(order, (std::vector<std::string>{"2001:db8:a::1", "2001:db8:a::2", "fe80::99",
                                             "fe80::ff:fe00:1"}));
}

TEST_F(Devices, AddressesAreRefusedInTheKernelsWords) {
  link("r-a", "02:00:00:00:00:01");
  addr("2001:db8:a::2", 64, "r-a");
  EXPECT_EQ(refusal(addr_change("2001:db8:a::2", 48, "r-a")), "17: ipv6: address already assigned");
  AddressChange gone = addr_change("2001:db8:a::77", 64, "r-a");
  gone.remove = true;
  EXPECT_EQ(refusal(gone), "99: ipv6: address not found");
  EXPECT_EQ(refusal(addr_change("::", 128, "r-a")), "99: ipv6: Invalid address");
  EXPECT_EQ(refusal(addr_change("::1", 128, "r-a")),
            "99: ipv6: Cannot assign loopback address on this device");
  EXPECT_EQ(refusal(addr_change("2001:db8::1", 64, "nosuch")), "19: Cannot find device \"nosuch\"");
  sysctl("net.ipv6.conf.r-a.disable_ipv6", "1");
  EXPECT_EQ(refusal(addr_change("2001:db8::1", 64, "r-a")),
            "13: ipv6: IPv6 is disabled on this device");
}

TEST_F(Devices, AddressesBringTheirRoutes) {
  link("r-b", "02:00:00:00:00:02");
  sysctl("net.ipv6.conf.all.forwarding", "1");
  AddressChange change = addr_change("2001:db8:b::2", 64, "r-b");
  change.address.no_prefix_route = true;
  must(change);
  change = addr_change("2001:db8:c::2", 64, "r-b");
  change.address.metric = 77;
  must(change);
  change = addr_change("2001:db8:d::2", 64, "r-b");
  change.address.peer = address("2001:db8:d::3");
  must(change);
  addr("2001:db8:e::2", 127, "r-b");
  EXPECT_EQ(routes(kMain),
            (std::vector<std::string>{
                "2001:db8:c::/64 dev r-b metric 77", "2001:db8:d::3/128 dev r-b metric 256",
                "2001:db8:d::/64 dev r-b metric 256", "2001:db8:e::2/127 dev r-b metric 256",
                "fe80::/64 dev r-b metric 256"}));
  EXPECT_TRUE(has_route(kLocal, "anycast 2001:db8:b::/128 dev r-b metric 0"));
  EXPECT_TRUE(has_route(kLocal, "anycast 2001:db8:d::/128 dev r-b metric 0"));
  EXPECT_FALSE(has_route(kLocal, "anycast 2001:db8:e::2/128 dev r-b metric 0"));
  addr_del("2001:db8:d::2", 64, "r-b");
  EXPECT_FALSE(has_route(kMain, "2001:db8:d::3/128 dev r-b metric 256"));
  EXPECT_FALSE(has_route(kLocal, "anycast 2001:db8:d::/128 dev r-b metric 0"));
}

TEST_F(Devices, APrefixRouteStaysWhileAnAddressNeedsIt) {
  link("r-a", "02:00:00:00:00:01");
  addr("2001:db8:a::2", 64, "r-a");
  addr("2001:db8:a::1", 64, "r-a");
  addr_del("2001:db8:a::2", 64, "r-a");
  EXPECT_TRUE(has_route(kMain, "2001:db8:a::/64 dev r-a metric 256"));
  EXPECT_FALSE(has_route(kLocal, "local 2001:db8:a::2/128 dev r-a metric 0"));
  addr_del("2001:db8:a::1", 64, "r-a");
  EXPECT_FALSE(has_route(kMain, "2001:db8:a::/64 dev r-a metric 256"));
}

TEST_F(Devices, AnAddressOnADownDeviceWorksOnceItIsUp) {
  link("r-a", "02:00:00:00:00:01", false);
  addr("2001:db8:a::2", 64, "r-a");
  EXPECT_FALSE(has_route(kLocal, "local 2001:db8:a::2/128 dev r-a metric 0"));
  set_up("r-a", true);
  EXPECT_TRUE(has_route(kLocal, "local 2001:db8:a::2/128 dev r-a metric 0"));
  EXPECT_TRUE(has_route(kMain, "2001:db8:a::/64 dev r-a metric 256"));
}

TEST_F(Devices, WithoutDuplicateDetectionAnAddressWorksEvenOnADownDevice) {
  sysctl("net.ipv6.conf.default.accept_dad", "0");
  link("r-a", "02:00:00:00:00:01", false);
  addr("2001:db8:a::2", 64, "r-a");
  EXPECT_TRUE(has_route(kLocal, "local 2001:db8:a::2/128 dev r-a metric 0"));
  EXPECT_EQ(routes(kMain), std::vector<std::string>{});
}

TEST_F(Devices, WithoutCarrierAnAddressWaits) {
  link("r-a", "02:00:00:00:00:01", false);
  set_carrier("r-a", false);
  set_up("r-a", true);
  addr("2001:db8:a::2", 64, "r-a");
  EXPECT_EQ(routes(kMain), std::vector<std::string>{"2001:db8:a::/64 dev r-a metric 256 linkdown"});
  EXPECT_EQ(routes(kLocal),
            (std::vector<std::string>{"local ::1/128 dev lo metric 0",
                                      "multicast ff00::/8 dev r-a metric 256 linkdown"}));
  set_carrier("r-a", true);
  EXPECT_TRUE(has_route(kMain, "2001:db8:a::/64 dev r-a metric 256"));
  EXPECT_TRUE(has_route(kMain, "fe80::/64 dev r-a metric 256"));
  EXPECT_TRUE(has_route(kLocal, "local 2001:db8:a::2/128 dev r-a metric 0"));
}

TEST_F(Devices, DownTakesRoutesAndAddressesAlong) {
  make_two_links();
  must(add("2001:db8:9::/64", {{.via = "2001:db8:b::9"}}));
  must(add("2001:db8:8::/64", {{.via = "2001:db8:a::9"}, {.via = "2001:db8:b::9"}}));
  must(add("2001:db8:7::/64", {{.via = "2001:db8:b::9"}, {.via = "2001:db8:b::8"}}));
  set_up("r-b", false);
  EXPECT_EQ(routes(kMain),
            (std::vector<std::string>{
                "2001:db8:8::/64 via 2001:db8:a::9 dev r-a metric 1024",
                "2001:db8:8::/64 via 2001:db8:b::9 dev r-b metric 1024 dead linkdown",
                "2001:db8:a::/64 dev r-a metric 256", "fe80::/64 dev r-a metric 256"}));
  EXPECT_TRUE(fib.links().find("r-b")->addresses.empty());
  set_up("r-b", true);
  EXPECT_TRUE(has_route(kMain, "2001:db8:8::/64 via 2001:db8:b::9 dev r-b metric 1024"));
  EXPECT_FALSE(
      has_route(kMain, "2001:db8:b::/64 dev r-b metric 256"));  // its address is gone for good
}

TEST_F(Devices, KeptAddressesComeBackWithTheirRoutes) {
  make_two_links();
  sysctl("net.ipv6.conf.r-b.keep_addr_on_down", "1");
  set_up("r-b", false);
  EXPECT_FALSE(has_route(kLocal, "local 2001:db8:b::2/128 dev r-b metric 0"));
  EXPECT_EQ(fib.links().find("r-b")->addresses.size(), 1U);
  set_up("r-b", true);
  EXPECT_TRUE(has_route(kLocal, "local 2001:db8:b::2/128 dev r-b metric 0"));
  EXPECT_TRUE(has_route(kLocal, "anycast 2001:db8:b::/128 dev r-b metric 0"));
  EXPECT_TRUE(has_route(kMain, "2001:db8:b::/64 dev r-b metric 256"));
}

TEST_F(Devices, CarrierOnlyMarks) {
  make_two_links();
  must(add("2001:db8:9::/64", {{.via = "2001:db8:b::9"}}));
  set_carrier("r-b", false);
  EXPECT_TRUE(has_route(kMain, "2001:db8:9::/64 via 2001:db8:b::9 dev r-b metric 1024 linkdown"));
  EXPECT_TRUE(has_route(kLocal, "local 2001:db8:b::2/128 dev r-b metric 0"));
  EXPECT_EQ(input(received("2001:db8:9::1", "r-a")).device, "r-b");
  sysctl("net.ipv6.conf.all.ignore_routes_with_linkdown", "1");
  EXPECT_TRUE(input(received("2001:db8:9::1", "r-a")).is_null);
  set_carrier("r-b", true);
  EXPECT_EQ(input(received("2001:db8:9::1", "r-a")).device, "r-b");
}

TEST_F(Devices, DeletingADeviceShrinksRings) {
  make_two_links();
  must(add("2001:db8:8::/64", {{.via = "2001:db8:a::9"}, {.via = "2001:db8:b::9"}}));
  must(LinkDelete{"r-b"});
  EXPECT_EQ(fib.links().find("r-b"), nullptr);
  EXPECT_TRUE(has_route(kMain, "2001:db8:8::/64 via 2001:db8:a::9 dev r-a metric 1024"));
  EXPECT_FALSE(
      has_route(kMain, "2001:db8:8::/64 via 2001:db8:b::9 dev r-b metric 1024 dead linkdown"));
  EXPECT_EQ(refusal(LinkDelete{"r-b"}), "19: Cannot find device \"r-b\"");
}

TEST_F(Devices, NamesAreUnique) {
  link("r-a", "02:00:00:00:00:01");
  EXPECT_EQ(refusal(LinkChange{.name = "r-a", .create = true}), "17: File exists");
  EXPECT_EQ(refusal(LinkChange{.name = "nosuch", .up = true}), "19: Cannot find device \"nosuch\"");
}

TEST_F(Devices, BelowTheMinimumMtuADeviceHasNoIpv6) {
  make_two_links();
  must(LinkChange{.name = "r-b", .mtu = 1279});
  EXPECT_TRUE(fib.links().find("r-b")->addresses.empty());
  EXPECT_EQ(refusal(addr_change("2001:db8:b::2", 64, "r-b")), "22: Invalid argument");
  EXPECT_EQ(refusal(add("2001:db8:9::/64", {{.dev = "r-b"}})), "19: No such device");
  EXPECT_TRUE(refusal(SysctlChange{"net.ipv6.conf.r-b.forwarding", "1"}).starts_with("2: "));
  must(LinkChange{.name = "r-b", .mtu = 1280});
  EXPECT_TRUE(has_route(kMain, "fe80::/64 dev r-b metric 256"));
}

TEST_F(Devices, RouteMtusFollowTheDevice) {
  make_two_links();
  const auto mtu_of = [&](const char* text) {
    rcu::ReadSection section;
    return fib.find_table(kTableMain)->get(prefix(text), {})->slots.front().route->fields().mtu;
  };
  RouteChange large = add("2001:db8:9::/64", {{.dev = "r-a"}});
  large.mtu = 1500;
  RouteChange small = add("2001:db8:8::/64", {{.dev = "r-a"}});
  small.mtu = 1300;
  RouteChange locked = add("2001:db8:7::/64", {{.dev = "r-a"}});
  locked.mtu = 1500;
  locked.mtu_locked = true;
  must(large);
  must(small);
  must(locked);
  must(LinkChange{.name = "r-a", .mtu = 1400});
  EXPECT_EQ(mtu_of("2001:db8:9::/64"), 1400U);
  EXPECT_EQ(mtu_of("2001:db8:8::/64"), 1300U);
  EXPECT_EQ(mtu_of("2001:db8:7::/64"), 1500U);
  must(LinkChange{.name = "r-a", .mtu = 1500});
  EXPECT_EQ(mtu_of("2001:db8:9::/64"), 1500U);  // it was the device's, so it rises again
}

TEST_F(Devices, LoopbackCanGoAndCome) {
  must(with_type(add("2001:db8:9::/64"), RouteType::kUnreachable));
  set_up("lo", false);
  EXPECT_EQ(routes(kMain), std::vector<std::string>{});
  EXPECT_EQ(routes(kLocal), std::vector<std::string>{});
  EXPECT_EQ(refusal(add("2001:db8:9::/64", {{.dev = "lo"}})), "100: Nexthop device is not up");
  set_up("lo", true);
  EXPECT_EQ(routes(kLocal), std::vector<std::string>{"local ::1/128 dev lo metric 0"});
}

TEST_F(Devices, WritingAllReachesWhatTheKernelLetsItReach) {
  link("r-a", "02:00:00:00:00:01");
  const auto conf = [&] { return fib.links().find("r-a")->conf; };
  sysctl("net.ipv6.conf.all.forwarding", "1");
  EXPECT_TRUE(conf().forwarding);
  EXPECT_TRUE(fib.sysctls().defaults.forwarding);
  sysctl("net.ipv6.conf.all.force_forwarding", "1");
  EXPECT_TRUE(conf().force_forwarding);
  EXPECT_FALSE(fib.sysctls().defaults.force_forwarding);
  sysctl("net.ipv6.conf.all.ignore_routes_with_linkdown", "1");
  EXPECT_TRUE(conf().ignore_routes_with_linkdown);
  EXPECT_TRUE(fib.sysctls().defaults.ignore_routes_with_linkdown);
  sysctl("net.ipv6.conf.all.seg6_enabled", "1");
  EXPECT_TRUE(fib.sysctls().all.seg6_enabled);
  EXPECT_FALSE(conf().seg6_enabled);
  EXPECT_FALSE(fib.sysctls().defaults.seg6_enabled);
  link("r-b", "02:00:00:00:00:02");
  EXPECT_TRUE(fib.links().find("r-b")->conf.forwarding);
}

TEST_F(Devices, SysctlsAreRefusedWhereTheKernelRefusesThem) {
  link("r-a", "02:00:00:00:00:01");
  const auto code = [&](const char* key, const char* value) {
    const auto result = apply(SysctlChange{key, value});
    return result ? 0 : result.error().code;
  };
  EXPECT_EQ(code("net.ipv6.conf.all.hop_limit", "0"), EINVAL);
  EXPECT_EQ(code("net.ipv6.conf.all.hop_limit", "256"), EINVAL);
  EXPECT_EQ(code("net.ipv6.conf.r-a.mtu", "1600"), EINVAL);
  EXPECT_EQ(code("net.ipv6.conf.r-a.mtu", "1000"), EINVAL);
  EXPECT_EQ(code("net.ipv6.conf.r-a.mtu", "1300"), 0);
  EXPECT_EQ(code("net.ipv6.conf.r-a.forwarding", "x"), EINVAL);
  EXPECT_EQ(code("net.ipv6.conf.r-a.forwarding", "2"), 0);
  EXPECT_EQ(code("net.ipv6.conf.nosuch.forwarding", "1"), ENOENT);
  EXPECT_EQ(code("net.ipv6.conf.all.nosuch", "1"), ENOENT);
  EXPECT_EQ(code("net.ipv6.fib_multipath_hash_policy", "4"), EINVAL);
  EXPECT_EQ(code("net.ipv6.nosuch", "1"), ENOENT);
  EXPECT_EQ(code("net.ipv6.icmp.ratelimit", "100"), 0);
  EXPECT_EQ(fib.sysctls().icmp_ratelimit_ms, 100U);
}

TEST_F(Devices, ARuleBringsItsTableIntoBeing) {
  must(rule(10, 4711));
  const auto ids = fib.table_ids();
  EXPECT_NE(std::ranges::find(ids, TableId{4711}), ids.end());
}

}  // namespace
}  // namespace sidestep::lookup
