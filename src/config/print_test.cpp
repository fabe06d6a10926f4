// SPDX-License-Identifier: Apache-2.0
// What `ip` (iproute2 6.1, kernel 6.18) printed for these configurations, kept here for machines that cannot ask it.
#include "config/print.hpp"

#include <gtest/gtest.h>
#include <sidestep/fib/table.hpp>
#include <sidestep/rcu/rcu.hpp>

#include "config/config.hpp"

namespace sidestep::config {
namespace {

class Print : public testing::Test {
 protected:
  void configure(std::string_view text) {
    const auto commands = parse(std::string(kDevices) + std::string(text), "t");
    ASSERT_TRUE(commands) << commands.error().front().to_string();
    for (const auto& refused : apply(*commands, "t", {fib_, neighbors_, srv6_})) {
      ADD_FAILURE() << refused.to_string();
    }
  }
  // Without the routes that devices and addresses make.
  [[nodiscard]] std::string routes(TableId table = kTableMain, TimeNs now = {}) const {
    const rcu::ReadSection section;
    std::string kept;
    std::string_view rest = text_ = print_routes(fib_, table, now);
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find('\n') + 1);
      if (line.find(" proto kernel metric 256 ") == std::string_view::npos) kept += line;
      rest.remove_prefix(line.size());
    }
    return kept;
  }

  static constexpr std::string_view kDevices =
      "link add name e0 address 02:00:00:00:00:01 type dummy\n"
      "link add name e1 address 02:00:00:00:00:02 type dummy\n"
      "link set dev e0 up\nlink set dev e1 up\n"
      "address add fc00::1/64 dev e0\naddress add fc01::1/64 dev e1\n";
  const rcu::Reader reader_;
  lookup::Fib fib_;
  neighbor::Table neighbors_;
  srv6::Settings srv6_;
  mutable std::string text_;
};

TEST_F(Print, Routes) {
  configure(
      "route add 2001:2::/64 via fc00::9 dev e0 proto static metric 7 mtu 1400 hoplimit 20 advmss "
      "1300 src fc00::1 pref high\n"
      "route add 2001:3::/64 via fc00::9 dev e0 onlink mtu lock 1400 hoplimit lock 9\n"
      "route add 2001:4::/64 from 2001:5::/48 via fc00::9 dev e0\n"
      "route add unreachable 2001:22::/64\n"
      "route add 2001:2a::/64 dev e0 expires 300 mtu 1400\n"
      "route add 2001:2b::/64 via fc00::9 initcwnd 10 cwnd lock 5 rtt 100 rttvar 50 rto_min 5 "
      "features ecn congctl reno\n"
      "route add 2001:2e::1 dev e0\n"
      "route add local 2001:2f::/64 dev lo table main\n"
      "route add default via fc00::9 proto ra\n");
  EXPECT_EQ(routes(kTableMain, TimeNs{kNsPerSecond}),
            "2001:2::/64 via fc00::9 dev e0 proto static src fc00::1 metric 7 mtu 1400 advmss 1300 "
            "hoplimit 20 pref high\n"
            "2001:3::/64 via fc00::9 dev e0 metric 1024 onlink mtu lock 1400 hoplimit lock 9 pref "
            "medium\n"
            "2001:4::/64 from 2001:5::/48 via fc00::9 dev e0 metric 1024 pref medium\n"
            "unreachable 2001:22::/64 dev lo metric 1024 pref medium\n"
            "2001:2a::/64 dev e0 metric 1024 expires 299sec mtu 1400 pref medium\n"
            "2001:2b::/64 via fc00::9 dev e0 metric 1024 rtt 12ms rttvar 12ms cwnd lock 5 initcwnd "
            "10 features ecn "
            "rto_min lock 5ms congctl reno pref medium\n"
            "2001:2e::1 dev e0 metric 1024 pref medium\n"
            "default via fc00::9 dev e0 proto ra metric 1024 pref medium\n");
  EXPECT_EQ(routes(TableId{77}), "");
}

TEST_F(Print, MultipathRoutesAndNexthops) {
  configure(
      "nexthop add id 1 via fc00::9 dev e0 onlink proto static\n"
      "nexthop add id 2 via fc01::9 dev e1\n"
      "nexthop add id 4 blackhole\n"
      "nexthop add id 5 group 1,3/2\n"
      "route add 2001:6::/64 proto static mtu 1300 nexthop via fc00::9 dev e0 onlink nexthop via "
      "fc01::9 weight 256\n"
      "route add 2001:8::/64 nhid 5\n"
      "route add 2001:9::/64 nhid 4\n"
      "route add 2001:39::/64 via fc00::9\n"
      "route append 2001:39::/64 dev e1\n"  // between the siblings of a ring, which the kernel does not dump
      "route append 2001:39::/64 via fc01::9\n");
  EXPECT_EQ(routes(),
            "2001:6::/64 proto static metric 1024 mtu 1300 pref medium\n"
            "\tnexthop via fc00::9 dev e0 weight 1 onlink \n"
            "\tnexthop via fc01::9 dev e1 weight 256 \n"
            "2001:8::/64 nhid 5 metric 1024 pref medium\n"
            "\tnexthop via fc00::9 dev e0 weight 3 onlink \n"
            "\tnexthop via fc01::9 dev e1 weight 1 \n"
            "blackhole 2001:9::/64 nhid 4 dev lo metric 1024 pref medium\n"
            "2001:39::/64 metric 1024 pref medium\n"
            "\tnexthop via fc00::9 dev e0 weight 1 \n"
            "\tnexthop via fc01::9 dev e1 weight 1 \n");
  EXPECT_EQ(print_nexthops(fib_),
            "id 1 via fc00::9 dev e0 scope link proto static onlink \n"
            "id 2 via fc01::9 dev e1 scope link \n"
            "id 4 blackhole \n"
            "id 5 group 1,3/2 \n");
}

TEST_F(Print, Encapsulations) {
  configure(
      "route add 2001:11::/64 encap seg6 mode inline segs fc00::1,fc00::2 via fc00::9\n"
      "route add 2001:14::/64 encap seg6local action End.X nh6 fc00::9 oif e1 dev e0\n"
      "route add 2001:16::/64 encap seg6local action End.T table main dev e0\n"
      "route add 2001:1b::/64 encap seg6local action End.B6 srh segs fc00::1,fc00::2 dev e0\n"
      "route add 2001:1f::/64 encap seg6local action End flavors psp,next-csid lblen 48 nflen 8 "
      "count dev e0\n");
  EXPECT_EQ(routes(),
            "2001:11::/64  encap seg6 mode inline segs 3 [ fc00::1 fc00::2 :: ] via fc00::9 dev e0 "
            "metric 1024 pref medium\n"
            "2001:14::/64  encap seg6local action End.X nh6 fc00::9 oif e1 dev e0 metric 1024 pref "
            "medium\n"
            "2001:16::/64  encap seg6local action End.T table main dev e0 metric 1024 pref medium\n"
            "2001:1b::/64  encap seg6local action End.B6 segs 3 [ fc00::1 fc00::2 :: ] dev e0 "
            "metric 1024 pref medium\n"
            "2001:1f::/64  encap seg6local action End flavors psp,next-csid lblen 48 nflen 8 dev "
            "e0 metric 1024 pref medium\n");
}

TEST_F(Print, Rules) {
  configure(
      "rule add pref 10 not from 2001::/16 to 2002::/16 tos 0x10 fwmark 5/0xff iif e0 oif nosuch "
      "uidrange 0-5 ipproto tcp "
      "sport 5 dport 6-7 tun_id 9 proto static table 77 suppress_prefixlength 3 suppress_ifgroup "
      "5\n"
      "rule add pref 12 iif nosuch goto 100\n"
      "rule add pref 13 ipproto 99 nop\n"
      "rule add pref 15 l3mdev not proto 77\n"
      "rule add pref 19 tos EF table 5 prohibit suppress_prefixlength 0\n"
      "rule add pref 25 fwmark 5/0 lookup 256\n");
  EXPECT_EQ(print_rules(fib_),
            "0:\tfrom all lookup local\n"
            "10:\tnot from 2001::/16 to 2002::/16 tos 0x10 fwmark 0x5/0xff iif e0 oif nosuch "
            "[detached] uidrange 0-5 "
            "ipproto tcp sport 5 dport 6-7 tun_id 9 lookup 77 suppress_prefixlength 3 "
            "suppress_ifgroup 5 proto static\n"
            "12:\tfrom all iif nosuch [detached] goto 100 [unresolved]\n"
            "13:\tfrom all ipproto ipproto-99 nop\n"
            "15:\tnot from all lookup [l3mdev-table] proto 77\n"
            "19:\tfrom all tos EF lookup 5 suppress_prefixlength 0 prohibit\n"
            "25:\tfrom all fwmark 0x5/0 lookup 256\n"
            "32766:\tfrom all lookup main\n");
}

TEST_F(Print, Neighbors) {
  configure(
      "neigh add fc00::1:3 lladdr 02:00:00:00:00:13 dev e0 router\n"
      "neigh add fc00::1:4 lladdr 02:00:00:00:00:14 dev e0 nud failed\n"
      "neigh add fc00::1:5 lladdr 02:00:00:00:00:15 dev e0 nud noarp\n"
      "neigh add proxy fc00::1:6 dev e0\n");
  EXPECT_EQ(print_neighbors(neighbors_, fib_.links()),
            "fc00::1:3 dev e0 lladdr 02:00:00:00:00:13 router PERMANENT \n"
            "fc00::1:4 dev e0 FAILED \n");
}

}  // namespace
}  // namespace sidestep::config
