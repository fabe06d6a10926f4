// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config.hpp"
#include "config/names.hpp"

namespace sidestep::config {
namespace {

using fib::RouteType;
using lookup::RouteChange;
using lookup::RouteVerb;
using testing::ElementsAre;
using testing::HasSubstr;

net::Ipv6Address ip(std::string_view text) { return net::Ipv6Address::parse(text).value(); }
net::Prefix prefix(std::string_view text) { return net::Prefix::parse(text).value(); }

std::vector<Command> parsed(std::string_view text) {
  auto result = parse(text, "t");
  if (!result) {
    for (const auto& diagnostic : result.error())
      ADD_FAILURE() << text << "\n" << diagnostic.to_string();
    return {};
  }
  return std::move(*result);
}

template <typename T>
T action(std::string_view text) {
  const auto commands = parsed(text);
  if (commands.size() != 1) {
    ADD_FAILURE() << commands.size() << " commands in " << text;
    return {};
  }
  const auto* found = std::get_if<T>(&commands[0].action);
  if (found == nullptr) ADD_FAILURE() << "another action: " << text;
  return found == nullptr ? T{} : *found;
}

template <typename T>
T change(std::string_view text) {
  const auto outer = action<lookup::Change>(text);
  const auto* found = std::get_if<T>(&outer);
  if (found == nullptr) ADD_FAILURE() << "another change: " << text;
  return found == nullptr ? T{} : *found;
}

RouteChange route(std::string_view text) { return change<RouteChange>(text); }
lookup::RuleChange rule(std::string_view text) { return change<lookup::RuleChange>(text); }

std::string mistake(std::string_view text) {
  const auto result = parse(text, "f");
  if (result) return "";
  EXPECT_EQ(result.error().size(), 1U) << text;
  return result.error()[0].to_string();
}

// --- routes

TEST(ParseRoute, VerbsAndTheirAbbreviations) {
  const std::pair<const char*, RouteVerb> cases[] = {
      {"a", RouteVerb::kAdd},       {"add", RouteVerb::kAdd},    {"ap", RouteVerb::kAppend},
      {"app", RouteVerb::kAppend},  {"p", RouteVerb::kPrepend},  {"r", RouteVerb::kReplace},
      {"rep", RouteVerb::kReplace}, {"c", RouteVerb::kChange},   {"chg", RouteVerb::kChange},
      {"d", RouteVerb::kDelete},    {"del", RouteVerb::kDelete}, {"delete", RouteVerb::kDelete}};
  for (const auto& [verb, expected] : cases) {
    EXPECT_EQ(route(std::string("route ") + verb + " 2001:db8::/32 dev a").verb, expected) << verb;
  }
}

TEST(ParseRoute, ReadsEveryOption) {
  const auto r = route(
      "r a 2001:db8::/32 via fe80::1 dev east metric 0x10 table 077 proto bgp src 2001:db8::1 mtu "
      "lock 1400 "
      "hoplimit 9 advmss 1300 onlink expires 30 pref high from 2001:db8:1::/48");
  EXPECT_EQ(r.destination, prefix("2001:db8::/32"));
  EXPECT_EQ(r.source, prefix("2001:db8:1::/48"));
  ASSERT_EQ(r.hops.size(), 1U);
  EXPECT_EQ(r.hops[0].gateway, ip("fe80::1"));
  EXPECT_EQ(r.hops[0].device, "east");
  EXPECT_TRUE(r.hops[0].onlink);
  EXPECT_EQ(r.metric, 16U);
  EXPECT_EQ(r.table, TableId{63});
  EXPECT_EQ(r.protocol, 186);
  EXPECT_EQ(r.preferred_source, ip("2001:db8::1"));
  EXPECT_EQ(r.mtu, 1400U);
  EXPECT_TRUE(r.mtu_locked);
  EXPECT_EQ(r.hop_limit, 9U);
  EXPECT_EQ(r.advmss, 1300U);
  EXPECT_EQ(r.expires_s, 30U);
  EXPECT_EQ(r.preference, fib::RouterPreference::kHigh);
  EXPECT_FALSE(r.type);
}

TEST(ParseRoute, AbbreviatesOptionsInIpsOrder) {
  EXPECT_EQ(route("route add ::/1 p 5").metric, 5U);
  EXPECT_EQ(route("route add ::/1 m 5").metric, 5U);
  EXPECT_EQ(route("route add ::/1 preference 5").metric, 5U);
  EXPECT_EQ(route("route add ::/1 pre low").preference, fib::RouterPreference::kLow);
  EXPECT_EQ(route("route add ::/1 pro static").protocol, 4);
  EXPECT_EQ(route("route add ::/1 t 5").table, TableId{5});
  EXPECT_EQ(route("route add ::/1 r 4").kept.values.at(9), 4U);   // reordering
  EXPECT_EQ(route("route add ::/1 rt 4").kept.values.at(5), 4U);  // rttvar
  EXPECT_EQ(route("route add ::/1 rtt 4s").kept.values.at(4), 32000U);
  EXPECT_EQ(route("route add ::/1 i 4").kept.values.at(11), 4U);
  EXPECT_EQ(route("route add ::/1 con lock reno").kept.congestion_control, "reno");
  EXPECT_EQ(route("route add ::/1 fa 1").kept.values.at(17), 1U);
  EXPECT_EQ(route("route add ::/1 rto_min 5ms").kept.locked, 1U << 13);
  EXPECT_EQ(route("route add ::/1 hoplimit lock 5").kept.locked, 1U << 10);
  for (const auto* word : {"sc link", "hop 5", "adv 5", "exp 5", "onl", "nhi 4", "de a", "mt 5"}) {
    EXPECT_NE(mistake(std::string("route add ::/1 ") + word), "") << word;
  }
}

TEST(ParseRoute, TypesAndTheirTables) {
  EXPECT_EQ(route("route add u ::/1").type, RouteType::kUnreachable);
  EXPECT_EQ(route("route add uni ::/1 dev a").type, RouteType::kUnicast);
  EXPECT_EQ(route("route add b ::/1 dev a").type, RouteType::kBroadcast);
  EXPECT_EQ(route("route add bl ::/1").type, RouteType::kBlackhole);
  EXPECT_EQ(route("route add any ::/1 dev a").type, RouteType::kAnycast);  // not `any`: everything
  EXPECT_EQ(route("route add proh ::/1").type, RouteType::kProhibit);
  EXPECT_EQ(route("route add throw ::/1").type, RouteType::kThrow);
  EXPECT_EQ(route("route add mu ::/1 dev a").type, RouteType::kMulticast);
  EXPECT_EQ(route("route add to unreachable ::/1").type, RouteType::kUnreachable);
  EXPECT_EQ(route("route add local ::/1 dev lo").table, kTableLocal);
  EXPECT_EQ(route("route add anycast ::/1 dev lo").table, kTableLocal);
  EXPECT_EQ(route("route add local ::/1 dev lo table main").table, kTableMain);
  EXPECT_FALSE(route("route add multicast ::/1 dev lo").table);
  EXPECT_THAT(mistake("route add nat ::/1"),
              HasSubstr("f:1:11: read 'nat'; expected a route type of IPv6"));
  EXPECT_NE(mistake("route add thr ::/1"), "");
}

TEST(ParseRoute, ABareAddressIsTheWholeAddress) {
  EXPECT_EQ(route("route add 2001:db8::2 dev a").destination.length(), 128);
  EXPECT_EQ(route("route add ::/0 dev a").destination.length(), 0);
  EXPECT_EQ(route("route add default dev a").destination, net::Prefix{});
  EXPECT_EQ(route("route add all dev a").destination, net::Prefix{});
  EXPECT_EQ(route("route add 2001:db8::1/32 dev a").destination, prefix("2001:db8::/32"));
  EXPECT_EQ(route("route add ::/0x40 dev a").destination.length(), 64);
  EXPECT_FALSE(route("route add ::/1 dev a from ::/0").source);
  EXPECT_FALSE(route("route add ::/1 dev a from default").source);
}

TEST(ParseRoute, ZeroMeansNotGiven) {
  const auto r = route("route add ::/1 dev a metric 0 proto 0 table 0");
  EXPECT_FALSE(r.metric);
  EXPECT_FALSE(r.protocol);
  EXPECT_EQ(r.table, kTableMain);
  EXPECT_EQ(route("route add ::/1 dev a proto static proto boot").protocol,
            3);  // the last one holds
}

TEST(ParseRoute, Multipath) {
  const auto r = route(
      "route add ::/1 dev up onlink nexthop via fe80::1 weight 3 nexthop via inet6 fe80::2 dev b "
      "weight 256 encap seg6 mode "
      "encap segs fc00::1 nexthop dev c");
  EXPECT_TRUE(r.multipath);
  ASSERT_EQ(r.hops.size(), 3U);
  EXPECT_EQ(r.hops[0].device, "up");
  EXPECT_TRUE(r.hops[0].onlink);
  EXPECT_EQ(r.hops[0].weight, 3);
  EXPECT_EQ(r.hops[1].device, "b");
  EXPECT_EQ(r.hops[1].weight, 256);
  EXPECT_TRUE(std::holds_alternative<fib::Seg6Encap>(r.hops[1].encap));
  EXPECT_FALSE(r.hops[2].gateway);
  EXPECT_EQ(mistake("route add ::/1 nexthop"),
            "f:1:23: read the end of the line; expected 'via' or 'dev' behind 'nexthop'");
  EXPECT_NE(mistake("route add ::/1 nexthop dev a weight 257"), "");
  EXPECT_NE(mistake("route add ::/1 nexthop dev a weight 0"), "");
  EXPECT_NE(mistake("route add ::/1 nexthop dev a wei 4"), "");
  EXPECT_NE(mistake("route add ::/1 nexthop dev a metric 4"), "");
  EXPECT_NE(mistake("route add ::/1 via fe80::1 via fe80::2"), "");
}

TEST(ParseRoute, ReadsWhatIpPrints) {
  auto r = route(
      "route add 2001:db8::/64 nhid 5 via fc00::9 dev e0 proto static metric 7 onlink pref medium");
  EXPECT_EQ(r.nexthop_id, NexthopId{5});
  EXPECT_TRUE(r.hops.empty());
  r = route("route add blackhole 2001:9::/64 nhid 4 dev lo metric 1024 pref medium");
  EXPECT_FALSE(r.type);
  r = route(
      "route add 2001:2a::/64 dev e0 metric 1024 linkdown expires 297sec error -101 pref medium");
  EXPECT_EQ(r.expires_s, 297U);
  r = route(
      "route add 2001:6::/64 proto static metric 1024 mtu 1300 pref medium\n"
      "\tnexthop via fc00::9 dev e0 weight 1 onlink \n"
      "\tnexthop  encap seg6 mode inline segs 2 [ fc00::1 :: ] hmac 20 via fc01::9 dev e2 weight "
      "256 dead linkdown \n");
  ASSERT_EQ(r.hops.size(), 2U);
  EXPECT_TRUE(r.hops[0].onlink);
  const auto encap = std::get<fib::Seg6Encap>(r.hops[1].encap);
  EXPECT_THAT(encap.segments, ElementsAre(ip("fc00::1")));
  EXPECT_EQ(encap.hmac_key_id, 0x20U);
  r = route(
      "route add 2001:1b::/64  encap seg6local action End.B6 segs 3 [ fc00::1 fc00::2 :: ] dev e0 "
      "metric 1024 pref medium");
  EXPECT_EQ(std::get<fib::Seg6LocalEncap>(r.hops.at(0).encap).srh_segments.size(), 2U);
}

// --- encapsulations

fib::Seg6LocalEncap local_encap(std::string_view text) {
  const auto r = route("route add ::/1 dev a encap seg6local " + std::string(text));
  return r.hops.empty() ? fib::Seg6LocalEncap{} : std::get<fib::Seg6LocalEncap>(r.hops[0].encap);
}
std::string local_mistake(std::string_view text) {
  return mistake("route add ::/1 dev a encap seg6local " + std::string(text));
}

TEST(ParseEncap, Seg6) {
  const auto r =
      route("route add ::/1 encap seg6 mode l2encap.red segs fc00::1,fc00::2 hmac 0x10 dev a");
  const auto encap = std::get<fib::Seg6Encap>(r.hops.at(0).encap);
  EXPECT_EQ(encap.mode, fib::Seg6Mode::kL2EncapRed);
  EXPECT_THAT(encap.segments, ElementsAre(ip("fc00::1"), ip("fc00::2")));
  EXPECT_EQ(encap.hmac_key_id, 16U);
  EXPECT_EQ(r.hops[0].device, "a");
  for (const auto* text :
       {"", "mode encap", "segs fc00::1 mode encap", "mode enc segs fc00::1",
        "mode encap segs fc00::1,", "mode encap segs ,fc00::1", "mode encap segs fc00::1,default",
        "mode encap segs 1 [ fc00::1", "mode encap segs 1 [ ]",
        "mode encap mode inline segs fc00::1", "mode encap segs fc00::1 hmac x"}) {
    EXPECT_NE(mistake(std::string("route add ::/1 dev a encap seg6 ") + text), "") << text;
  }
  std::string many = "fc00::1";
  for (int i = 0; i < 126; ++i) many += ",fc00::1";
  EXPECT_THAT(mistake("route add ::/1 dev a encap seg6 mode encap segs " + many),
              HasSubstr("at most 126 segments"));
}

TEST(ParseEncap, EveryBehavior) {
  using Action = fib::Seg6LocalAction;
  EXPECT_EQ(local_encap("action End").action, Action::kEnd);
  EXPECT_EQ(local_encap("nh6 fc00::9 action End.X").nh6, ip("fc00::9"));
  EXPECT_EQ(local_encap("action End.T table main").table, kTableMain);
  EXPECT_EQ(local_encap("action End.DX2 oif b").action, Action::kEndDX2);
  EXPECT_EQ(local_encap("action End.DX6 nh6 ::").nh6, ip("::"));
  EXPECT_EQ(local_encap("action End.DX4 nh4 10.0.0.1").nh4, net::Ipv4Address::parse("10.0.0.1"));
  EXPECT_EQ(local_encap("action End.DX4 nh4 10").nh4, net::Ipv4Address::parse("10.0.0.0"));
  EXPECT_EQ(local_encap("action End.DT6 table 5").table, TableId{5});
  EXPECT_EQ(local_encap("action End.DT6 vrftable 5").vrf_table, TableId{5});
  EXPECT_EQ(local_encap("action End.DT4 vrftable 5").action, Action::kEndDT4);
  EXPECT_EQ(local_encap("action End.DT46 vrftable 5").action, Action::kEndDT46);
  EXPECT_EQ(local_encap("action End.B6 srh segs fc00::1").srh_segments.size(), 1U);
  EXPECT_EQ(local_encap("action End.B6.Encaps srh segs fc00::1 hmac 7").srh_hmac_key_id, 7U);
  EXPECT_EQ(local_encap("action End.BPF endpoint obj a.o section b").bpf_object,
            "obj a.o section b");
  EXPECT_TRUE(local_encap("action End count").count);
  const auto flavored = local_encap("action End flavors psp,next-csid lblen 48 nflen 8");
  EXPECT_TRUE(flavored.flavor_psp && flavored.flavor_next_csid);
  EXPECT_EQ(flavored.lbl_bits, 48);
  EXPECT_EQ(flavored.lnfl_bits, 8);
  // What an action has no use for is forgotten, as the kernel forgets it.
  EXPECT_EQ(local_encap("action End.T table 5 flavors psp nh6 fc00::1"),
            local_encap("action End.T table 5"));
}

TEST(ParseEncap, RefusesWhatTheKernelWouldRefuse) {
  EXPECT_EQ(local_mistake("action End.X"),
            "f:1:45: read 'End.X'; expected 'nh6 ADDRESS' for action End.X");
  for (const auto* text : {"",
                           "count",
                           "action end",
                           "action End.BM",
                           "action End.T",
                           "action End.DX2",
                           "action End.DX4",
                           "action End.DX6",
                           "action End.DT6",
                           "action End.DT6 table 5 vrftable 5",
                           "action End.DT4 table 5",
                           "action End.DT46 table 5",
                           "action End.B6",
                           "action End.B6 srh fc00::1",
                           "action End.BPF",
                           "action End action End",
                           "action End count count",
                           "action End flavors",
                           "action End flavors foo",
                           "action End flavors psp,psp",
                           "action End flavors psp lblen 48",
                           "action End flavors next-csid lblen 0",
                           "action End flavors next-csid lblen 300",
                           "action End flavors next-csid lblen 17",
                           "action End flavors next-csid lblen 120 nflen 16",
                           "action End flavors next-csid nflen 16 lblen 48"}) {
    EXPECT_NE(local_mistake(text), "") << text;
  }
  EXPECT_THAT(
      mistake("route add ::/1 dev a encap mpls 100"),
      HasSubstr(
          "read 'mpls'; expected 'seg6' or 'seg6local', the encapsulations that are supported"));
}

// --- rules

TEST(ParseRule, EverySelector) {
  const auto c = rule(
      "rule add pref 10 not from 2001::/16 to 2002::/16 tos 0x10 fwmark 5/0xff iif e0 oif e1 "
      "uidrange 0-5 ipproto tcp sport 5 "
      "dport 6-7 tun_id 9 proto static table 77 suppress_prefixlength 3 suppress_ifgroup 5");
  const auto& r = c.rule;
  EXPECT_EQ(r.preference, 10U);
  EXPECT_TRUE(r.invert);
  EXPECT_EQ(r.from, prefix("2001::/16"));
  EXPECT_EQ(r.to, prefix("2002::/16"));
  EXPECT_EQ(r.dsfield, 0x10);
  EXPECT_EQ(r.fwmark, 5U);
  EXPECT_EQ(r.fwmask, 0xffU);
  EXPECT_EQ(r.iif, "e0");
  EXPECT_EQ(r.oif, "e1");
  EXPECT_EQ(r.uid_first, 0U);
  EXPECT_EQ(r.uid_last, 5U);
  EXPECT_EQ(r.ipproto, 6);
  EXPECT_EQ(r.sport, (rules::PortRange{5, 5}));
  EXPECT_EQ(r.dport, (rules::PortRange{6, 7}));
  EXPECT_EQ(r.tun_id, 9U);
  EXPECT_EQ(r.protocol, 4);
  EXPECT_EQ(r.table, TableId{77});
  EXPECT_EQ(r.suppress_prefix_length, 3U);
  EXPECT_EQ(r.suppress_ifgroup, 5U);
  EXPECT_TRUE(c.preference_given && c.table_given && !c.action_given && !c.remove);
}

// A23: what has no length is never wider than it says.
TEST(ParseRule, ABareAddressIsTheWholeAddress) {
  EXPECT_EQ(rule("rule add from 2001:db8::2 lookup 5").rule.from, prefix("2001:db8::2/128"));
  EXPECT_EQ(rule("rule add to 2001:db8::2 lookup 5").rule.to, prefix("2001:db8::2/128"));
  EXPECT_EQ(rule("rule add from :: lookup 5").rule.from, prefix("::/128"));
  EXPECT_EQ(rule("rule add from ::/0 lookup 5").rule.from.length(), 0);
  EXPECT_EQ(rule("rule add from all lookup 5").rule.from.length(), 0);
}

TEST(ParseRule, Actions) {
  EXPECT_EQ(rule("rule add pref 5").rule.table, kTableMain);
  EXPECT_EQ(rule("rule add from all lookup 5").rule.action, rules::Action::kToTable);
  EXPECT_EQ(rule("rule add goto 100").rule.goto_target, 100U);
  EXPECT_EQ(rule("rule add n").rule.action, rules::Action::kNop);
  EXPECT_EQ(rule("rule add black").rule.action, rules::Action::kBlackhole);
  EXPECT_EQ(rule("rule add u").rule.action, rules::Action::kUnreachable);
  EXPECT_EQ(rule("rule add type prohibit").rule.action, rules::Action::kProhibit);
  EXPECT_TRUE(rule("rule add l3mdev").rule.l3mdev);
  EXPECT_EQ(rule("rule add l3mdev").rule.table, TableId{});
  EXPECT_EQ(rule("rule del pref 5").rule.table, TableId{});
  EXPECT_TRUE(rule("rule d nop").action_given);
  for (const auto* text : {"", "lookup 0", "lookup foo", "l3mdev lookup 5", "nat 10.0.0.1",
                           "anycast", "b", "local", "garbage"}) {
    EXPECT_NE(mistake(std::string("rule add ") + text), "") << text;
  }
}

TEST(ParseRule, NumbersAsIpReadsThem) {
  EXPECT_EQ(rule("rule add tos 10 lookup 5").rule.dsfield, 0x10);  // hexadecimal without saying so
  EXPECT_EQ(rule("rule add tos AF11 lookup 5").rule.dsfield, 0x28);
  EXPECT_EQ(rule("rule add fwmark 5 lookup 5").rule.fwmask, 0xffffffffU);
  EXPECT_EQ(rule("rule add fwmark 0 lookup 5").rule.fwmask, 0U);
  EXPECT_EQ(rule("rule add fwmark 0/0xff lookup 5").rule.fwmask, 0xffU);
  EXPECT_EQ(rule("rule add ipproto UDP lookup 5").rule.ipproto, 17);
  EXPECT_EQ(rule("rule add ipproto 99 lookup 5").rule.ipproto, 99);
  EXPECT_EQ(rule("rule add dscp AF11 lookup 5").rule.dscp, 10);
  EXPECT_EQ(rule("rule add flowlabel 0x12/0xff lookup 5").rule.flow_label_mask, 0xffU);
  EXPECT_EQ(rule("rule add lookup 5 sup_pl 8").rule.suppress_prefix_length, 8U);
  EXPECT_EQ(rule("rule add lookup 5 s 8").rule.suppress_prefix_length, 8U);
  EXPECT_EQ(rule("rule add lookup 5 suppress_i default").rule.suppress_ifgroup, 0U);
  EXPECT_EQ(rule("rule add t 5").rule.tun_id, 5U);
  for (const auto* text :
       {"tos af11", "tos 11", "sport 0", "sport 65535", "sport 6-5", "sport http", "dport -5",
        "uidrange 5", "uidrange 6-5", "uidrange 0-4294967295", "ipproto 256", "ipproto 0x11",
        "fwmark x", "fwmark 1/", "pref -1", "from 10.0.0.0/8", "from ::/129", "iif a/b",
        "iif averyveryverylongname"}) {
    EXPECT_NE(mistake(std::string("rule add lookup 5 ") + text), "") << text;
  }
}

TEST(ParseRule, ReadsWhatIpPrints) {
  const auto c = rule(
      "rule add 12:\tnot from all iif nosuch [detached] ipproto ipproto-99 goto 100 [unresolved] "
      "proto bird");
  EXPECT_EQ(c.rule.preference, 12U);
  EXPECT_TRUE(c.preference_given);
  EXPECT_EQ(c.rule.ipproto, 99);
  EXPECT_EQ(c.rule.goto_target, 100U);
  EXPECT_TRUE(rule("rule add from all lookup [l3mdev-table]").rule.l3mdev);
}

// --- nexthop objects

TEST(ParseNexthop, KindsOfObjects) {
  auto n =
      change<lookup::NexthopChange>("nexthop add id 0x20 via fe80::1 dev a onlink proto static");
  EXPECT_EQ(n.id, NexthopId{32});
  EXPECT_EQ(n.hop.gateway, ip("fe80::1"));
  EXPECT_TRUE(n.hop.onlink);
  EXPECT_EQ(n.protocol, 4);
  n = change<lookup::NexthopChange>(
      "nexthop replace id 7 group 2,5/1 type resilient buckets 16 idle_timer 10 unbalanced_timer "
      "20");
  ASSERT_EQ(n.group.size(), 2U);
  EXPECT_EQ(n.group[0].weight, 5);
  EXPECT_TRUE(n.resilient);
  EXPECT_EQ(n.buckets, 16U);
  EXPECT_TRUE(change<lookup::NexthopChange>("nexthop add id 4 blackhole").blackhole);
  EXPECT_EQ(change<lookup::NexthopChange>("nex d id 4").verb, lookup::NexthopVerb::kDelete);
  action<KeptLine>("nexthop add id 17 via fc00::9 fdb");
  for (const auto* text :
       {"dev a", "id 0 dev a", "id 1 group 2,257", "id 1 group 2,0", "id 1 group 2/",
        "id 1 group 2,", "id 1 group", "id 1 group x", "id 1 group 2 type foo",
        "id 1 group 2 buckets 5", "id 1 group 2 type resilient idle_timer 10.5", "id 1 v fe80::1",
        "id 1 blackhole dev a", "id 1 group 2 dev a", "id 1 via inet 10.0.0.1 dev a"}) {
    EXPECT_NE(mistake(std::string("nexthop add ") + text), "") << text;
  }
}

TEST(ParseNexthop, ReadsWhatIpPrints) {
  change<lookup::NexthopChange>(
      "nexthop add id 12 via fc00::9 dev e0 scope link proto static onlink ");
  change<lookup::NexthopChange>(
      "nexthop add id 10 group 1/2 type resilient buckets 16 idle_timer 10 unbalanced_timer 20 "
      "unbalanced_time 0 ");
  change<lookup::NexthopChange>("nexthop add id 15  encap seg6local action End dev e0 scope link ");
}

// --- neighbors

TEST(ParseNeighbor, StatesAndFlags) {
  auto n = action<NeighborChange>("neigh add 2001:db8::1 lladdr 2:0:0:0:0:1 dev a");
  EXPECT_EQ(n.neighbor.state, neighbor::State::kPermanent);
  EXPECT_EQ(n.neighbor.mac.to_string(), "02:00:00:00:00:01");
  EXPECT_TRUE(n.neighbor.has_mac);
  EXPECT_EQ(n.device, "a");
  n = action<NeighborChange>("n rep 2001:db8::1 dev a ll 2:0:0:0:0:1 nud 0x04 router");
  EXPECT_EQ(n.neighbor.state, neighbor::State::kStale);
  EXPECT_TRUE(n.neighbor.router && n.replace && n.create);
  EXPECT_FALSE(action<NeighborChange>("neigh chg 2001:db8::1 dev a ll 2:0:0:0:0:1").create);
  EXPECT_FALSE(action<NeighborChange>("neigh add 2001:db8::1 dev a lladdr 2:0:0:0:0:1 nud failed")
                   .neighbor.has_mac);
  EXPECT_TRUE(action<NeighborChange>("neigh add proxy 2001:db8::1 dev a").neighbor.proxy);
  EXPECT_TRUE(action<NeighborChange>("neighbour del 2001:db8::1 dev a").remove);
  EXPECT_EQ(action<NeighborChange>(
                "neigh add fc00::3 dev e0 lladdr 02:00:00:00:00:01 router REACHABLE proto static ")
                .neighbor.state,
            neighbor::State::kReachable);
  for (const auto* text :
       {"dev a", "2001:db8::1", "2001:db8::1 dev a", "2001:db8::1/64 dev a lladdr 2:0:0:0:0:1",
        "2001:db8::1 dev a lladdr 02:00", "2001:db8::1 dev a lladdr 200:0:0:0:0:1",
        "2001:db8::1 dev a nud st", "2001:db8::1 dev a nud 256", "2001:db8::1 dev a n none",
        "2001:db8::1 2001:db8::2 dev a lladdr 2:0:0:0:0:1", "10.0.0.1 dev a lladdr 2:0:0:0:0:1"}) {
    EXPECT_NE(mistake(std::string("neigh add ") + text), "") << text;
  }
}

// --- addresses

TEST(ParseAddress, OptionsAndPeers) {
  auto a = change<lookup::AddressChange>(
      "address add 2001:db8::1/64 dev a noprefixroute nodad home metric 5 preferred_lft 0");
  EXPECT_EQ(a.address.address, ip("2001:db8::1"));
  EXPECT_EQ(a.address.prefix_length, 64);
  EXPECT_TRUE(a.address.no_prefix_route && a.address.home && a.address.deprecated);
  EXPECT_EQ(a.address.metric, 5U);
  EXPECT_EQ(change<lookup::AddressChange>("a a 2001:db8::1 dev a").address.prefix_length, 128);
  a = change<lookup::AddressChange>("addr add 2001:db8::1/64 peer 2001:db8::2/48 dev a");
  EXPECT_EQ(a.address.prefix_length, 48);
  EXPECT_EQ(a.address.peer, ip("2001:db8::2"));
  EXPECT_EQ(change<lookup::AddressChange>("address add local ::1/64 dev a peer ::2")
                .address.prefix_length,
            128);
  EXPECT_TRUE(change<lookup::AddressChange>("address chg ::1/64 dev a").replace);
  EXPECT_TRUE(change<lookup::AddressChange>("address d ::1/64 dev a").remove);
  for (const auto* text :
       {"dev a", "::1/64", "::1/129 dev a", "::1/64 d a", "::1/64 dev a valid_lft 0",
        "::1/64 dev a valid_lft 50", "::1/64 dev a valid_lft 50 preferred_lft 100",
        "::1/64 ::2/64 dev a", "::1/64 broadcast + dev a", "10.0.0.1/8 dev a",
        "::1/64 dev a preferred_lft 10s"}) {
    EXPECT_NE(mistake(std::string("address add ") + text), "") << text;
  }
}

// --- devices

TEST(ParseLink, AddAndSet) {
  auto l = change<lookup::LinkChange>(
      "link add name a address 02:00:00:00:00:01 mtu 1400 up group 7 type dummy what ever");
  EXPECT_EQ(l.name, "a");
  EXPECT_TRUE(l.create);
  EXPECT_EQ(l.kind, "dummy");
  EXPECT_EQ(l.mtu, 1400U);
  EXPECT_EQ(l.up, true);
  EXPECT_EQ(l.group, 7U);
  EXPECT_EQ(l.mac->to_string(), "02:00:00:00:00:01");
  EXPECT_EQ(change<lookup::LinkChange>("link add v type vrf table 100").vrf_table, TableId{100});
  l = change<lookup::LinkChange>(
      "link set dev a down carrier off master v addrgenmode none arp off alias x multicast on");
  EXPECT_FALSE(l.create);
  EXPECT_EQ(l.up, false);
  EXPECT_EQ(l.carrier, false);
  EXPECT_EQ(l.master, "v");
  EXPECT_EQ(l.addr_gen_mode, 1);
  EXPECT_EQ(change<lookup::LinkChange>("l s e0 nomaster").master, "");
  EXPECT_EQ(change<lookup::LinkChange>("link set up e0").up, true);
  // As for ip, a short name must not be a short keyword: `a` is `address`.
  EXPECT_NE(mistake("link set a up"), "");
  EXPECT_EQ(change<lookup::LinkDelete>("link del dev a type veth").name, "a");
  EXPECT_EQ(change<lookup::LinkDelete>("link del dev").name, "dev");
  for (const auto* text : {"add",
                           "add a",
                           "add type veth",
                           "add a type",
                           "add a type vrf",
                           "add a type vrf table 0",
                           "add a mtu 5 type dummy",
                           "add a type veth foo",
                           "add a netns b type veth",
                           "add a/b type dummy",
                           "add averylongdevicename type dummy",
                           "set",
                           "set a garbage",
                           "set a name b",
                           "set a mtu x",
                           "set a carrier maybe",
                           "set group 5 up",
                           "del",
                           "set a addrgenmode random",
                           "show",
                           "add a address 02:00 type dummy"}) {
    EXPECT_NE(mistake(std::string("link ") + text), "") << text;
  }
}

TEST(ParseLink, AVethIsTwoDevices) {
  const auto commands =
      parsed("link add e0 type veth peer name b address 02:00:00:00:00:02 mtu 1300");
  ASSERT_EQ(commands.size(), 2U);
  const auto peer = std::get<lookup::LinkChange>(std::get<lookup::Change>(commands[1].action));
  EXPECT_EQ(peer.name, "b");
  EXPECT_TRUE(peer.create);
  EXPECT_EQ(peer.kind, "veth");
  EXPECT_EQ(peer.mtu, 1300U);
  EXPECT_EQ(parsed("link add e0 type veth peer w0").size(), 2U);
  EXPECT_EQ(parsed("link add e0 type veth").size(), 1U);
}

// --- sr and sysctl

TEST(ParseSr, SourceAndKeys) {
  EXPECT_EQ(action<TunnelSourceChange>("sr tunsrc set fc00::1").source, ip("fc00::1"));
  EXPECT_EQ(action<TunnelSourceChange>("s t se default").source, ip("::"));
  const auto key = action<HmacKeyChange>("sr hmac set 0x5 sha1 'a secret'").key;
  EXPECT_EQ(key.id, 5U);
  EXPECT_EQ(key.algorithm, srv6::HmacAlgorithm::kSha1);
  EXPECT_EQ(key.secret, "a secret");
  EXPECT_EQ(action<HmacKeyChange>("sr hmac set 5 sha256").key.secret, "");
  for (const auto* text : {"", "foo", "tunsrc", "tunsrc set", "tunsrc s ::1", "tunsrc show",
                           "tunsrc set fc00::1/64", "tunsrc set ::1 x", "hmac set 5",
                           "hmac set 0 sha1 x", "hmac set x sha1", "hmac set 5 md5", "hmac show"}) {
    EXPECT_NE(mistake(std::string("sr ") + text), "") << text;
  }
}

TEST(ParseSysctl, FormsAndKeys) {
  for (const auto* text :
       {"sysctl -w net.ipv6.conf.all.forwarding=1", "sysctl net/ipv6/conf/all/forwarding=1",
        "sysctl -w net.ipv6.conf.all.forwarding = 1", "sysctl -qw net.ipv6.conf.all.forwarding= 1",
        "sysctl -w net.ipv6.conf.all.forwarding =0x1",
        "sysctl -w 'net.ipv6.conf.all.forwarding = 1'"}) {
    const auto s = change<lookup::SysctlChange>(text);
    EXPECT_EQ(s.key, "net.ipv6.conf.all.forwarding") << text;
    EXPECT_EQ(s.value, "1") << text;
  }
  EXPECT_EQ(change<lookup::SysctlChange>("sysctl -w net.ipv6.conf.e0/5.seg6_enabled=1").key,
            "net.ipv6.conf.e0.5.seg6_enabled");
  EXPECT_EQ(change<lookup::SysctlChange>("sysctl -w net/ipv6/conf/e0.5/seg6_enabled=1").key,
            "net.ipv6.conf.e0.5.seg6_enabled");
  EXPECT_EQ(change<lookup::SysctlChange>("sysctl -w net.ipv6.icmp.ratemask=0-1,3-127").value,
            "0-1,3-127");
  EXPECT_EQ(change<lookup::SysctlChange>("sysctl -w net.ipv6.conf.a.seg6_require_hmac=-1").value,
            "-1");
  action<KeptLine>("sysctl -w net.ipv4.fib_multipath_hash_seed=5");
  EXPECT_EQ(mistake("sysctl -w net.ipv6.conf.all.forwarding=x"),
            "f:1:40: read 'x'; expected a number");
  for (const auto* text :
       {"", "-w", "-w a", "-w a=1", "-w net.ipv6.conf.forwarding=1",
        "-w net.ipv6.conf.all.nosuch=1", "-x a=1", "-w net.ipv6.conf.all.forwarding",
        "-w net.ipv6.conf.all.forwarding=", "-w net.ipv6.conf.all.hop_limit=256",
        "-w net.ipv6.icmp.ratemask=300", "-w net.ipv6.conf.all.forwarding=1 2", "-w =1", "-w ="}) {
    EXPECT_NE(mistake(std::string("sysctl ") + text), "") << text;
  }
}

// --- the language around the objects

TEST(Parse, FamiliesOfLines) {
  EXPECT_EQ(route("-6 route add ::/1 dev a").destination.length(), 1);
  EXPECT_EQ(action<KeptLine>("-4 route add 10.0.0.0/8 via 10.1.1.1 dev a encap mpls 100").text,
            "-4 route add 10.0.0.0/8 via 10.1.1.1 dev a encap mpls 100");
  action<KeptLine>("-4 address add 10.0.0.1/24 brd + dev a label a:1");
  action<KeptLine>("-4 rule add from 10.0.0.0/8 lookup 5");
  action<KeptLine>("-4 neigh add 10.0.0.2 lladdr 2:0:0:0:0:1 dev a");
  action<KeptLine>("-4 nexthop add id 5 via 10.0.0.2 dev a");
  action<KeptLine>("-4 route add 10 via inet6 fe80::1 dev a");
  change<lookup::LinkChange>("-4 link set e0 up");
  EXPECT_THAT(mistake("-4 route add 10.0.0.0/33 dev a"),
              HasSubstr("f:1:14: read '10.0.0.0/33'; expected a prefix length of 0 to 32"));
  EXPECT_NE(mistake("-4 route add 10.0.0.256/8 dev a"), "");
  EXPECT_NE(mistake("-4 route add 1.2.3.4.5 dev a"), "");
  EXPECT_NE(mistake("-4 route add 2001:db8::/32 dev a"), "");
  EXPECT_NE(mistake("route add 10.0.0.0/8 dev a"), "");
  EXPECT_NE(mistake("-4"), "");
}

TEST(Parse, ObjectsAndTheirAbbreviations) {
  for (const auto* object : {"r", "ro", "rou", "route"})
    route(std::string(object) + " add ::/1 dev a");
  for (const auto* object : {"ru", "rul", "rule"}) rule(std::string(object) + " add nop");
  for (const auto* object :
       {"m", "t", "x", "i", "net", "monitor", "addrl", "h", "Route", "", "-5"}) {
    EXPECT_THAT(mistake("'" + std::string(object) + "' add ::/1"), HasSubstr("expected an object"))
        << object;
  }
  EXPECT_THAT(mistake("ip route add ::/1"), HasSubstr("without 'ip' before it"));
  EXPECT_THAT(mistake("route show"),
              HasSubstr("f:1:7: read 'show'; expected a change: add, append"));
  for (const auto* line : {"route", "route get ::1", "route flush", "route test ::/1", "rule show",
                           "rule flush", "neigh show", "link show", "address show", "nexthop flush",
                           "sr tunsrc show", "route list", "route help"}) {
    EXPECT_NE(mistake(line), "") << line;
  }
}

TEST(Parse, ReportsEveryMistakeOfAFile) {
  const auto result = parse(
      "link add name east type dummy\n"
      "route add 2001:db8::/129 dev east   # too long\n"
      "rout show\n"
      "route add 2001:db8::/32 dev\n"
      "rule add from 2001:db8::/32 lookup\n"
      "neigh add 2001:db8::1 dev east lladdr \\\n"
      "   02:00:zz\n"
      "sysctl -w net.ipv6.conf.all.forwarding=yes\n",
      "r.conf");
  ASSERT_FALSE(result);
  std::vector<std::string> texts;
  for (const auto& diagnostic : result.error()) texts.push_back(diagnostic.to_string());
  EXPECT_THAT(
      texts,
      ElementsAre("r.conf:2:11: read '2001:db8::/129'; expected a prefix length of 0 to 128",
                  "r.conf:3:6: read 'show'; expected a change: add, append, prepend, replace, "
                  "change or del",
                  HasSubstr("r.conf:4:28: read the end of the line; expected the name of a device"),
                  HasSubstr("r.conf:5:35: read the end of the line; expected a table"),
                  HasSubstr("r.conf:7:4: read '02:00:zz'; expected an Ethernet address"),
                  "r.conf:8:40: read 'yes'; expected a number"));
}

TEST(Parse, CommandsPointAtTheirObject) {
  const auto commands = parsed(
      "\nroute add unreachable 2001:db8::/32\nrule add from all pref 7 nop\n  link set up dev a");
  ASSERT_EQ(commands.size(), 3U);
  EXPECT_EQ(commands[0].line, 2U);
  EXPECT_EQ(commands[0].column, 23U);
  EXPECT_EQ(commands[0].object, "2001:db8::/32");
  EXPECT_EQ(commands[0].text, "route add unreachable 2001:db8::/32");
  EXPECT_EQ(commands[1].column, 24U);
  EXPECT_EQ(commands[2].column, 19U);
}

TEST(Parse, AnEmptyConfigurationIsOne) {
  EXPECT_TRUE(parsed("").empty());
  EXPECT_TRUE(parsed("# nothing\n\n").empty());
}

TEST(Names, NumbersInThreeBases) {
  EXPECT_EQ(parse_number("0x1F"), 31U);
  EXPECT_EQ(parse_number("017"), 15U);
  EXPECT_EQ(parse_number("+17"), 17U);
  EXPECT_EQ(parse_number("0"), 0U);
  for (const auto* text :
       {"", "08", "0x", "1x", "-1", " 1", "1 ", "18446744073709551616", "+", "1.5"}) {
    EXPECT_FALSE(parse_number(text)) << text;
  }
}

}  // namespace
}  // namespace sidestep::config
