// SPDX-License-Identifier: Apache-2.0
// What each request does to a table: expectations read off a running kernel (6.18), and faults that others had.
#include <sidestep/fib/table.hpp>

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fib/trie.hpp"

namespace sidestep::fib {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr InsertFlags kAdd{.create = true, .exclusive = true};
constexpr InsertFlags kAppend{.create = true, .append = true};
constexpr InsertFlags kReplace{.create = true, .replace = true};
constexpr InsertFlags kChange{.create = false, .replace = true};

net::Ipv6Address address(std::string_view text) { return net::Ipv6Address::parse(text).value(); }
net::Prefix prefix(std::string_view text) { return net::Prefix::parse(text).value(); }

// `2001:db8::/32 [from …] via … dev N metric M`
RouteFields over(std::string_view destination, std::uint32_t device, std::uint32_t metric = 1024) {
  RouteFields fields;
  fields.destination = prefix(destination);
  fields.hop.device = IfIndex{device};
  fields.metric = metric;
  return fields;
}

RouteFields via(std::string_view destination, std::string_view gateway,
                std::uint32_t metric = 1024) {
  RouteFields fields = over(destination, 2, metric);
  fields.hop.gateway = address(gateway);
  return fields;
}

RouteFields from(std::string_view source, RouteFields fields) {
  fields.source = prefix(source);
  return fields;
}

std::string hop_text(const RouteSlot& slot) {
  const RouteFields& f = slot.route->fields();
  if (f.object != nullptr) return "nhid " + std::to_string(f.object->id.value);
  if (f.hop.gateway) return f.hop.gateway->to_string();
  return "dev " + std::to_string(f.hop.device.value);
}

class TableTest : public ::testing::Test {
 protected:
  void SetUp() override { rcu::barrier(); }

  int insert(const RouteFields& fields, InsertFlags flags = kAdd) {
    const auto result = table_.insert(Route::create(fields), flags);
    return result ? 0 : result.error().code;
  }
  std::size_t erase(std::string_view destination, const RouteMatch& match = {},
                    std::string_view source = "::/0") {
    return table_.erase(prefix(destination), prefix(source), match).value_or(0);
  }
  std::vector<std::string> hops(std::string_view destination,
                                std::string_view source = "::/0") const {
    std::vector<std::string> texts;
    const RouteSet* set = table_.get(prefix(destination), prefix(source));
    if (set == nullptr) return texts;
    for (const RouteSlot& slot : set->slots) texts.push_back(hop_text(slot));
    return texts;
  }
  std::vector<std::int32_t> bounds(std::string_view destination) const {
    std::vector<std::int32_t> all;
    for (const RouteSlot& slot : table_.get(prefix(destination), {})->slots)
      all.push_back(slot.upper_bound);
    return all;
  }
  // The prefixes that a lookup tries, in order.
  std::vector<std::string> walk(std::string_view destination,
                                std::string_view source = "::") const {
    std::vector<std::string> tried;
    const rcu::ReadSection section;
    Table::Walk walk(table_, address(destination), address(source));
    while (const RouteSet* set = walk.next()) {
      const RouteFields& f = set->slots.front().route->fields();
      tried.push_back(f.destination.to_string() +
                      (f.source.length() == 0 ? "" : " from " + f.source.to_string()));
    }
    return tried;
  }

  rcu::Reader reader_;
  Table table_{kTableMain};
};

// Adding and replacing (kernel semantics B7).

TEST_F(TableTest, MetricOrderThenAge) {
  insert(over("2001:db8::/32", 3, 20));
  insert(over("2001:db8::/32", 4, 10), kAppend);
  insert(over("2001:db8::/32", 5, 20), kAppend);
  insert(over("2001:db8::/32", 6, 10), kAppend);
  EXPECT_THAT(hops("2001:db8::/32"), ElementsAre("dev 4", "dev 6", "dev 3", "dev 5"));
  EXPECT_EQ(table_.route_count(), 4U);
}

TEST_F(TableTest, ExclusiveRefusesTheSameMetricWhateverTheHop) {
  EXPECT_EQ(insert(over("2001:db8::/32", 3)), 0);
  EXPECT_EQ(insert(via("2001:db8::/32", "fe80::1")), EEXIST);
  EXPECT_EQ(insert(via("2001:db8::/32", "fe80::1", 5)), 0);
  EXPECT_EQ(insert(over("2001:db8::/33", 3)), 0);
  EXPECT_EQ(insert(from("2001:db8:5::/48", over("2001:db8::/32", 3))), 0);
  EXPECT_EQ(insert(from("2001:db8:5::/48", over("2001:db8::/32", 4))), EEXIST);
}

TEST_F(TableTest, ErrorsAreInTheKernelsWords) {
  insert(over("2001:db8::/32", 3));
  EXPECT_EQ(table_.insert(Route::create(over("2001:db8::/32", 3)), kAdd).error().message,
            "File exists");
  EXPECT_EQ(table_.insert(Route::create(over("2001:db8::/32", 3, 7)), kChange).error().message,
            "No such file or directory");
  EXPECT_EQ(table_.insert(Route::create(over("2001:db9::/32", 3)), kChange).error().message,
            "Can not replace route - no match found");
  EXPECT_EQ(table_.erase(prefix("2001:db9::/32"), {}, {}).error().message, "No such process");
}

TEST_F(TableTest, AppendRefusesTheSameWayOut) {
  insert(via("2001:db8::/32", "fe80::1"));
  auto weighted = via("2001:db8::/32", "fe80::1");
  weighted.hop.weight = 9;
  weighted.protocol = 4;
  EXPECT_EQ(insert(weighted, kAppend), EEXIST);
  auto other_device = via("2001:db8::/32", "fe80::1");
  other_device.hop.device = IfIndex{3};
  EXPECT_EQ(insert(other_device, kAppend), 0);
  auto encapsulated = via("2001:db8::/32", "fe80::1");
  encapsulated.hop.encap = std::make_shared<const Encap>(Seg6Encap{});
  EXPECT_EQ(insert(encapsulated, kAppend), 0);
  encapsulated.hop.encap = std::make_shared<const Encap>(Seg6Encap{});  // equal by value
  EXPECT_EQ(insert(encapsulated, kAppend), EEXIST);
  EXPECT_EQ(table_.route_count(), 3U);
}

TEST_F(TableTest, RejectRoutesAreAllOverTheLoopbackDevice) {
  auto unreachable = over("2001:db8::/32", 0, 10);
  unreachable.type = RouteType::kUnreachable;
  auto blackhole = unreachable;
  blackhole.type = RouteType::kBlackhole;
  EXPECT_EQ(insert(unreachable, kAppend), 0);
  EXPECT_EQ(insert(blackhole, kAppend), EEXIST);
  EXPECT_EQ(insert(over("2001:db8::/32", 3, 10), kAppend), 0);
  EXPECT_EQ(insert(over("2001:db8::/32", 1, 10), kAppend), EEXIST);
  EXPECT_EQ(erase("2001:db8::/32", RouteMatch{.device = IfIndex{1}}), 1U);
  EXPECT_THAT(hops("2001:db8::/32"), ElementsAre("dev 3"));
}

TEST_F(TableTest, NexthopObjectsAreToldApartById) {
  const auto object = [](std::uint32_t id) {
    auto made = std::make_shared<NexthopObject>();
    made->id = NexthopId{id};
    made->hops.resize(1);
    return made;
  };
  auto fields = over("2001:db8::/32", 0);
  fields.object = object(7);
  EXPECT_EQ(insert(fields, kAppend), 0);
  fields.object = object(7);
  EXPECT_EQ(insert(fields, kAppend), EEXIST);
  fields.object = object(8);
  EXPECT_EQ(insert(fields, kAppend), 0);
  // A delete does not ask them for their device.
  EXPECT_EQ(erase("2001:db8::/32", RouteMatch{.device = IfIndex{9}, .nexthop_id = NexthopId{8}}),
            1U);
  EXPECT_EQ(erase("2001:db8::/32", RouteMatch{.device = IfIndex{9}}), 1U);
}

TEST_F(TableTest, ARefusedDuplicateRefreshesLifetimeAndMtu) {
  auto fields = via("2001:db8::/32", "fe80::1");
  fields.expires_at = TimeNs{100};
  fields.mtu = 1400;
  fields.hop_limit = 9;
  insert(fields);
  const auto now = [&] {
    return table_.get(prefix("2001:db8::/32"), {})->slots.front().route->fields();
  };
  fields.expires_at = TimeNs{200};
  fields.mtu = 1300;
  EXPECT_EQ(insert(fields, kAppend), EEXIST);
  EXPECT_EQ(now().expires_at, TimeNs{200});
  EXPECT_EQ(now().mtu, 1300U);
  // Without a lifetime it makes the route permanent, and what it does not bring stays.
  fields.expires_at.reset();
  fields.mtu = 0;
  fields.hop_limit = 5;
  EXPECT_EQ(insert(fields, kAppend), EEXIST);
  EXPECT_FALSE(now().expires_at);
  EXPECT_EQ(now().mtu, 1300U);
  EXPECT_EQ(now().hop_limit, 9U);
  // A permanent route is not refreshed any more.
  fields.mtu = 1350;
  EXPECT_EQ(insert(fields, kAppend), EEXIST);
  EXPECT_EQ(now().mtu, 1300U);
}

TEST_F(TableTest, ReplaceTakesTheFirstThatIsAlikeInHavingAGateway) {
  insert(via("2001:db8::/32", "fe80::9"));
  insert(over("2001:db8::/32", 3), kAppend);
  insert(over("2001:db8::/32", 4), kAppend);
  EXPECT_EQ(insert(over("2001:db8::/32", 5), kReplace), 0);
  EXPECT_THAT(hops("2001:db8::/32"), ElementsAre("fe80::9", "dev 5", "dev 4"));
  EXPECT_EQ(insert(via("2001:db8::/32", "fe80::8"), kChange), 0);
  EXPECT_THAT(hops("2001:db8::/32"), ElementsAre("fe80::8", "dev 5", "dev 4"));
}

TEST_F(TableTest, ReplaceFallsBackToTheFirstOfTheMetricAndItsRing) {
  insert(via("2001:db8::/32", "fe80::1"));
  insert(via("2001:db8::/32", "fe80::2"), kAppend);
  EXPECT_EQ(insert(over("2001:db8::/32", 5), kReplace), 0);
  EXPECT_THAT(hops("2001:db8::/32"), ElementsAre("dev 5"));
}

TEST_F(TableTest, ReplaceWithoutTheMetricAdds) {
  insert(over("2001:db8::/32", 3, 10));
  EXPECT_EQ(insert(over("2001:db8::/32", 4, 5), kChange), ENOENT);
  EXPECT_EQ(insert(over("2001:db8::/32", 4, 5), kReplace), 0);
  EXPECT_THAT(hops("2001:db8::/32"), ElementsAre("dev 4", "dev 3"));
}

// A17: replacing a multipath route by another leaves exactly the new siblings.
TEST_F(TableTest, ReplacingARingRemovesAllOfIt) {
  insert(via("2001:db8:2::/64", "fe80::a"));
  insert(via("2001:db8:2::/64", "fe80::b"), kAppend);
  insert(over("2001:db8:2::/64", 7), kAppend);
  insert(via("2001:db8:2::/64", "fe80::a", 2000), kAppend);
  EXPECT_EQ(insert(via("2001:db8:2::/64", "fe80::c"), kReplace), 0);
  EXPECT_EQ(insert(via("2001:db8:2::/64", "fe80::d"), kAppend), 0);
  EXPECT_THAT(hops("2001:db8:2::/64"), ElementsAre("fe80::c", "dev 7", "fe80::d", "fe80::a"));
}

// Deleting.

TEST_F(TableTest, EraseTakesTheWholeRingUnlessAGatewayIsNamed) {
  for (const auto* gateway : {"fe80::1", "fe80::2", "fe80::3"})
    insert(via("2001:db8::/32", gateway), kAppend);
  EXPECT_EQ(erase("2001:db8::/32", RouteMatch{.gateway = address("fe80::2")}), 1U);
  EXPECT_THAT(hops("2001:db8::/32"), ElementsAre("fe80::1", "fe80::3"));
  EXPECT_EQ(erase("2001:db8::/32", RouteMatch{.single_hop = true}), 1U);
  insert(via("2001:db8::/32", "fe80::4"), kAppend);
  EXPECT_EQ(erase("2001:db8::/32"), 2U);
  EXPECT_EQ(table_.get(prefix("2001:db8::/32"), {}), nullptr);
  EXPECT_EQ(erase("2001:db8::/32"), 0U);
}

TEST_F(TableTest, EraseWithoutMetricTakesTheLowest) {
  insert(over("2001:db8::/32", 3, 20));
  insert(over("2001:db8::/32", 4, 10), kAppend);
  EXPECT_EQ(erase("2001:db8::/32", RouteMatch{.metric = 5}), 0U);
  EXPECT_EQ(erase("2001:db8::/32"), 1U);
  EXPECT_THAT(hops("2001:db8::/32"), ElementsAre("dev 3"));
  EXPECT_EQ(erase("2001:db8::/32", RouteMatch{.protocol = 99}), 0U);
  EXPECT_EQ(erase("2001:db8::/32", RouteMatch{.metric = 20, .protocol = kProtocolBoot}), 1U);
}

TEST_F(TableTest, EraseOverlooksASourceWhereNothingIsSourceSpecific) {
  insert(over("2001:db8:1::/48", 3));
  insert(from("2001:db8:5::/64", over("2001:db8:1::/48", 4)));
  EXPECT_EQ(erase("2001:db8:1::/48", {}, "2001:db8:6::/64"), 0U);
  EXPECT_EQ(erase("2001:db8:1::/48", {}, "2001:db8:5::/64"), 1U);
  EXPECT_EQ(erase("2001:db8:1::/48", {}, "2001:db8:6::/64"), 1U);  // took the sourceless one
  EXPECT_EQ(table_.route_count(), 0U);
}

// Shares of the hash space (B8).

TEST_F(TableTest, SharesFollowTheWeights) {
  auto heavy = via("2001:db8::/32", "fe80::2");
  heavy.hop.weight = 3;
  insert(via("2001:db8::/32", "fe80::1"));
  EXPECT_THAT(bounds("2001:db8::/32"), ElementsAre(0x7fffffff));
  insert(over("2001:db8::/32", 9), kAppend);
  insert(heavy, kAppend);
  EXPECT_THAT(bounds("2001:db8::/32"), ElementsAre(536870911, 0x7fffffff, 0x7fffffff));
  insert(via("2001:db8::/32", "fe80::3", 2000), kAppend);  // a ring of its own
  EXPECT_THAT(bounds("2001:db8::/32"), ElementsAre(536870911, 0x7fffffff, 0x7fffffff, 0x7fffffff));
  erase("2001:db8::/32", RouteMatch{.gateway = address("fe80::2")});
  EXPECT_EQ(bounds("2001:db8::/32").front(), 0x7fffffff);
}

TEST_F(TableTest, UnusableSiblingsHaveNoShare) {
  for (const auto* gateway : {"fe80::1", "fe80::2", "fe80::3"})
    insert(via("2001:db8::/32", gateway), kAppend);
  EXPECT_THAT(bounds("2001:db8::/32"), ElementsAre(715827882, 1431655764, 0x7fffffff));
  table_.update([](RouteSlot& slot) {
    slot.dead = slot.route->fields().hop.gateway == address("fe80::2");
    return SlotFate::kKeep;
  });
  EXPECT_THAT(bounds("2001:db8::/32"), ElementsAre(1073741823, -1, 0x7fffffff));
}

TEST_F(TableTest, SharesAreComputedAtEventsOnly) {
  bool ignores_linkdown = false;
  table_.set_share_predicate(
      [&](const RouteSlot& slot) { return !slot.dead && !(slot.linkdown && ignores_linkdown); });
  insert(via("2001:db8::/32", "fe80::1"));
  insert(via("2001:db8::/32", "fe80::2"), InsertFlags{.append = true, .linkdown = true});
  EXPECT_THAT(bounds("2001:db8::/32"), ElementsAre(1073741823, 0x7fffffff));
  ignores_linkdown = true;  // the kernel does not look at its rings when the sysctl is written
  insert(over("2001:db8::/32", 5, 9), kAppend);
  erase("2001:db8::/32", RouteMatch{.metric = 9});
  EXPECT_THAT(bounds("2001:db8::/32"), ElementsAre(1073741823, 0x7fffffff));
  insert(via("2001:db8::/32", "fe80::3"), kAppend);
  EXPECT_THAT(bounds("2001:db8::/32"), ElementsAre(1073741823, -1, 0x7fffffff));
}

// Walks (B3, B4).

TEST_F(TableTest, WalkGoesFromLongToShort) {
  for (const auto* text :
       {"::/0", "2001:db8::/32", "2001:db8:1::/48", "2001:db8:1::1/128", "2001:db8:2::/48"}) {
    insert(over(text, 3));
  }
  EXPECT_THAT(walk("2001:db8:1::1"),
              ElementsAre("2001:db8:1::1/128", "2001:db8:1::/48", "2001:db8::/32", "::/0"));
  EXPECT_THAT(walk("2001:db9::1"), ElementsAre("::/0"));
}

TEST_F(TableTest, ASourceThatMatchesNothingHidesThePrefix) {
  insert(over("2001:db8::/32", 3));
  insert(over("2001:db8:1::/48", 4));
  insert(from("2001:db8:5::/48", over("2001:db8:1::/48", 5)));
  insert(from("2001:db8:5:1::/64", over("2001:db8:1::/48", 6)));
  EXPECT_THAT(walk("2001:db8:1::1", "2001:db8:9::1"), ElementsAre("2001:db8::/32"));
  EXPECT_THAT(walk("2001:db8:1::1", "::"), ElementsAre("2001:db8::/32"));
  EXPECT_THAT(
      walk("2001:db8:1::1", "2001:db8:5::1"),
      ElementsAre("2001:db8:1::/48 from 2001:db8:5::/48", "2001:db8:1::/48", "2001:db8::/32"));
  EXPECT_THAT(
      walk("2001:db8:1::1", "2001:db8:5:1::1"),
      ElementsAre("2001:db8:1::/48 from 2001:db8:5:1::/64", "2001:db8:1::/48 from 2001:db8:5::/48",
                  "2001:db8:1::/48", "2001:db8::/32"));
}

TEST_F(TableTest, BacktrackingTriesWhatTheFirstDescentSkips) {
  insert(over("2001:db8::/32", 3));
  insert(from("2001:db8:5::/48", over("2001:db8::/32", 4)));
  insert(over("2001:db8:1::/48", 5));
  EXPECT_THAT(walk("2001:db8:1::1", "2001:db8:9::1"),
              ElementsAre("2001:db8:1::/48", "2001:db8::/32"));
  EXPECT_THAT(walk("2001:db8:2::1", "2001:db8:9::1"), IsEmpty());
}

TEST_F(TableTest, TheRootHidesNothing) {
  insert(over("::/0", 3));
  insert(from("2001:db8:5::/48", over("::/0", 4)));
  EXPECT_THAT(walk("2001:db8::1", "2001:db8:9::1"), ElementsAre("::/0"));
  EXPECT_THAT(walk("2001:db8::1", "2001:db8:5::1"),
              ElementsAre("::/0 from 2001:db8:5::/48", "::/0"));
}

TEST_F(TableTest, TheLastSourceSpecificRouteUncoversThePrefix) {
  insert(over("2001:db8::/32", 3));
  insert(from("2001:db8:5::/48", over("2001:db8::/32", 4)));
  EXPECT_TRUE(table_.has_source_specific());
  EXPECT_THAT(walk("2001:db8::1", "2001:db8:9::1"), IsEmpty());
  EXPECT_EQ(erase("2001:db8::/32", {}, "2001:db8:5::/48"), 1U);
  EXPECT_FALSE(table_.has_source_specific());
  EXPECT_THAT(walk("2001:db8::1", "2001:db8:9::1"), ElementsAre("2001:db8::/32"));
}

TEST_F(TableTest, DumpOrderIsTheKernels) {
  for (const auto* text : {"2001:db8:1::/48", "2001:db8::/32", "::/0", "8000::/1", "4000::/2"})
    insert(over(text, 3));
  insert(from("2001:db8:5::/48", over("2001:db8::/32", 3)));
  insert(from("2001:db8::/32", over("2001:db8:1::/48", 3)));
  insert(from("2001:db8:8::/48", over("2001:db8:1::/48", 3)));
  insert(from("2001:db8:6::/48", over("2001:db8:1::/48", 3)));
  insert(from("2001:db8::/32", over("::/0", 3)));
  std::vector<std::string> dumped;
  table_.for_each([&](const RouteSet& set) {
    const RouteFields& f = set.slots.front().route->fields();
    dumped.push_back(f.destination.to_string() +
                     (f.source.length() == 0 ? "" : " from " + f.source.to_string()));
  });
  EXPECT_THAT(dumped, ElementsAre("::/0 from 2001:db8::/32", "2001:db8::/32 from 2001:db8:5::/48",
                                  "2001:db8:1::/48 from 2001:db8:6::/48",
                                  "2001:db8:1::/48 from 2001:db8:8::/48",
                                  "2001:db8:1::/48 from 2001:db8::/32", "2001:db8:1::/48",
                                  "2001:db8::/32", "4000::/2", "8000::/1", "::/0"));
}

// Faults of this field.

// A02, A13, A15: more specifics survive the removal of what covers them, and the cover comes back into effect.
TEST_F(TableTest, DeletingACoverOrACoveredPrefixLeavesTheOther) {
  insert(over("2001:db8::/32", 3));
  insert(over("2001:db8:0:1::/64", 4));
  EXPECT_EQ(erase("2001:db8::/32"), 1U);
  EXPECT_THAT(walk("2001:db8:0:1::1"), ElementsAre("2001:db8:0:1::/64"));
  EXPECT_THAT(walk("2001:db8:0:2::1"), IsEmpty());
  EXPECT_EQ(erase("2001:db8:0:1::/64"), 1U);
  insert(over("2001:db8::/32", 5));
  EXPECT_THAT(walk("2001:db8:0:1::1"), ElementsAre("2001:db8::/32"));
}

// A01: adding and deleting below a parent with the same way out, over and over, leaves nothing behind.
TEST_F(TableTest, AddAndDeleteReturnToTheBaseline) {
  insert(over("2001:d00::/24", 3));
  rcu::barrier();
  const auto nodes = trie_live_count();
  const auto routes = Route::live_count();
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(insert(over("2001:db8:1::/48", 3)), 0);
    ASSERT_EQ(erase("2001:db8:1::/48"), 1U);
  }
  rcu::barrier();
  EXPECT_EQ(trie_live_count(), nodes);
  EXPECT_EQ(Route::live_count(), routes);
}

// A05, A06: the last bits, and bytes with the sign bit set.
TEST_F(TableTest, EveryLengthOfHighAddresses) {
  const auto all_ones = address("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
  for (unsigned length = 0; length <= 128; ++length) {
    RouteFields fields = over("::/0", 3);
    fields.destination = net::Prefix(all_ones, static_cast<std::uint8_t>(length));
    ASSERT_EQ(insert(fields), 0);
  }
  insert(over("ff82::1/128", 3));
  insert(over("8200::/7", 3));
  EXPECT_EQ(walk(all_ones.to_string()).size(), 129U);
  EXPECT_EQ(walk("ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe").size(), 128U);
  EXPECT_THAT(walk("82ff::"), ElementsAre("8200::/7", "8000::/1", "::/0"));
  EXPECT_EQ(walk("ff82::1").front(), "ff82::1/128");
  for (unsigned length = 0; length <= 128; length += 2) {
    ASSERT_EQ(
        table_.erase(net::Prefix(all_ones, static_cast<std::uint8_t>(length)), {}, {}).value_or(0),
        1U);
  }
  EXPECT_EQ(walk(all_ones.to_string()).size(), 64U);
}

// A09: 10,000 routes over one nexthop, and the nexthop goes.
TEST_F(TableTest, RemovingAllRoutesOfANexthop) {
  rcu::barrier();
  const auto nodes = trie_live_count();
  const auto routes = Route::live_count();
  for (unsigned i = 0; i < 10'000; ++i) {
    RouteFields fields = over("2001:db8::/64", 3);
    auto bytes = fields.destination.address();
    bytes.bytes[6] = static_cast<std::uint8_t>(i >> 8);
    bytes.bytes[7] = static_cast<std::uint8_t>(i);
    fields.destination = net::Prefix(bytes, 64);
    ASSERT_EQ(insert(fields), 0);
  }
  insert(over("2001:db8::/32", 4));
  table_.update([](RouteSlot& slot) {
    return slot.route->fields().hop.device == IfIndex{3} ? SlotFate::kRemove : SlotFate::kKeep;
  });
  EXPECT_EQ(table_.route_count(), 1U);
  EXPECT_THAT(walk("2001:db8:0:77::1"), ElementsAre("2001:db8::/32"));
  rcu::barrier();
  EXPECT_EQ(Route::live_count(), routes + 1);
  EXPECT_EQ(trie_live_count(), nodes + 2);  // the /32's node and its set
}

// A11: the same changes again leave the table as it is.
TEST_F(TableTest, RepeatingAChangeChangesNothing) {
  const auto dump = [&] {
    std::vector<std::string> all;
    table_.for_each([&](const RouteSet& set) {
      for (const auto& slot : set.slots)
        all.push_back(slot.route->fields().destination.to_string() + hop_text(slot));
    });
    return all;
  };
  const auto apply = [&] {
    insert(over("2001:db8:1::/64", 2, 256), kAppend);
    insert(via("::/0", "2001:db8:1::2"), kReplace);
  };
  apply();
  const auto once = dump();
  apply();
  EXPECT_EQ(dump(), once);
}

// A15: the order of insertions does not matter to lookups.
TEST_F(TableTest, InsertionOrderDoesNotMatter) {
  std::vector<std::string> texts{"2001:db8:200::/48", "2001:db8:200:1::/64", "2001:db8::/32",
                                 "::/0"};
  std::ranges::sort(texts);
  do {
    for (const auto& text : texts) insert(over(text, 3));
    ASSERT_THAT(walk("2001:db8:200:1::1"),
                ElementsAre("2001:db8:200:1::/64", "2001:db8:200::/48", "2001:db8::/32", "::/0"));
    ASSERT_THAT(walk("2001:db8:200:2::1"),
                ElementsAre("2001:db8:200::/48", "2001:db8::/32", "::/0"));
    for (const auto& text : texts) ASSERT_EQ(erase(text), 1U);
  } while (std::ranges::next_permutation(texts).found);
}

// A16: replacing routes onto another device leaves no reference to the first.
TEST_F(TableTest, AReplacedRouteIsGoneForGood) {
  rcu::barrier();
  const auto routes = Route::live_count();
  insert(over("2001:db8:8086::/48", 2, 20));
  insert(over("2001:db8:8088::/48", 3, 10));
  EXPECT_EQ(insert(over("2001:db8:8086::/48", 3, 20), kReplace), 0);
  table_.for_each([](const RouteSet& set) {
    for (const auto& slot : set.slots) EXPECT_EQ(slot.route->fields().hop.device, IfIndex{3});
  });
  rcu::barrier();
  EXPECT_EQ(Route::live_count(), routes + 2);
}

TEST_F(TableTest, UpdatePutsAnotherRouteInPlace) {
  for (const auto* gateway : {"fe80::1", "fe80::2", "fe80::3"})
    insert(via("2001:db8::/32", gateway), kAppend);
  rcu::barrier();
  const auto routes = Route::live_count();
  table_.update([](RouteSlot& slot) {
    if (slot.route->fields().hop.gateway != address("fe80::2")) return SlotFate::kKeep;
    RouteFields fields = slot.route->fields();
    fields.hop.gateway = address("fe80::9");
    slot.route = Route::create(std::move(fields));
    return SlotFate::kKeep;
  });
  EXPECT_THAT(hops("2001:db8::/32"), ElementsAre("fe80::1", "fe80::9", "fe80::3"));
  rcu::barrier();
  EXPECT_EQ(Route::live_count(), routes);
}

TEST_F(TableTest, ARemovedRouteStaysReadableInItsSection) {
  insert(over("2001:db8::/32", 3));
  const rcu::ReadSection section;
  Table::Walk walk(table_, address("2001:db8::1"), {});
  const RouteSet* set = walk.next();
  ASSERT_NE(set, nullptr);
  ASSERT_EQ(erase("2001:db8::/32"), 1U);
  EXPECT_EQ(set->slots.front().route->fields().hop.device, IfIndex{3});
  EXPECT_FALSE(OwnedDst::try_promote(BorrowedDst(set->slots.front().route->dst(0))));
  EXPECT_EQ(walk.next(), nullptr);
}

}  // namespace
}  // namespace sidestep::fib
