// SPDX-License-Identifier: Apache-2.0
// Path MTU exceptions: the kernel is sent real Packet Too Big messages, Sidestep the change that each stands for, and both are
// asked for the MTU toward some destinations after every step.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "golden/lab.hpp"
#include "golden/packets.hpp"
#include "kernel/kernel_router.hpp"
#include "kernel/our_router.hpp"
#include "kernel/packet_run.hpp"
#include "kernel/route_query.hpp"

namespace sidestep::kernel {
namespace {

class KernelExceptions : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    if (!namespaces_available(why))
      GTEST_SKIP() << "SKIPPED: exceptions not compared with the kernel: " << why;
    auto made = KernelRouter::create();
    ASSERT_TRUE(made) << made.error().message;
    kernel_.emplace(std::move(*made));
    both(golden::lab_config(""));
    packets_.emplace(*kernel_);
  }

  void both(const std::string& lines) {
    for (const auto& outcome : kernel_->apply(lines)) EXPECT_EQ(outcome.error, 0) << outcome.text;
    for (const auto& outcome : ours_.apply(lines)) EXPECT_EQ(outcome.error, 0) << outcome.text;
  }

  /// A Packet Too Big by r-a about an echo reply to `destination`; nobody sent one, and the kernel does not ask.
  void too_big(std::string_view destination, std::uint32_t mtu) {
    constexpr std::string_view kRouter = "2001:db8:a::1";
    const golden::Bytes about =
        golden::ipv6(kRouter, destination, {.next_header = 58},
                     golden::echo(kRouter, destination, 129, golden::filler(16)));
    const golden::Bytes packet = golden::ipv6(
        "2001:db8:a::2", kRouter, {.next_header = 58},
        golden::icmpv6("2001:db8:a::2", kRouter, 2, 0, golden::join({golden::be32(mtu), about})));
    static_cast<void>(
        packets_->send("r-a", golden::frame("02:00:00:00:00:0a", "02:00:00:00:0a:02", packet), 0));
    lookup::ExceptionChange change;
    change.flow.destination = *net::Ipv6Address::parse(destination);
    change.flow.source = *net::Ipv6Address::parse(kRouter);
    change.flow.oif = ours_.fib().links().find("r-a")->index;
    change.mtu = mtu;
    EXPECT_TRUE(ours_.change(change));
  }

  /// Both have this MTU (0: the device's) toward the flow's destination.
  void expect_mtu(const std::string& flow, std::uint32_t mtu) {
    const auto query = parse_query(flow);
    ASSERT_TRUE(query) << flow;
    RouteQuery questions(kernel_->router());
    EXPECT_EQ(questions.ask(*query).mtu, mtu) << "the kernel, " << flow;
    EXPECT_EQ(ours_.ask(*query).answer.mtu, mtu) << "ours, " << flow;
  }

  std::optional<KernelRouter> kernel_;
  std::optional<KernelPackets> packets_;
  OurRouter ours_;
};

TEST_F(KernelExceptions, WhatIsLearnedAndWhatIsIgnored) {
  both("route add default via 2001:db8:a::2\nroute add 2001:db8:5::/64 dev r-a\n");
  too_big("2001:db8:9::1", 1279);
  expect_mtu("2001:db8:9::1", 0);
  too_big("2001:db8:9::1", 1500);
  expect_mtu("2001:db8:9::1", 0);
  too_big("2001:db8:9::1", 1400);
  expect_mtu("2001:db8:9::1", 1400);
  expect_mtu("2001:db8:9::1 from 2001:db8:6::1 iif r-b", 1400);  // J16
  expect_mtu("2001:db8:9::2", 0);
  too_big("2001:db8:9::1", 1450);
  expect_mtu("2001:db8:9::1", 1400);
  too_big("2001:db8:9::1", 1300);
  expect_mtu("2001:db8:9::1", 1300);
  too_big("2001:db8:5::2", 1290);
  expect_mtu("2001:db8:5::2", 1290);
}

TEST_F(KernelExceptions, TheyGoWithTheirRoute) {
  both("route add default via 2001:db8:a::2\n");
  too_big("2001:db8:9::1", 1400);
  both("route add 2001:db8:9::/64 via 2001:db8:b::2\n");
  expect_mtu("2001:db8:9::1", 0);
  both("route del 2001:db8:9::/64\n");
  expect_mtu("2001:db8:9::1", 1400);
  both("route replace default via 2001:db8:a::2\n");
  expect_mtu("2001:db8:9::1", 0);
}

TEST_F(KernelExceptions, TheyFollowTheDevice) {
  both("route add default via 2001:db8:a::2\n");
  too_big("2001:db8:9::1", 1400);
  too_big("2001:db8:9::2", 1290);
  both("link set r-a mtu 1290\n");
  expect_mtu("2001:db8:9::1", 1290);
  both("link set r-a mtu 1500\n");
  expect_mtu("2001:db8:9::1", 1500);
  expect_mtu("2001:db8:9::2", 1500);
}

TEST_F(KernelExceptions, NexthopObjectsShareThem) {
  both(
      "nexthop add id 1 via 2001:db8:a::2 dev r-a\n"
      "route add default nhid 1\nroute add 2001:db8:9::/64 nhid 1\n");
  too_big("2001:db8:9::1", 1400);
  expect_mtu("2001:db8:9::1", 1400);
  both("route del 2001:db8:9::/64\n");
  expect_mtu("2001:db8:9::1", 0);
  too_big("2001:db8:9::1", 1400);
  both("route add 2001:db8:9::/64 nhid 1\n");
  expect_mtu("2001:db8:9::1", 1400);
  both("nexthop replace id 1 via 2001:db8:a::2 dev r-a\n");
  expect_mtu("2001:db8:9::1", 0);
}

TEST_F(KernelExceptions, SourceSpecificRoutesKeepThemBySourceOnlyOnLink) {
  both(
      "address add 2001:db8:a::77/64 dev r-a\n"
      "route add 2001:db8:8::/64 from 2001:db8:a::/64 via 2001:db8:a::2\n"
      "route add 2001:db8:5::/64 from 2001:db8:a::/64 dev r-a\n");
  too_big("2001:db8:8::1", 1400);
  expect_mtu("2001:db8:8::1 from 2001:db8:a::1", 1400);
  expect_mtu("2001:db8:8::1 from 2001:db8:a::77", 1400);
  too_big("2001:db8:5::1", 1400);
  expect_mtu("2001:db8:5::1 from 2001:db8:a::1", 1400);
  expect_mtu("2001:db8:5::1 from 2001:db8:a::77", 0);
}

TEST_F(KernelExceptions, J7APathMtuDefeatsSuppression) {
  both(
      "route add default via 2001:db8:a::2 table 100\n"
      "route add default via 2001:db8:b::2\n"
      "rule add pref 10 lookup 100\n");
  too_big("2001:db8:9::1", 1400);
  both("rule add pref 5 lookup 100 suppress_prefixlength 0\nrule del pref 10\n");
  expect_mtu("2001:db8:9::1 from 2001:db8:6::1 iif r-b", 1400);
  expect_mtu("2001:db8:9::2 from 2001:db8:6::1 iif r-b", 0);
}

}  // namespace
}  // namespace sidestep::kernel
