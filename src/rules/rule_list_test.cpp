// SPDX-License-Identifier: Apache-2.0
// Order, duplicates and deletion. The expectations were read off a running kernel (6.18, `ip -6 rule`).
#include <sidestep/rules/rule_list.hpp>

#include <cerrno>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sidestep/fib/link.hpp>

namespace sidestep::rules {
namespace {

using ::testing::ElementsAre;

constexpr NamedFields kPreferenceNamed{.preference = true};

net::Prefix prefix(const char* text) { return net::Prefix::parse(text).value(); }

Rule lookup(std::uint32_t table) {
  Rule rule;
  rule.table = TableId{table};
  return rule;
}

Rule lookup_at(std::uint32_t preference, std::uint32_t table) {
  Rule rule = lookup(table);
  rule.preference = preference;
  return rule;
}

Rule action_at(std::uint32_t preference, Action action, std::uint32_t target = 0) {
  Rule rule;
  rule.preference = preference;
  rule.action = action;
  rule.goto_target = target;
  return rule;
}

std::vector<std::uint32_t> preferences(const RuleList& list) {
  std::vector<std::uint32_t> all;
  for (const Rule& rule : list.rules()) all.push_back(rule.preference);
  return all;
}

std::vector<std::uint32_t> tables(const RuleList& list) {
  std::vector<std::uint32_t> all;
  for (const Rule& rule : list.rules()) all.push_back(rule.table.value);
  return all;
}

int add_code(RuleList& list, const Rule& rule) {
  const auto result = list.add(rule, kPreferenceNamed);
  return result ? 0 : result.error().code;
}

TEST(RuleList, StartsAsTheKernelDoes) {
  const RuleList list;
  EXPECT_THAT(preferences(list), ElementsAre(0, 32766));
  EXPECT_THAT(tables(list), ElementsAre(255, 254));
  EXPECT_FALSE(list.custom());
}

TEST(RuleList, DefaultPreferenceIsBeforeTheSecondRule) {
  RuleList list;
  EXPECT_EQ(list.add(lookup(100), {})->preference, 32765U);
  EXPECT_EQ(list.add(lookup(101), {})->preference, 32764U);
  EXPECT_THAT(tables(list), ElementsAre(255, 101, 100, 254));
  ASSERT_TRUE(list.add(lookup_at(16, 7), kPreferenceNamed));
  EXPECT_EQ(list.add(lookup(102), {})->preference, 15U);
}

TEST(RuleList, DefaultPreferenceWithFewerThanTwoRulesIsZero) {
  RuleList list;
  while (!list.rules().empty()) ASSERT_TRUE(list.erase(Rule{}, {}));
  EXPECT_EQ(list.add(lookup(7), {})->preference, 0U);
  EXPECT_EQ(list.add(lookup(8), {})->preference, 0U);
  EXPECT_EQ(list.add(lookup(9), {})->preference, 0U);  // the second rule's is 0 already
  EXPECT_THAT(tables(list), ElementsAre(7, 8, 9));
}

TEST(RuleList, EqualPreferencesKeepTheirAge) {
  RuleList list;
  for (const std::uint32_t table : {5U, 3U, 4U})
    ASSERT_EQ(add_code(list, lookup_at(100, table)), 0);
  EXPECT_THAT(tables(list), ElementsAre(255, 5, 3, 4, 254));
}

TEST(RuleList, CustomIsSetByTheFirstAdditionForGood) {
  RuleList list;
  ASSERT_TRUE(list.erase(lookup_at(32766, 0), kPreferenceNamed));
  EXPECT_FALSE(list.custom());
  EXPECT_EQ(add_code(list, lookup_at(5, 0)), EINVAL);
  EXPECT_FALSE(list.custom());
  ASSERT_EQ(add_code(list, lookup_at(5, 9)), 0);
  EXPECT_TRUE(list.custom());
  ASSERT_TRUE(list.erase(lookup_at(5, 0), kPreferenceNamed));
  EXPECT_TRUE(list.custom());
}

TEST(RuleList, DuplicatesAreRefused) {
  RuleList list;
  Rule with_source = lookup_at(100, 100);
  with_source.from = prefix("2001:db8::/32");
  ASSERT_EQ(add_code(list, with_source), 0);
  EXPECT_EQ(add_code(list, with_source), EEXIST);
  // What the new rule does not say is not compared.
  EXPECT_EQ(add_code(list, lookup_at(100, 100)), EEXIST);
  // Nor is `not`.
  Rule inverted = with_source;
  inverted.invert = true;
  EXPECT_EQ(add_code(list, inverted), EEXIST);
  // What it says differently is.
  Rule longer = with_source;
  longer.from = prefix("2001:db8::/33");
  EXPECT_EQ(add_code(list, longer), 0);
  Rule by_protocol = with_source;
  by_protocol.protocol = 4;
  EXPECT_EQ(add_code(list, by_protocol), 0);
  Rule by_tos = with_source;
  by_tos.dsfield = 0x10;
  EXPECT_EQ(add_code(list, by_tos), 0);
  EXPECT_EQ(list.rules().size(), 6U);
}

TEST(RuleList, GotoTargetsDoNotTellRulesApart) {
  RuleList list;
  ASSERT_EQ(add_code(list, action_at(200, Action::kGoto, 300)), 0);
  EXPECT_EQ(add_code(list, action_at(200, Action::kGoto, 301)), EEXIST);
}

TEST(RuleList, TheMainRuleOfAUserIsNotTheKernels) {
  RuleList list;
  EXPECT_EQ(add_code(list, lookup_at(32766, 254)), 0);  // the initial one has protocol kernel
  EXPECT_EQ(add_code(list, lookup_at(32766, 254)), EEXIST);
}

TEST(RuleList, RefusesWhatTheKernelRefuses) {
  RuleList list;
  const auto refused = [&](const Rule& rule) {
    const auto result = list.add(rule, kPreferenceNamed);
    EXPECT_FALSE(result.has_value());
    return result                          ? std::string()
           : result.error().code == EINVAL ? result.error().message
                                           : "not EINVAL";
  };
  EXPECT_EQ(refused(action_at(200, Action::kGoto, 200)), "Backward goto not supported");
  EXPECT_EQ(refused(action_at(200, Action::kGoto, 100)), "Backward goto not supported");
  EXPECT_EQ(refused(lookup_at(5, 0)), "Invalid table");
  Rule rule = lookup_at(5, 9);
  rule.dsfield = 0x11;
  EXPECT_EQ(refused(rule), "Invalid dsfield (tos): ECN bits must be 0");
  rule = lookup_at(5, 9);
  rule.uid_first = 5;
  rule.uid_last = 3;
  EXPECT_EQ(refused(rule), "Invalid uid range");
  rule.uid_last = 4294967295;
  EXPECT_EQ(refused(rule), "Invalid uid range");
  for (const PortRange range : {PortRange{0, 5}, PortRange{5, 65535}, PortRange{5, 4}}) {
    rule = lookup_at(5, 9);
    rule.sport = range;
    EXPECT_EQ(refused(rule), "Invalid sport range");
    rule.sport.reset();
    rule.dport = range;
    EXPECT_EQ(refused(rule), "Invalid dport range");
  }
  rule = lookup_at(5, 9);
  rule.l3mdev = true;
  EXPECT_EQ(refused(rule), "l3mdev and table are mutually exclusive");
  EXPECT_THAT(preferences(list), ElementsAre(0, 32766));
}

TEST(RuleList, DeletesTheFirstThatHasWhatWasNamed) {
  RuleList list;
  ASSERT_EQ(add_code(list, action_at(5, Action::kBlackhole)), 0);
  ASSERT_EQ(add_code(list, lookup_at(100, 10)), 0);
  Rule with_source = lookup_at(103, 10);
  with_source.from = prefix("2001:db8::/32");
  with_source.invert = true;
  ASSERT_EQ(add_code(list, with_source), 0);

  EXPECT_EQ(list.erase(lookup(11), {.table = true}).error().code, ENOENT);
  Rule wrong = with_source;
  wrong.from = prefix("2001:db8::/33");
  EXPECT_EQ(list.erase(wrong, {}).error().code, ENOENT);
  Rule plain;
  plain.from = prefix("2001:db8::/32");
  EXPECT_EQ(list.erase(plain, {})->preference, 103U);  // without `not`
  EXPECT_EQ(list.erase(lookup(10), {.table = true})->preference, 100U);
  EXPECT_EQ(list.erase(action_at(0, Action::kBlackhole), {.action = true})->preference, 5U);
  EXPECT_EQ(list.erase(lookup_at(7, 0), kPreferenceNamed).error().code, ENOENT);
}

TEST(RuleList, DeletingAGotoTakesTheFirstGoto) {
  RuleList list;
  ASSERT_EQ(add_code(list, action_at(120, Action::kGoto, 130)), 0);
  ASSERT_EQ(add_code(list, action_at(121, Action::kGoto, 131)), 0);
  EXPECT_EQ(list.erase(action_at(0, Action::kGoto, 131), {.action = true})->preference, 120U);
}

TEST(RuleList, MarksAreToldApartByTheirMasks) {
  RuleList list;
  Rule whole = lookup_at(100, 10);
  whole.fwmark = 1;
  whole.fwmask = 0xffffffff;
  Rule masked = whole;
  masked.fwmask = 0xff;
  ASSERT_EQ(add_code(list, whole), 0);
  ASSERT_EQ(add_code(list, masked), 0);
  Rule wanted;
  wanted.fwmark = 1;
  wanted.fwmask = 0xff;
  EXPECT_EQ(list.erase(wanted, {})->fwmask, 0xffU);
  wanted.fwmask = 0;
  EXPECT_EQ(list.erase(wanted, {})->fwmask, 0xffffffffU);
}

TEST(RuleList, SuppressorsOfZeroAreNamed) {
  RuleList list;
  ASSERT_EQ(add_code(list, lookup_at(69, 10)), 0);
  Rule suppressing = lookup_at(70, 10);
  suppressing.suppress_prefix_length = 0;
  ASSERT_EQ(add_code(list, suppressing), 0);
  Rule wanted;
  wanted.suppress_prefix_length = 0;
  EXPECT_EQ(list.erase(wanted, {})->preference, 70U);
}

TEST(CompiledRuleList, GotoLeadsToTheFirstRuleOfItsTarget) {
  RuleList list;
  ASSERT_EQ(add_code(list, action_at(10, Action::kGoto, 100)), 0);
  ASSERT_EQ(add_code(list, action_at(11, Action::kGoto, 101)), 0);
  const fib::Links links;
  EXPECT_FALSE(CompiledRuleList(list, links).rules()[1].goto_index());
  ASSERT_EQ(add_code(list, lookup_at(100, 5)), 0);
  ASSERT_EQ(add_code(list, lookup_at(100, 6)), 0);
  const CompiledRuleList resolved(list, links);
  EXPECT_EQ(resolved.rules()[1].goto_index(), 3U);
  EXPECT_FALSE(resolved.rules()[2].goto_index());
  ASSERT_TRUE(list.erase(lookup_at(100, 5), {.preference = true, .table = true}));
  const CompiledRuleList moved(list, links);
  ASSERT_TRUE(moved.rules()[1].goto_index());
  EXPECT_EQ(moved.rules()[*moved.rules()[1].goto_index()].rule().table, TableId{6});
}

TEST(CompiledRuleList, OutlivesItsSource) {
  auto list = std::make_unique<RuleList>();
  auto links = std::make_unique<fib::Links>();
  const CompiledRuleList compiled(*list, *links);
  list.reset();
  links.reset();
  EXPECT_EQ(compiled.rules().size(), 2U);
  EXPECT_EQ(compiled.plain()[1].table, kTableMain);
  EXPECT_EQ(compiled.rules()[0].table(Flow{}), kTableLocal);
  EXPECT_TRUE(compiled.rules()[0].matches(Flow{}));
  EXPECT_FALSE(compiled.custom());
}

}  // namespace
}  // namespace sidestep::rules
