// SPDX-License-Identifier: Apache-2.0
#include "packet/counters.hpp"

#include <fstream>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace sidestep::packet {
namespace {

constexpr IfIndex kEast{2};
constexpr IfIndex kWest{3};

TEST(Counters, CountForHostAndDevice) {
  Counters counters;
  counters.add(Snmp::kIp6InReceives, kEast);
  counters.add(Snmp::kIp6InReceives, kWest);
  counters.add(Snmp::kIp6InOctets, kEast, 94);
  counters.add(Snmp::kIp6OutNoRoutes, IfIndex{});
  EXPECT_EQ(counters.host(Snmp::kIp6InReceives), 2U);
  EXPECT_EQ(counters.host(Snmp::kIp6InOctets), 94U);
  EXPECT_EQ(counters.host(Snmp::kIp6OutNoRoutes), 1U);
  EXPECT_EQ(counters.device(kEast, Snmp::kIp6InReceives), 1U);
  EXPECT_EQ(counters.device(kEast, Snmp::kIp6InOctets), 94U);
  EXPECT_EQ(counters.device(kWest, Snmp::kIp6InOctets), 0U);
  EXPECT_EQ(counters.device(IfIndex{9}, Snmp::kIp6InOctets), 0U);
  EXPECT_EQ(counters.devices().size(), 2U);
}

TEST(Counters, DropsByReason) {
  Counters counters;
  counters.add_drop(DropReason::kNoRoute);
  counters.add_drop(DropReason::kNoRoute);
  EXPECT_EQ(counters.drops(DropReason::kNoRoute), 2U);
  EXPECT_EQ(counters.drops(DropReason::kLookupLimit), 0U);
}

TEST(Counters, AddUp) {
  Counters sum;
  Counters other;
  sum.add(Snmp::kIp6InReceives, kEast);
  other.add(Snmp::kIp6InReceives, kEast, 4);
  other.add(Snmp::kIp6InReceives, kWest, 8);
  other.add_drop(DropReason::kHmac);
  sum.add(other);
  EXPECT_EQ(sum.host(Snmp::kIp6InReceives), 13U);
  EXPECT_EQ(sum.device(kEast, Snmp::kIp6InReceives), 5U);
  EXPECT_EQ(sum.device(kWest, Snmp::kIp6InReceives), 8U);
  EXPECT_EQ(sum.drops(DropReason::kHmac), 1U);
}

TEST(Counters, NamesAreDistinct) {
  const std::set<std::string_view> names(kSnmpNames.begin(), kSnmpNames.end());
  EXPECT_EQ(names.size(), kSnmpCount);
  EXPECT_EQ(name_of(Snmp::kIp6InReceives), "Ip6InReceives");
  EXPECT_EQ(name_of(Snmp::kIp6OutTransmits), "Ip6OutTransmits");
  EXPECT_EQ(name_of(Snmp::kIcmp6InMsgs), "Icmp6InMsgs");
  EXPECT_EQ(name_of(Snmp::kIcmp6OutRedirects), "Icmp6OutRedirects");
}

// Two of the names are younger than some kernels that people run; the others every kernel has.
TEST(Counters, TheKernelKnowsTheNames) {
  std::ifstream file("/proc/net/snmp6");
  if (!file) GTEST_SKIP() << "no /proc/net/snmp6 here";
  std::set<std::string> known;
  std::string name;
  std::string value;
  while (file >> name >> value) known.insert(name);
  for (const std::string_view ours : kSnmpNames) {
    if (ours == "Ip6OutTransmits" || ours == "Icmp6OutRateLimitHost") continue;
    EXPECT_TRUE(known.contains(std::string(ours))) << ours;
  }
}

}  // namespace
}  // namespace sidestep::packet
