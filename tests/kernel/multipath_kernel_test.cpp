// SPDX-License-Identifier: Apache-2.0
// How flows spread over equal-cost hops. The kernel's hash is seeded at random, so shares are compared, not choices.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "golden/lookup_cases.hpp"
#include "golden/packets.hpp"
#include "kernel/our_packets.hpp"

namespace sidestep::kernel {
namespace {

constexpr unsigned kFlows = 2000;
constexpr double kTolerance = 0.06;  // five standard deviations of a half share

/// What distinguishes one flow of a series from the next.
using Vary = std::function<void(Query&, unsigned)>;

void vary_label(Query& query, unsigned i) { query.flow_label = 1 + i; }
void vary_ports(Query& query, unsigned i) {
  query.ipproto = 17;
  query.sport = static_cast<std::uint16_t>(1000 + i);
  query.dport = 53;
}

class Multipath : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    if (!namespaces_available(why))
      GTEST_SKIP() << "SKIPPED: shares not compared with the kernel: " << why;
  }

  /// Expects that r-b gets this share of the flows to 2001:db8:1::1, on both sides.
  void expect_share(const std::string& config, double share, const Vary& vary = vary_label,
                    double tolerance = kTolerance) {
    const std::string text = golden::lookup_lab() + config;
    auto router = KernelRouter::create();
    ASSERT_TRUE(router) << router.error().message;
    for (const auto& outcome : router->apply(text)) ASSERT_EQ(outcome.error, 0) << outcome.text;
    OurRouter ours;
    for (const auto& outcome : ours.apply(text)) ASSERT_EQ(outcome.error, 0) << outcome.text;
    RouteQuery questions(router->router());
    unsigned kernel_count = 0;
    unsigned our_count = 0;
    for (unsigned i = 0; i < kFlows; ++i) {
      Query query;
      query.destination = *net::Ipv6Address::parse("2001:db8:1::1");
      query.source = net::Ipv6Address::parse("2001:db8:6::1");
      query.iif = "r-a";
      vary(query, i);
      kernel_count += questions.ask(query).chosen.device == "r-b" ? 1U : 0U;
      our_count += ours.ask(query).answer.chosen.device == "r-b" ? 1U : 0U;
    }
    EXPECT_NEAR(static_cast<double>(kernel_count) / kFlows, share, tolerance) << "the kernel";
    EXPECT_NEAR(static_cast<double>(our_count) / kFlows, share, tolerance) << "ours";
  }
};

constexpr const char* kRing =
    "route add 2001:db8:1::/48 nexthop via 2001:db8:a::2 nexthop via 2001:db8:b::2\n";
constexpr const char* kFailedNeighbor =
    "neigh add 2001:db8:b::2 lladdr 02:00:00:00:0b:02 dev r-b nud failed\n";
constexpr const char* kGroup =
    "nexthop add id 1 via 2001:db8:a::2 dev r-a\n"
    "nexthop add id 2 via 2001:db8:b::2 dev r-b\n"
    "nexthop add id 3 group 1/2\n"
    "route add 2001:db8:1::/48 nhid 3\n";

TEST_F(Multipath, WeightsOneToThree) {
  expect_share(
      "route add 2001:db8:1::/48 nexthop via 2001:db8:a::2 weight 1 nexthop via 2001:db8:b::2 "
      "weight 3\n",
      0.75);
}

TEST_F(Multipath, GroupWeightsOneToThree) {
  expect_share(
      "nexthop add id 1 via 2001:db8:a::2 dev r-a\n"
      "nexthop add id 2 via 2001:db8:b::2 dev r-b\n"
      "nexthop add id 3 group 1,1/2,3\n"
      "route add 2001:db8:1::/48 nhid 3\n",
      0.75);
}

TEST_F(Multipath, CarrierLossWithoutIgnoreKeepsTheShare) {
  expect_share(std::string(kRing) + "link set r-b carrier off\n", 0.5);
}

TEST_F(Multipath, CarrierLossWithIgnoreTakesTheShare) {
  expect_share("sysctl -w net.ipv6.conf.r-b.ignore_routes_with_linkdown=1\n" + std::string(kRing) +
                   "link set r-b carrier off\n",
               0, vary_label, 0);
}

TEST_F(Multipath, IgnoreAfterCarrierLossComesTooLate) {
  expect_share(std::string(kRing) + "link set r-b carrier off\n" +
                   "sysctl -w net.ipv6.conf.r-b.ignore_routes_with_linkdown=1\n",
               0.5);
}

TEST_F(Multipath, RingOfARouterKeepsAFailedNeighbor) {
  expect_share(std::string(kFailedNeighbor) + kRing, 0.5);
}

TEST_F(Multipath, RingOfAHostAvoidsAFailedNeighbor) {
  expect_share(std::string(kFailedNeighbor) + kRing + "sysctl -w net.ipv6.conf.all.forwarding=0\n",
               0, vary_label, 0);
}

TEST_F(Multipath, GroupAvoidsAFailedNeighbor) {
  expect_share(std::string(kFailedNeighbor) + kGroup, 0, vary_label, 0);
}

TEST_F(Multipath, PreferenceDoesNotMatterInARing) {
  expect_share(
      "route add 2001:db8:1::/48 via 2001:db8:a::2 pref low\n"
      "route append 2001:db8:1::/48 via 2001:db8:b::2 pref high\n",
      0.5);
}

TEST_F(Multipath, PolicyOneSpreadsPorts) {
  expect_share("sysctl -w net.ipv6.fib_multipath_hash_policy=1\n" + std::string(kRing), 0.5,
               vary_ports);
}

/// Policy 0 does not see ports, and policy 1 not the flow label: all flows of the series share one hop, whichever it is.
void expect_together(const std::string& config, const Vary& vary) {
  OurRouter ours;
  for (const auto& outcome : ours.apply(golden::lookup_lab() + config))
    ASSERT_EQ(outcome.error, 0) << outcome.text;
  auto router = KernelRouter::create();
  ASSERT_TRUE(router);
  for (const auto& outcome : router->apply(golden::lookup_lab() + config))
    ASSERT_EQ(outcome.error, 0) << outcome.text;
  RouteQuery questions(router->router());
  std::map<std::string, unsigned> kernel_devices;
  std::map<std::string, unsigned> our_devices;
  for (unsigned i = 0; i < 200; ++i) {
    Query query;
    query.destination = *net::Ipv6Address::parse("2001:db8:1::1");
    query.source = net::Ipv6Address::parse("2001:db8:6::1");
    query.iif = "r-a";
    query.ipproto = 17;
    vary(query, i);
    ++kernel_devices[questions.ask(query).chosen.device];
    ++our_devices[ours.ask(query).answer.chosen.device];
  }
  EXPECT_EQ(kernel_devices.size(), 1U) << "the kernel";
  EXPECT_EQ(our_devices.size(), 1U) << "ours";
}

TEST_F(Multipath, PolicyZeroDoesNotSeePorts) { expect_together(kRing, vary_ports); }

TEST_F(Multipath, PolicyOneDoesNotSeeTheFlowLabel) {
  expect_together("sysctl -w net.ipv6.fib_multipath_hash_policy=1\n" + std::string(kRing),
                  vary_label);
}

/// Device that a frame left by, or nothing.
std::string way_of(const PacketOutcome& outcome) {
  return outcome.sent.size() == 1 ? outcome.sent[0].device : "";
}

TEST_F(Multipath, FragmentsOfAPairOfHostsStayTogether) {
  const std::string config =
      golden::lookup_lab() +
      "sysctl -w net.ipv6.fib_multipath_hash_policy=1\n"
      "link add name r-c address 02:00:00:00:00:0c type dummy\n"
      "link set r-c up\n"
      "address add 2001:db8:c::1/64 dev r-c\n"
      "neigh add 2001:db8:b::2 lladdr 02:00:00:00:0b:02 dev r-b nud permanent\n"
      "neigh add 2001:db8:c::2 lladdr 02:00:00:00:0c:02 dev r-c nud permanent\n"
      "route add 2001:db8:1::/48 nexthop via 2001:db8:b::2 nexthop via 2001:db8:c::2\n";
  auto router = KernelRouter::create();
  ASSERT_TRUE(router) << router.error().message;
  for (const auto& outcome : router->apply(config)) ASSERT_EQ(outcome.error, 0) << outcome.text;
  OurRouter our_router;
  for (const auto& outcome : our_router.apply(config)) ASSERT_EQ(outcome.error, 0) << outcome.text;
  KernelPackets kernel(*router);
  OurPackets ours(our_router);
  const auto send = [&](bool fragments, std::set<std::string>& kernel_ways,
                        std::set<std::string>& our_ways) {
    constexpr std::string_view kFrom = "2001:db8:a::2";
    constexpr std::string_view kTo = "2001:db8:1::1";
    for (unsigned i = 0; i < 48; ++i) {
      const auto port = static_cast<std::uint16_t>(1000 + i);
      const Bytes datagram = golden::udp(kFrom, kTo, port, 53, golden::filler(16));
      const Bytes payload =
          fragments ? golden::join({golden::fragment(17, 0, true, i), datagram}) : datagram;
      const std::uint8_t next = fragments ? 44 : 17;
      const Bytes frame = golden::frame("02:00:00:00:00:0a", "02:00:00:00:0a:02",
                                        golden::ipv6(kFrom, kTo, {.next_header = next}, payload));
      kernel_ways.insert(way_of(kernel.send("r-a", frame, 1)));
      our_ways.insert(way_of(ours.send("r-a", frame, TimeNs{kNsPerSecond})));
    }
  };
  std::set<std::string> kernel_whole;
  std::set<std::string> our_whole;
  send(false, kernel_whole, our_whole);
  EXPECT_EQ(kernel_whole, (std::set<std::string>{"r-b", "r-c"}));
  EXPECT_EQ(our_whole, (std::set<std::string>{"r-b", "r-c"}));
  std::set<std::string> kernel_fragments;
  std::set<std::string> our_fragments;
  send(true, kernel_fragments, our_fragments);
  EXPECT_EQ(kernel_fragments.size(), 1U);
  EXPECT_EQ(our_fragments.size(), 1U);
  EXPECT_FALSE(kernel_fragments.contains(""));
  EXPECT_FALSE(our_fragments.contains(""));
}

// `id 9 index 3 idle_time 0.01 nhid 2 `, a line for each bucket: whose it is.
std::vector<std::uint32_t> kernel_buckets(const KernelRouter& kernel) {
  const auto shown = kernel.router().run({"ip", "nexthop", "bucket", "show", "id", "9"});
  std::vector<std::uint32_t> members;
  std::istringstream lines(shown.output);
  for (std::string line; std::getline(lines, line);) {
    const auto words = words_of(line);
    const auto at = std::ranges::find(words, "nhid");
    if (at != words.end()) members.push_back(static_cast<std::uint32_t>(std::stoul(*(at + 1))));
  }
  return members;
}

std::vector<std::uint32_t> our_buckets(const OurRouter& ours) {
  std::vector<std::uint32_t> members;
  for (const auto& object : ours.fib().nexthops()) {
    if (object->id != NexthopId{9}) continue;
    for (const NexthopId member : object->bucket_members) members.push_back(member.value);
  }
  return members;
}

TEST_F(Multipath, BucketsOfAResilientGroup) {
  auto kernel = KernelRouter::create();
  ASSERT_TRUE(kernel) << kernel.error().message;
  OurRouter ours;
  const auto both = [&](const std::string& lines, int error = 0) {
    for (const auto& outcome : kernel->apply(lines)) EXPECT_EQ(outcome.error, error) << lines;
    for (const auto& outcome : ours.apply(lines)) EXPECT_EQ(outcome.error, error) << lines;
  };
  both(golden::lookup_lab() +
       "nexthop add id 1 via 2001:db8:a::11 dev r-a\nnexthop add id 2 via 2001:db8:a::12 dev r-a\n"
       "nexthop add id 3 via 2001:db8:b::13 dev r-b\nnexthop add id 4 via 2001:db8:a::14 dev r-a\n"
       "nexthop add id 5 via 2001:db8:a::15 dev r-a\n"
       "nexthop add id 9 group 1/2/3 type resilient buckets 30\n");
  EXPECT_EQ(our_buckets(ours).size(), 30U);
  for (const std::string step :
       {"replace id 9 group 1/2/3,3 type resilient", "del id 2",
        "replace id 9 group 1,2/3 type resilient idle_timer 5",
        "replace id 9 group 3/1 type resilient buckets 30",
        "replace id 9 group 1/3/4/5 type resilient", "replace id 9 group 1,3/3/4 type resilient",
        "replace id 9 group 5/4,2/3/1,5 type resilient unbalanced_timer 3", "del id 5",
        "replace id 1 via 2001:db8:a::77 dev r-a", "replace id 9 group 4,255/3/1 type resilient"}) {
    both("nexthop " + step + "\n");
    EXPECT_EQ(our_buckets(ours), kernel_buckets(*kernel)) << step;
  }
  both("link set r-b carrier off\n");  // its objects go
  EXPECT_EQ(our_buckets(ours), kernel_buckets(*kernel));
  both("nexthop replace id 9 group 1 type resilient buckets 31\n", EINVAL);
  both("nexthop add id 10 group 1 type resilient\n", EINVAL);
  both("nexthop replace id 9 group 1\n", EINVAL);
  both("nexthop add id 10 group 1/4 type resilient buckets 1\n");
}

}  // namespace
}  // namespace sidestep::kernel
