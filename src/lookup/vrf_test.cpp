// SPDX-License-Identifier: Apache-2.0
// VRFs. What is expected here a kernel with VRF devices answered (see tests/kernel/vrf.conf).
#include "lookup/test_router.hpp"

namespace sidestep::lookup {
namespace {

class Vrf : public Router {
 protected:
  Vrf() {
    make_two_links();
    must(LinkChange{
        .name = "red", .create = true, .kind = "vrf", .up = true, .vrf_table = TableId{10}});
  }
  void enslave(const char* device) {
    must(LinkChange{.name = device, .master = "red"});
    addr("2001:db8:a::2", 64, device);  // it loses its addresses on the way
  }
};

TEST_F(Vrf, TheFirstOneBringsTheRule) {
  ASSERT_EQ(fib.rules().size(), 3U);
  EXPECT_EQ(fib.rules()[1].preference, 1000U);
  EXPECT_TRUE(fib.rules()[1].l3mdev);
  must(LinkChange{.name = "blue", .create = true, .kind = "vrf", .vrf_table = TableId{11}});
  EXPECT_EQ(fib.rules().size(), 3U);
}

TEST_F(Vrf, RoutesOfAMemberMoveToTheVrfsTable) {
  EXPECT_TRUE(routes(10).empty());
  enslave("r-a");
  EXPECT_TRUE(has_route(10, "local 2001:db8:a::2/128 dev r-a metric 0"));
  EXPECT_TRUE(has_route(10, "anycast 2001:db8:a::/128 dev r-a metric 0"));
  EXPECT_TRUE(has_route(10, "2001:db8:a::/64 dev r-a metric 256"));
  EXPECT_TRUE(has_route(10, "fe80::/64 dev r-a metric 256"));
  EXPECT_TRUE(has_route(10, "multicast ff00::/8 dev r-a metric 256"));
  EXPECT_FALSE(has_route(255, "local 2001:db8:a::2/128 dev r-a metric 0"));
  EXPECT_FALSE(has_route(254, "2001:db8:a::/64 dev r-a metric 256"));
}

TEST_F(Vrf, ItsAddressesAreInItsTable) {
  addr("2001:db8:ee::1", 128, "red");
  EXPECT_TRUE(has_route(10, "local 2001:db8:ee::1/128 dev red metric 0"));
  EXPECT_FALSE(has_route(10, "multicast ff00::/8 dev red metric 256"));
  enslave("r-a");
  EXPECT_EQ(input(received("2001:db8:ee::1", "r-a")).device, "red");
}

TEST_F(Vrf, FlowsOfTheVrfUseItsTableAndOthersDoNot) {
  enslave("r-a");
  must(in_table(add("::/0", {{.via = "2001:db8:a::9"}}), 10));
  must(add("::/0", {{.via = "2001:db8:b::9"}}));
  EXPECT_EQ(input(received("2001:db8:9::1", "r-a")).neighbor, "2001:db8:a::9");
  EXPECT_EQ(input(received("2001:db8:9::1", "red")).neighbor, "2001:db8:a::9");
  EXPECT_EQ(input(received("2001:db8:9::1", "r-b")).neighbor, "2001:db8:b::9");
  EXPECT_EQ(output(sent("2001:db8:9::1")).neighbor, "2001:db8:b::9");
  EXPECT_EQ(output(sent("2001:db8:9::1", "red")).neighbor, "2001:db8:a::9");
  EXPECT_EQ(output(sent("2001:db8:9::1", "r-a")).neighbor, "2001:db8:a::9");
}

TEST_F(Vrf, LocalDeliveryIsTheVrfs) {
  enslave("r-a");
  EXPECT_EQ(input(received("2001:db8:a::2", "r-a")).device, "red");
  EXPECT_NE(input(received("2001:db8:a::2", "r-b")).input, fib::DstInput::kDeliver);
  EXPECT_EQ(input(received("2001:db8:b::2", "r-b")).device, "lo");
  EXPECT_EQ(input(received("fe80::ff:fe00:a", "r-a", "fe80::1")).device, "lo");
}

TEST_F(Vrf, WhatStaysOnALinkIsLookedUpInTheVrfsTableAlone) {
  enslave("r-a");
  RuleChange all = rule_action(1, rules::Action::kUnreachable);
  must(all);
  const Said found = output(sent("fe80::77", "r-a"));
  EXPECT_EQ(found.device, "r-a");
  EXPECT_EQ(found.table, TableId{10});
  EXPECT_EQ(output(sent("ff02::1", "r-a")).device, "r-a");
  EXPECT_TRUE(output(sent("fe80::77", "red")).is_null);
  EXPECT_TRUE(output(sent("ff02::1", "red")).is_null);
}

TEST_F(Vrf, SourcesComeFromTheSameVrf) {
  enslave("r-a");
  EXPECT_EQ(fib.select_source(address("2001:db8:9::1"), index("r-a")), address("2001:db8:a::2"));
  EXPECT_EQ(fib.select_source(address("2001:db8:9::1"), index("r-b")), address("2001:db8:b::2"));
  EXPECT_EQ(fib.select_source(address("2001:db8:9::1"), index("red")), address("2001:db8:a::2"));
}

// A10: what was the VRF's does not stay behind.
TEST_F(Vrf, ItsTableIsEmptyWhenItsDevicesAreGone) {
  enslave("r-a");
  must(in_table(add("::/0", {{.via = "2001:db8:a::9"}}), 10));
  must(LinkDelete{"red"});
  EXPECT_TRUE(routes(10).empty());
  addr("2001:db8:a::2", 64, "r-a");
  EXPECT_TRUE(has_route(254, "2001:db8:a::/64 dev r-a metric 256"));
  EXPECT_EQ(input(received("2001:db8:a::2", "r-a")).device, "lo");
}

}  // namespace
}  // namespace sidestep::lookup
