// SPDX-License-Identifier: Apache-2.0
#include "config/kernel_lines.hpp"

#include <gtest/gtest.h>

namespace sidestep::config {
namespace {

TEST(KernelLines, AreSortedInOrder) {
  const auto lines = split_for_kernel(
      "sysctl -w net.ipv6.conf.all.forwarding=1   # ours\n"
      "link add a type veth peer name b\n"
      "-4 address add 10.0.0.1/24 dev a\n"
      "-6 route add ::/1 \\\n dev a\n"
      "nexthop add id 5 group 1/2\n"
      "sr hmac set 5 sha256 'a b'\n"
      "sr tunsrc set ::1\n"
      "route add ::/2\n\tnexthop via ::1\n"
      "nonsense\n");
  ASSERT_EQ(lines.size(), 9U);
  EXPECT_EQ(lines[0].kind, LineKind::kSysctl);
  EXPECT_EQ(lines[0].text, "-w net.ipv6.conf.all.forwarding=1");
  EXPECT_TRUE(lines[1].link);
  EXPECT_EQ(lines[1].kind, LineKind::kIpv6);
  EXPECT_EQ(lines[2].kind, LineKind::kIpv4);
  EXPECT_EQ(lines[2].text, "address add 10.0.0.1/24 dev a");
  EXPECT_EQ(lines[3].kind, LineKind::kIpv6);
  EXPECT_EQ(lines[3].text, "route add ::/1 dev a");
  EXPECT_EQ(lines[3].line, 4U);
  EXPECT_EQ(lines[4].kind, LineKind::kIp);
  EXPECT_EQ(lines[5].kind, LineKind::kHmac);
  EXPECT_EQ(lines[5].text, "sr hmac set 5 sha256");
  EXPECT_EQ(lines[5].secret, "a b");
  EXPECT_EQ(lines[6].kind, LineKind::kIpv6);
  EXPECT_EQ(lines[7].text, "route add ::/2 nexthop via ::1");
  EXPECT_EQ(lines[8].text, "nonsense");
}

}  // namespace
}  // namespace sidestep::config
