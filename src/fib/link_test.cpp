// SPDX-License-Identifier: Apache-2.0
#include <sidestep/fib/link.hpp>

#include <gtest/gtest.h>

namespace sidestep::fib {
namespace {

TEST(Links, LoopbackIsThereFromTheStart) {
  const Links links;
  const Link* lo = links.find("lo");
  ASSERT_NE(lo, nullptr);
  EXPECT_EQ(lo->index, kLoopbackIndex);
  EXPECT_TRUE(lo->is_loopback());
  EXPECT_TRUE(lo->up);
  EXPECT_EQ(lo->mtu, 65536U);
  EXPECT_EQ(links.owner_of(net::Ipv6Address::parse("::1").value()), lo);
  EXPECT_EQ(links.all().size(), 1U);
}

TEST(Links, IndexesAreNotUsedTwice) {
  Links links;
  const IfIndex west = links.add("west").index;
  const IfIndex east = links.add("east").index;
  EXPECT_EQ(west, IfIndex{2});
  EXPECT_EQ(east, IfIndex{3});
  links.erase(east);
  EXPECT_EQ(links.find("east"), nullptr);
  EXPECT_EQ(links.name(east), "if3");
  EXPECT_EQ(links.add("east").index, IfIndex{4});
  EXPECT_EQ(links.name(west), "west");
}

TEST(Links, AnAddressNamesItsDevice) {
  Links links;
  Link& west = links.add("west");
  west.addresses.emplace_back().address = net::Ipv6Address::parse("2001:db8::1").value();
  EXPECT_EQ(links.owner_of(net::Ipv6Address::parse("2001:db8::1").value()), &west);
  EXPECT_EQ(links.owner_of(net::Ipv6Address::parse("2001:db8::2").value()), nullptr);
}

TEST(Links, ACopyIsIndependent) {
  Links before;
  before.add("west");
  Links after = before;
  after.find(IfIndex{2})->up = true;
  EXPECT_FALSE(before.find(IfIndex{2})->up);
}

TEST(Links, TheIpv6MtuIsTheSmaller) {
  Link link;
  EXPECT_EQ(link.ipv6_mtu(), 1500U);
  link.conf.mtu = 1400;
  EXPECT_EQ(link.ipv6_mtu(), 1400U);
  link.conf.mtu = 9000;
  EXPECT_EQ(link.ipv6_mtu(), 1500U);
}

}  // namespace
}  // namespace sidestep::fib
