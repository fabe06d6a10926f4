// SPDX-License-Identifier: Apache-2.0
// Each selector, matching and not, and what changes when devices come and go.
#include <sidestep/rules/compiled_rule.hpp>

#include <functional>
#include <string>

#include <gtest/gtest.h>

#include <sidestep/fib/link.hpp>
#include <sidestep/rules/rule_list.hpp>

namespace sidestep::rules {
namespace {

net::Ipv6Address address(const char* text) { return net::Ipv6Address::parse(text).value(); }
net::Prefix prefix(const char* text) { return net::Prefix::parse(text).value(); }

// lo 1, west 2, east 3, blue 4 (VRF, table 10), south 5 (in blue).
fib::Links devices() {
  fib::Links links;
  links.add("west");
  links.add("east");
  links.add("blue").vrf_table = TableId{10};
  links.add("south").master = IfIndex{4};
  return links;
}

Flow forwarded() {
  Flow flow;
  flow.destination = address("2001:db8:d::1");
  flow.source = address("2001:db8:5::1");
  flow.iif = IfIndex{2};
  flow.protocol = 17;
  flow.source_port = 1000;
  flow.destination_port = 53;
  flow.mark = 0x15;
  flow.traffic_class = 0xb9;  // DSCP 46, ECN 1
  flow.flow_label = 0x12345;
  return flow;
}

// One rule between the initial two, compiled.
class Subject {
 public:
  explicit Subject(Rule rule, const fib::Links& links = devices()) {
    if (rule.action == Action::kToTable && !rule.l3mdev) rule.table = TableId{100};
    rule.preference = 100;
    RuleList list;
    EXPECT_TRUE(list.add(rule, NamedFields{.preference = true}).has_value());
    compiled_ = std::make_unique<CompiledRuleList>(list, links);
  }
  [[nodiscard]] const CompiledRule& rule() const { return compiled_->rules()[1]; }
  [[nodiscard]] const CompiledRuleList& list() const { return *compiled_; }

 private:
  std::unique_ptr<CompiledRuleList> compiled_;
};

struct SelectorCase {
  const char* name;
  Selector selector;
  std::function<void(Rule&)> matching;
  std::function<void(Rule&)> failing;
};

void PrintTo(const SelectorCase& value, std::ostream* out) { *out << value.name; }

class EachSelector : public ::testing::TestWithParam<SelectorCase> {};

TEST_P(EachSelector, MatchesFailsAndInverts) {
  const auto& [name, selector, matching, failing] = GetParam();
  for (const bool invert : {false, true}) {
    Rule good;
    matching(good);
    good.invert = invert;
    const Subject matched(good);
    EXPECT_EQ(matched.rule().matches(forwarded()), !invert);
    EXPECT_EQ(matched.rule().first_mismatch(forwarded()), Selector::kNone);

    Rule bad;
    failing(bad);
    bad.invert = invert;
    const Subject failed(bad);
    EXPECT_EQ(failed.rule().matches(forwarded()), invert);
    EXPECT_EQ(failed.rule().first_mismatch(forwarded()), selector);
    const std::string reason = failed.rule().reason(forwarded());
    EXPECT_TRUE(reason.starts_with(selector_word(selector))) << reason;
    EXPECT_EQ(reason.find("not` inverts") != std::string::npos, invert) << reason;
  }
}

const SelectorCase kCases[] = {
    {"iif", Selector::kIif, [](Rule& r) { r.iif = "west"; }, [](Rule& r) { r.iif = "east"; }},
    {"iif_unknown", Selector::kIif, [](Rule&) {}, [](Rule& r) { r.iif = "nowhere"; }},
    {"iif_lo_is_local", Selector::kIif, [](Rule&) {}, [](Rule& r) { r.iif = "lo"; }},
    {"oif_never_forwarded", Selector::kOif, [](Rule&) {}, [](Rule& r) { r.oif = "west"; }},
    {"fwmark", Selector::kFwmark,
     [](Rule& r) {
       r.fwmark = 0x15;
       r.fwmask = 0xffffffff;
     },
     [](Rule& r) {
       r.fwmark = 0x5;
       r.fwmask = 0xffffffff;
     }},
    {"fwmark_under_no_mask", Selector::kFwmark, [](Rule& r) { r.fwmark = 0x5; },
     [](Rule& r) { r.fwmask = 1; }},
    {"fwmark_mask", Selector::kFwmark,
     [](Rule& r) {
       r.fwmark = 0x5;
       r.fwmask = 0xf;
     },
     [](Rule& r) {
       r.fwmark = 0x25;
       r.fwmask = 0xf0;
     }},
    {"fwmark_zero_under_mask", Selector::kFwmark, [](Rule& r) { r.fwmask = 0xe0; },
     [](Rule& r) { r.fwmask = 0x10; }},
    {"tun_id", Selector::kTunId, [](Rule&) {}, [](Rule& r) { r.tun_id = 7; }},
    {"l3mdev", Selector::kL3mdev, [](Rule&) {}, [](Rule& r) { r.l3mdev = true; }},
    {"uidrange", Selector::kUidRange,
     [](Rule& r) {
       r.uid_first = 0;
       r.uid_last = 0;
     },
     [](Rule& r) {
       r.uid_first = 1;
       r.uid_last = 9;
     }},
    {"to", Selector::kTo, [](Rule& r) { r.to = prefix("2001:db8:d::/48"); },
     [](Rule& r) { r.to = prefix("2001:db8:c::/48"); }},
    {"to_last_bit", Selector::kTo, [](Rule& r) { r.to = prefix("2001:db8:d::1/128"); },
     [](Rule& r) { r.to = prefix("2001:db8:d::/128"); }},
    {"from", Selector::kFrom, [](Rule& r) { r.from = prefix("2001:db8:5::/48"); },
     [](Rule& r) { r.from = prefix("2001:db8:6::/47"); }},
    {"tos_ignores_ecn", Selector::kDsfield, [](Rule& r) { r.dsfield = 0xb8; },
     [](Rule& r) { r.dsfield = 0xb4; }},
    {"dscp", Selector::kDscp, [](Rule& r) { r.dscp = 46; }, [](Rule& r) { r.dscp = 0; }},
    {"dscp_mask", Selector::kDscp,
     [](Rule& r) {
       r.dscp = 0x20;
       r.dscp_mask = 0x30;
     },
     [](Rule& r) {
       r.dscp = 0x10;
       r.dscp_mask = 0x30;
     }},
    {"flowlabel", Selector::kFlowLabel, [](Rule& r) { r.flow_label = 0x12345; },
     [](Rule& r) { r.flow_label = 0x12346; }},
    {"flowlabel_mask", Selector::kFlowLabel,
     [](Rule& r) {
       r.flow_label = 0x45;
       r.flow_label_mask = 0xff;
     },
     [](Rule& r) {
       r.flow_label = 0;
       r.flow_label_mask = 0xff;
     }},
    {"ipproto", Selector::kIpproto, [](Rule& r) { r.ipproto = 17; },
     [](Rule& r) { r.ipproto = 6; }},
    {"sport_first", Selector::kSport, [](Rule& r) { r.sport = PortRange{1000, 2000}; },
     [](Rule& r) { r.sport = PortRange{1001, 2000}; }},
    {"sport_last", Selector::kSport, [](Rule& r) { r.sport = PortRange{1, 1000}; },
     [](Rule& r) { r.sport = PortRange{1, 999}; }},
    {"dport", Selector::kDport, [](Rule& r) { r.dport = PortRange{53, 53}; },
     [](Rule& r) { r.dport = PortRange{54, 54}; }},
};

INSTANTIATE_TEST_SUITE_P(All, EachSelector, ::testing::ValuesIn(kCases),
                         [](const auto& instance) { return std::string(instance.param.name); });

TEST(CompiledRule, AllSelectorsMustMatch) {
  Rule rule;
  rule.iif = "west";
  rule.from = prefix("2001:db8:5::/48");
  rule.ipproto = 17;
  const Subject subject(rule);
  EXPECT_TRUE(subject.rule().matches(forwarded()));
  Flow other = forwarded();
  other.protocol = 6;
  EXPECT_FALSE(subject.rule().matches(other));
  other.iif = IfIndex{3};
  EXPECT_EQ(subject.rule().first_mismatch(other), Selector::kIif);  // the kernel's order
}

TEST(CompiledRule, LoMeansLocallyGenerated) {
  Rule rule;
  rule.iif = "lo";
  const Subject subject(rule);
  Flow local = forwarded();
  local.iif = kLoopbackIndex;
  EXPECT_TRUE(subject.rule().matches(local));
}

TEST(CompiledRule, OifIsForOutputWithADevice) {
  Rule rule;
  rule.oif = "east";
  const Subject subject(rule);
  Flow flow = forwarded();
  flow.iif = kLoopbackIndex;
  EXPECT_FALSE(subject.rule().matches(flow));
  flow.oif = IfIndex{3};
  EXPECT_TRUE(subject.rule().matches(flow));
}

TEST(CompiledRule, FromNeedsASource) {
  Rule rule;
  rule.from = prefix("2001:db8:5::/48");
  Flow flow = forwarded();
  flow.has_source = false;
  EXPECT_FALSE(Subject(rule).rule().matches(flow));
  EXPECT_NE(Subject(rule).rule().reason(flow).find("no source yet"), std::string::npos);
  rule.invert = true;
  EXPECT_TRUE(Subject(rule).rule().matches(flow));
  EXPECT_TRUE(Subject(Rule{}).rule().matches(flow));  // `from all` asks nothing
}

TEST(CompiledRule, TheInvalidUidIsInNoRange) {
  Rule rule;
  rule.uid_first = 0;
  rule.uid_last = 4294967294;
  Flow flow = forwarded();
  flow.uid.reset();
  EXPECT_FALSE(Subject(rule).rule().matches(flow));
  EXPECT_TRUE(Subject(Rule{}).rule().matches(flow));
}

TEST(CompiledRule, AnUnknownDeviceMatchesOnceItAppears) {
  Rule rule;
  rule.iif = "late";
  fib::Links links = devices();
  const Subject before(rule, links);
  EXPECT_NE(before.rule().reason(forwarded()).find("no such device"), std::string::npos);
  Flow flow = forwarded();
  flow.iif = links.add("late").index;
  EXPECT_FALSE(before.rule().matches(flow));
  EXPECT_TRUE(Subject(rule, links).rule().matches(flow));
}

TEST(CompiledRule, AnUnknownDeviceIsNotTheMissingOutputDevice) {
  Rule rule;
  rule.oif = "late";
  EXPECT_FALSE(Subject(rule).rule().matches(forwarded()));  // index "none" on both sides
}

TEST(CompiledRule, L3mdevTakesTheVrfsTable) {
  Rule rule;
  rule.l3mdev = true;
  const Subject subject(rule);
  Flow flow = forwarded();
  flow.iif = IfIndex{5};
  ASSERT_TRUE(subject.rule().matches(flow));
  EXPECT_EQ(subject.rule().table(flow), TableId{10});
  flow.iif = IfIndex{4};
  EXPECT_TRUE(subject.rule().matches(flow));
  flow.iif = kLoopbackIndex;
  EXPECT_FALSE(subject.rule().matches(flow));
  flow.oif = IfIndex{5};
  EXPECT_TRUE(subject.rule().matches(flow));
}

TEST(CompiledRule, AVrfSelectorTakesItsSlaves) {
  Rule rule;
  rule.iif = "blue";
  const Subject subject(rule);
  Flow flow = forwarded();
  EXPECT_FALSE(subject.rule().matches(flow));
  flow.iif = IfIndex{5};
  EXPECT_TRUE(subject.rule().matches(flow));
}

TEST(CompiledRule, PortsAreNeededUnlessLocalOnly) {
  EXPECT_FALSE(Subject(Rule{}).list().needs_ports());
  Rule rule;
  rule.ipproto = 17;
  EXPECT_TRUE(Subject(rule).list().needs_ports());
  rule.iif = "lo";
  EXPECT_FALSE(Subject(rule).list().needs_ports());
  Rule ports;
  ports.iif = "nowhere";
  ports.dport = PortRange{53, 53};
  EXPECT_TRUE(Subject(ports).list().needs_ports());
}

TEST(CompiledRule, AMatchSaysSo) {
  EXPECT_EQ(Subject(Rule{}).rule().reason(forwarded()), "every selector matches");
}

}  // namespace
}  // namespace sidestep::rules
