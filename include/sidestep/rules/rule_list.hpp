// SPDX-License-Identifier: Apache-2.0
// The ordered list of policy rules: the writer's editable one, and the compiled one that lookups walk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <sidestep/result.hpp>
#include <sidestep/rules/compiled_rule.hpp>
#include <sidestep/rules/rule.hpp>

namespace sidestep::rules {

/// Which fields of a rule were named by whoever asks for a change; selectors count as named when they are not empty.
struct NamedFields {
  bool preference = false;
  bool table = false;   ///< delete only
  bool action = false;  ///< delete only: an action other than `table` was named
};

/// Rules by preference, equal ones by age, with the kernel's rules for adding and deleting. A plain value: the writer
/// keeps one, edits it and compiles it.
class RuleList {
 public:
  /// As the kernel boots: 0 → local, 32766 → main.
  RuleList();

  /// Adds as RTM_NEWRULE with CREATE|EXCL does. Without a named preference the rule gets that of the second rule less
  /// one (0 when there are fewer than two).
  /// @return   the rule as it was added
  /// Errors:   EEXIST when a rule is there that the kernel takes for the same; EINVAL for what the kernel refuses
  Result<Rule> add(Rule rule, NamedFields named);
  /// Removes the first rule that has everything that was named.
  /// @return   the rule that is gone
  /// Errors:   ENOENT
  Result<Rule> erase(const Rule& wanted, NamedFields named);

  [[nodiscard]] std::span<const Rule> rules() const noexcept { return rules_; }
  /// Whether a rule was ever added. Until then lookups are wired to local, then main, whatever was deleted.
  [[nodiscard]] bool custom() const noexcept { return custom_; }

 private:
  [[nodiscard]] std::uint32_t default_preference() const noexcept;
  std::vector<Rule> rules_;
  bool custom_ = false;
};

/// What lookups walk. Immutable; holds copies of everything it needs.
///
/// Thread:   any, once built
class CompiledRuleList {
 public:
  CompiledRuleList(const RuleList& list, const fib::Links& links);
  CompiledRuleList(const CompiledRuleList&) = delete;
  CompiledRuleList& operator=(const CompiledRuleList&) = delete;

  [[nodiscard]] std::span<const CompiledRule> rules() const noexcept { return compiled_; }
  [[nodiscard]] std::span<const Rule> plain() const noexcept { return plain_; }
  /// As RuleList::custom().
  [[nodiscard]] bool custom() const noexcept { return custom_; }
  /// Whether the input path must dissect packets before the walk: some rule has ipproto, sport or dport and its iif is
  /// not lo. Without, a flow's protocol is the first next header and its ports are 0.
  [[nodiscard]] bool needs_ports() const noexcept { return needs_ports_; }
  [[nodiscard]] const VrfMap& vrfs() const noexcept { return vrfs_; }

 private:
  std::vector<Rule> plain_;
  VrfMap vrfs_;
  std::vector<CompiledRule> compiled_;
  bool custom_ = false;
  bool needs_ports_ = false;
};

}  // namespace sidestep::rules
