// SPDX-License-Identifier: Apache-2.0
// `route get` against what `ip -6 route get` of iproute2 6.1 printed on Linux 6.18 for the same configuration and words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/run_program.hpp"

namespace sidestep::app {
namespace {

using namespace app::testing;  // NOLINT
using namespace io::testing;   // NOLINT
using ::testing::HasSubstr;

constexpr const char* kConfig = R"(
sysctl -w net.ipv6.conf.all.forwarding=1
link add west address 02:00:00:00:00:01 type veth
link add east address 02:00:00:00:00:02 type veth
link set west up
link set east up
address add 2001:db8:1::1/64 dev west nodad
address add 2001:db8:2::1/64 dev east nodad
route add 2001:db8:100::/48 via 2001:db8:2::2 dev east
route add 2001:db8:101::/48 via 2001:db8:2::2 dev east metric 50 src 2001:db8:1::1 mtu 1400 hoplimit 33
route add unreachable 2001:db8:102::/48
route add prohibit 2001:db8:103::/48
route add blackhole 2001:db8:104::/48
route add throw 2001:db8:105::/48
route add 2001:db8:107::/48 encap seg6 mode encap segs fc00::1,fc00::2 dev east
route add fc00:1::/48 encap seg6local action End dev east
nexthop add id 5 via 2001:db8:2::5 dev east
route add 2001:db8:108::/48 nhid 5
route add 2001:db8:109::/48 from 2001:db8:9::/48 via 2001:db8:2::2 dev east
route add 2001:db8:10a::/48 via 2001:db8:2::2 dev east table 100 proto static
route add 2001:db8:10b::/48 dev east expires 600
route add 2001:db8:10c::/48 via 2001:db8:2::2 dev east pref high mtu lock 1300
route add local 2001:db8:122::/48 dev lo
route add anycast 2001:db8:123::1 dev east
route add 2001:db8:121::/48 via 2001:db8:2::2 dev east advmss 1200 hoplimit 9 mtu 1300 proto ra
route add 2001:db8:126::/48 encap seg6local action End flavors psp dev east
rule add to 2001:db8:10a::/48 lookup 100
rule add to 2001:db8:10d::/48 prohibit
rule add to 2001:db8:10e::/48 blackhole
rule add to 2001:db8:10f::/48 unreachable
rule add to 2001:db8:110::/48 fwmark 7 lookup 100
route add 2001:db8:110::/48 via 2001:db8:2::2 dev east table 100
)";

class RouteGet : public ::testing::Test {
 protected:
  Ran get(const std::string& words, const std::vector<std::string>& options = {}) {
    std::vector<std::string> all = {"route", "get", "-c", config_};
    all.insert(all.end(), options.begin(), options.end());
    std::istringstream stream(words);
    for (std::string word; stream >> word;) all.push_back(word);
    return run_program(all);
  }
  void prints(const std::string& words, const std::string& line) {
    const auto ran = get(words);
    EXPECT_EQ(ran.out, line + "\n") << ran.err;
    EXPECT_EQ(ran.status, 0);
  }
  void fails(const std::string& words, const std::string& error) {
    const auto ran = get(words);
    EXPECT_EQ(ran.out, "") << words;
    EXPECT_EQ(ran.err, error + "\n") << words;
    EXPECT_EQ(ran.status, 1) << words;
  }
  ScratchDirectory directory_;
  std::string config_ = directory_.write("router.conf", std::string(kConfig));
};

TEST_F(RouteGet, PrintsOutputLookupsAsIpDoes) {
  prints("2001:db8:100::1",
         "2001:db8:100::1 from :: via 2001:db8:2::2 dev east src 2001:db8:2::1 metric 1024 pref "
         "medium");
  prints("2001:db8:101::1",
         "2001:db8:101::1 from :: via 2001:db8:2::2 dev east src 2001:db8:1::1 metric 50 mtu 1400 "
         "hoplimit 33 pref medium");
  prints("2001:db8:107::1",
         "2001:db8:107::1 from ::  encap seg6 mode encap segs 2 [ fc00::1 fc00::2 ] dev east src "
         "2001:db8:2::1 metric 1024 "
         "pref medium");
  prints("2001:db8:108::1",
         "2001:db8:108::1 from :: via 2001:db8:2::5 dev east src 2001:db8:2::1 metric 1024 pref "
         "medium");
  prints("2001:db8:10a::1",
         "2001:db8:10a::1 from :: via 2001:db8:2::2 dev east table 100 proto static src "
         "2001:db8:2::1 metric 1024 pref "
         "medium");
  prints("2001:db8:10b::1",
         "2001:db8:10b::1 from :: dev east src 2001:db8:2::1 metric 1024 pref medium");
  prints("2001:db8:10c::1",
         "2001:db8:10c::1 from :: via 2001:db8:2::2 dev east src 2001:db8:2::1 metric 1024 mtu "
         "lock 1300 pref high");
  prints("2001:db8:121::1",
         "2001:db8:121::1 from :: via 2001:db8:2::2 dev east proto ra src 2001:db8:2::1 metric "
         "1024 mtu 1300 advmss 1200 "
         "hoplimit 9 pref medium");
  prints("fc00:1::1",
         "fc00:1::1 from ::  encap seg6local action End dev east src 2001:db8:2::1 metric 1024 "
         "pref medium");
  prints("2001:db8:126::1",
         "2001:db8:126::1 from ::  encap seg6local action End flavors psp dev east src "
         "2001:db8:2::1 metric 1024 pref "
         "medium");
}

TEST_F(RouteGet, PrintsAddressesOfTheRouterAsIpDoes) {
  prints("2001:db8:1::1",
         "local 2001:db8:1::1 from :: dev lo table local proto kernel src 2001:db8:1::1 metric 0 "
         "pref medium");
  prints(
      "2001:db8:1::1 iif west",
      "local 2001:db8:1::1 from :: dev lo table local proto kernel metric 0 iif west pref medium");
  prints("2001:db8:1::",
         "anycast 2001:db8:1:: from :: dev lo table local proto kernel src 2001:db8:1::1 metric 0 "
         "pref medium");
  prints("::1", "local ::1 from :: dev lo table local proto kernel src ::1 metric 0 pref medium");
  prints(
      "2001:db8:122::1",
      "local 2001:db8:122::1 from :: dev lo table local src 2001:db8:1::1 metric 1024 pref medium");
  prints("2001:db8:123::1",
         "anycast 2001:db8:123::1 from :: dev east table local src 2001:db8:2::1 metric 1024 pref "
         "medium");
  prints("ff02::1 oif east",
         "multicast ff02::1 from :: dev east table local proto kernel src fe80::ff:fe00:2 metric "
         "256 pref medium");
  prints("fe80::1 oif east",
         "fe80::1 from :: dev east proto kernel src fe80::ff:fe00:2 metric 256 pref medium");
}

TEST_F(RouteGet, PrintsInputLookupsAsIpDoes) {
  prints("2001:db8:100::1 from 2001:db8:9::1 iif west",
         "2001:db8:100::1 from 2001:db8:9::1 via 2001:db8:2::2 dev east metric 1024 iif west pref "
         "medium");
  prints("2001:db8:101::1 from 2001:db8:9::1 iif west",
         "2001:db8:101::1 from 2001:db8:9::1 via 2001:db8:2::2 dev east src 2001:db8:1::1 metric "
         "50 mtu 1400 hoplimit 33 "
         "iif west pref medium");
  prints("2001:db8:109::1 from 2001:db8:9::1 iif west",
         "2001:db8:109::1 from 2001:db8:9::1 via 2001:db8:2::2 dev east metric 1024 iif west pref "
         "medium");
  prints("2001:db8:100::1 iif west oif west",
         "2001:db8:100::1 from :: via 2001:db8:2::2 dev east metric 1024 iif west pref medium");
}

TEST_F(RouteGet, TakesEveryWord) {
  prints("2001:db8:110::1 mark 7",
         "2001:db8:110::1 from :: via 2001:db8:2::2 dev east table 100 src 2001:db8:2::1 metric "
         "1024 pref medium");
  prints(
      "to 2001:db8:110::1/128 mark 0x7 tos 0x10 oif east uid 5 ipproto udp sport 5 dport 7 "
      "flowlabel 0x12345",
      "2001:db8:110::1 from :: via 2001:db8:2::2 dev east table 100 src 2001:db8:2::1 metric 1024 "
      "pref medium");
  prints("2001:db8:100::1 from 2001:db8:1::1",
         "2001:db8:100::1 from 2001:db8:1::1 via 2001:db8:2::2 dev east src 2001:db8:2::1 metric "
         "1024 pref medium");
}

TEST_F(RouteGet, FailsAsTheKernelDoes) {
  for (const std::string input : {"", " from 2001:db8:9::1 iif west"}) {
    fails("2001:db8:102::1" + input, "RTNETLINK answers: No route to host");
    fails("2001:db8:103::1" + input, "RTNETLINK answers: Permission denied");
    fails("2001:db8:104::1" + input, "RTNETLINK answers: Invalid argument");
    fails("2001:db8:105::1" + input, "RTNETLINK answers: Network is unreachable");
    fails("2001:db8:10d::1" + input, "RTNETLINK answers: Permission denied");
    fails("2001:db8:10e::1" + input, "RTNETLINK answers: Invalid argument");
    fails("2001:db8:10f::1" + input, "RTNETLINK answers: Network is unreachable");
    fails("2001:db8:110::1" + input, "RTNETLINK answers: Network is unreachable");
    fails("2001:db8:999::1" + input, "RTNETLINK answers: Network is unreachable");
  }
  fails("2001:db8:109::1", "RTNETLINK answers: Network is unreachable");
  fails("2001:db8:100::1 oif west", "RTNETLINK answers: Network is unreachable");
}

TEST_F(RouteGet, NamesTheDevicesThereAre) {
  const auto ran = get("2001:db8:100::1 iif nosuch");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("Cannot find device \"nosuch\""));
  EXPECT_THAT(ran.err, HasSubstr("lo, west, east"));
}

TEST_F(RouteGet, ExplainsTheWalk) {
  const auto ran = get("2001:db8:10a::1", {"--explain"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, HasSubstr("table 100"));
  EXPECT_THAT(ran.out, HasSubstr("rule 0:"));
  EXPECT_THAT(ran.out, HasSubstr("does not match"));
  EXPECT_THAT(ran.out, HasSubstr("2001:db8:10a::/48"));
  EXPECT_THAT(ran.out, HasSubstr("nexthop: "));
  EXPECT_THAT(ran.out, HasSubstr("ownership: "));
  const auto failed = get("2001:db8:10d::1", {"--explain"});
  EXPECT_EQ(failed.status, 1);
  EXPECT_THAT(failed.out, HasSubstr("prohibit"));
}

TEST_F(RouteGet, PrintsOneJsonObject) {
  const auto found =
      nlohmann::json::parse(get("2001:db8:101::1 iif west", {"--json", "--explain"}).out);
  EXPECT_EQ(found.at("gateway"), "2001:db8:2::2");
  EXPECT_EQ(found.at("dev"), "east");
  EXPECT_EQ(found.at("metric"), 50);
  EXPECT_EQ(found.at("iif"), "west");
  EXPECT_FALSE(found.at("explanation").at("rules").empty());
  const auto failed = nlohmann::json::parse(get("2001:db8:102::1", {"--json"}).out);
  EXPECT_EQ(failed.at("error"), "No route to host");
  EXPECT_EQ(failed.at("errno"), 113);
}

}  // namespace
}  // namespace sidestep::app
