// SPDX-License-Identifier: Apache-2.0
// Policy rules.
//
// The editable list is a vector of plain rules sorted by preference, older first among equals. What counts as the
// same rule differs between adding and deleting, as in the kernel:
//
// - Adding compares everything but `not` and the target of a goto; of to, from, tos, dscp and the flow label it compares
//   only those that the new rule has. So `pref 5 lookup 9` is refused where `pref 5 from X lookup 9` is, but not the
//   other way round.
// - Deleting looks for the first rule that has what was named, with the same blindness to `not` and goto targets:
//   deleting `goto 7` takes the first goto rule, whatever its target.
//
// Goto targets are derived when the list is compiled: the first rule of the target preference. The kernel resolves
// them as rules come and go, with the same outcome, because a goto only leads forward.
//
// The bit `custom` is the kernel's memory of whether any rule was ever added; while it is clear, lookups are wired to
// local, then main, and deletions have no effect. It is never cleared.
//
// A compiled list is immutable and self-contained: it copies the rules, and its compiled rules point into its own
// copies, which is why it cannot be copied itself.
#include <sidestep/rules/rule_list.hpp>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <sidestep/fib/link.hpp>

namespace sidestep::rules {
namespace {

constexpr std::uint32_t kInvalidUid = 0xffffffff;
constexpr std::uint32_t kPreferenceMain = 32766;
constexpr std::uint8_t kProtocolKernel = 2;  // RTPROT_KERNEL: who made the initial rules
constexpr std::uint8_t kEcnBits = 0x03;

bool is_valid_range(const std::optional<PortRange>& range) {
  return !range || (range->first != 0 && range->last != 0xffff && range->first <= range->last);
}

bool is_valid_uids(const Rule& rule) {
  return !rule.uid_first || (*rule.uid_first <= rule.uid_last && rule.uid_last != kInvalidUid);
}

// The kernel's own refusals, in its words.
const char* refusal_of(const Rule& rule) {
  const bool to_table = rule.action == Action::kToTable;
  if (rule.l3mdev && rule.table != TableId{}) return "l3mdev and table are mutually exclusive";
  if (rule.action == Action::kGoto && rule.goto_target <= rule.preference)
    return "Backward goto not supported";
  if (!is_valid_uids(rule)) return "Invalid uid range";
  if (!is_valid_range(rule.sport)) return "Invalid sport range";
  if (!is_valid_range(rule.dport)) return "Invalid dport range";
  if ((rule.dsfield & kEcnBits) != 0) return "Invalid dsfield (tos): ECN bits must be 0";
  if (rule.dsfield != 0 && rule.dscp) return "Cannot specify both TOS and DSCP";
  if (to_table && !rule.l3mdev && rule.table == TableId{}) return "Invalid table";
  return nullptr;
}

// Addresses and header fields: only what `wanted` has is compared (kernel: fib6_rule_compare).
bool agrees_where_given(const Rule& rule, const Rule& wanted) {
  if (wanted.from.length() != 0 && rule.from != wanted.from) return false;
  if (wanted.to.length() != 0 && rule.to != wanted.to) return false;
  if (wanted.dsfield != 0 && (rule.dscp || rule.dsfield != wanted.dsfield)) return false;
  if (wanted.dscp && (rule.dscp != wanted.dscp || rule.dscp_mask != wanted.dscp_mask)) return false;
  return !wanted.flow_label ||
         (rule.flow_label == wanted.flow_label && rule.flow_label_mask == wanted.flow_label_mask);
}

bool same_uids(const Rule& a, const Rule& b) {
  return a.uid_first == b.uid_first && (!a.uid_first || a.uid_last == b.uid_last);
}

// Whether the kernel refuses `added` because of `rule` (kernel: rule_exists).
bool is_taken_for_same(const Rule& rule, const Rule& added) {
  return rule.action == added.action && rule.table == added.table &&
         rule.preference == added.preference && rule.iif == added.iif && rule.oif == added.oif &&
         rule.fwmark == added.fwmark && rule.fwmask == added.fwmask &&
         rule.suppress_ifgroup == added.suppress_ifgroup &&
         rule.suppress_prefix_length == added.suppress_prefix_length &&
         rule.tun_id == added.tun_id && rule.l3mdev == added.l3mdev && same_uids(rule, added) &&
         rule.ipproto == added.ipproto && rule.protocol == added.protocol &&
         rule.sport == added.sport && rule.dport == added.dport && agrees_where_given(rule, added);
}

template <typename T>
bool agrees(const T& has, const T& wanted) {
  return wanted == T{} || has == wanted;
}

// Whether a delete of `wanted` takes `rule` (kernel: rule_find).
bool has_all_named(const Rule& rule, const Rule& wanted, NamedFields named) {
  if (named.action && rule.action != wanted.action) return false;
  if (named.table && !agrees(rule.table, wanted.table)) return false;
  if (named.preference && rule.preference != wanted.preference) return false;
  if (wanted.uid_first && !same_uids(rule, wanted)) return false;
  return agrees(rule.iif, wanted.iif) && agrees(rule.oif, wanted.oif) &&
         agrees(rule.fwmark, wanted.fwmark) && agrees(rule.fwmask, wanted.fwmask) &&
         agrees(rule.suppress_ifgroup, wanted.suppress_ifgroup) &&
         agrees(rule.suppress_prefix_length, wanted.suppress_prefix_length) &&
         agrees(rule.tun_id, wanted.tun_id) && agrees(rule.l3mdev, wanted.l3mdev) &&
         agrees(rule.ipproto, wanted.ipproto) && agrees(rule.protocol, wanted.protocol) &&
         agrees(rule.sport, wanted.sport) && agrees(rule.dport, wanted.dport) &&
         agrees_where_given(rule, wanted);
}

Rule initial_rule(std::uint32_t preference, TableId table) {
  Rule rule;
  rule.preference = preference;
  rule.table = table;
  rule.protocol = kProtocolKernel;
  return rule;
}

std::optional<std::size_t> goto_index_of(const std::vector<Rule>& rules, const Rule& rule) {
  if (rule.action != Action::kGoto) return std::nullopt;
  const auto found = std::ranges::find(rules, rule.goto_target, &Rule::preference);
  if (found == rules.end()) return std::nullopt;
  return static_cast<std::size_t>(found - rules.begin());
}

}  // namespace

RuleList::RuleList()
    : rules_{initial_rule(0, kTableLocal), initial_rule(kPreferenceMain, kTableMain)} {}

std::uint32_t RuleList::default_preference() const noexcept {
  // Before the second rule, so behind the first, which is usually the one for the local table.
  if (rules_.size() < 2 || rules_[1].preference == 0) return 0;
  return rules_[1].preference - 1;
}

Result<Rule> RuleList::add(Rule rule, NamedFields named) {
  if (!named.preference) rule.preference = default_preference();
  const char* refusal = refusal_of(rule);
  if (refusal != nullptr) return failure(EINVAL, refusal);
  const auto is_same = [&](const Rule& existing) { return is_taken_for_same(existing, rule); };
  if (std::ranges::any_of(rules_, is_same)) return failure(EEXIST, "File exists");
  rules_.insert(std::ranges::upper_bound(rules_, rule.preference, {}, &Rule::preference), rule);
  custom_ = true;
  return rule;
}

Result<Rule> RuleList::erase(const Rule& wanted, NamedFields named) {
  const auto found = std::ranges::find_if(
      rules_, [&](const Rule& rule) { return has_all_named(rule, wanted, named); });
  if (found == rules_.end()) return failure(ENOENT, "No such file or directory");
  Rule gone = std::move(*found);
  rules_.erase(found);
  return gone;
}

CompiledRuleList::CompiledRuleList(const RuleList& list, const fib::Links& links)
    : plain_(list.rules().begin(), list.rules().end()), vrfs_(links), custom_(list.custom()) {
  compiled_.reserve(plain_.size());
  for (const Rule& rule : plain_)
    compiled_.emplace_back(rule, links, vrfs_, goto_index_of(plain_, rule));
  needs_ports_ = std::ranges::any_of(compiled_, &CompiledRule::needs_ports);
}

}  // namespace sidestep::rules
