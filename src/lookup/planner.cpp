// SPDX-License-Identifier: Apache-2.0
// Making plans.
//
// What a prefix of a run says follows from the tables alone: all prefixes of all tables are in the trie, so whatever covers an
// address covers the longest prefix there too, and what each table would try first is known. The first table that would
// give a result decides. A throw route, and a result that the rule suppresses, pass the question on to the next table; a
// miss does not happen, because a table without anything at this prefix has no part in it.
//
// A route change touches one prefix of the trie, and those inside it at which its table has nothing longer: for one table
// none, for local before main next to none. Each is one store of a word. A changed rule list gets a new plan; its runs are
// taken over where they are as before, so that only a run of tables that were not merged before is built.
#include "lookup/planner.hpp"

#include <algorithm>
#include <cerrno>
#include <set>

#include "lookup/walk.hpp"

namespace sidestep::lookup {
namespace {

/// Whether the one route of a set answers every flow in the same way.
bool is_unconditional(const fib::RouteSlot& slot) {
  const fib::Route& route = *slot.route;
  return !slot.dead && !slot.linkdown && route->object == nullptr && !route->expires_at &&
         route.hop_count() == 1;
}

bool is_error_free(const fib::RouteSet& set) {
  return std::ranges::none_of(set.slots, [](const fib::RouteSlot& slot) {
    return slot.route->is_reject() || slot.route->fields().type == fib::RouteType::kThrow ||
           (slot.route->fields().object != nullptr && slot.route->fields().object->blackhole);
  });
}

/// What one table makes of a prefix; kNothing: the next table is asked.
Verdict judge(const Run::Member& member, const net::Prefix& prefix) {
  const fib::FirstCandidate first = member.table->first_candidate(prefix);
  if (first.source_specific) return Verdict::reference();
  if (first.set == nullptr) return {};
  const fib::RouteSet& set = *first.set;
  // An exception is for one address, and decides about suppression too.
  const auto has_exceptions = [](const fib::RouteSlot& slot) {
    return slot.route->has_exceptions();
  };
  if (std::ranges::any_of(set.slots, has_exceptions)) return Verdict::reference();
  const auto length =
      static_cast<std::int32_t>(set.slots.front().route->fields().destination.length());
  const bool suppressed = length <= member.suppress_prefix_length;
  if (set.slots.size() == 1 && is_unconditional(set.slots.front())) {
    const fib::Dst& dst = set.slots.front().route->dst(0);
    if (dst->error == EAGAIN) return {};  // throw
    if (suppressed && dst->error == 0) return {};
    return Verdict::of(dst);
  }
  // Which route it will be, and whether it is one that counts, depends on the flow.
  if (suppressed || !is_error_free(set)) return Verdict::reference();
  return Verdict::of(set);
}

Verdict judge(const Run& run, const net::Prefix& prefix) {
  for (const Run::Member& member : run.members) {
    const Verdict verdict = judge(member, prefix);
    if (verdict.kind() != Verdict::Kind::kNothing) return verdict;
  }
  return {};
}

bool is_in_any(const Run& run, const net::Prefix& prefix) {
  return std::ranges::any_of(run.members,
                             [&](const Run::Member& member) { return member.table->has(prefix); });
}

void build(Run& run) {
  std::vector<net::Prefix> prefixes{net::Prefix()};
  for (const Run::Member& member : run.members)
    member.table->for_each_inside(net::Prefix(),
                                  [&](const net::Prefix& prefix) { prefixes.push_back(prefix); });
  std::vector<fib::LeafValue> words;
  words.reserve(prefixes.size());
  for (const net::Prefix& prefix : prefixes) words.push_back(judge(run, prefix).word());
  run.trie.build_from(prefixes, words);
}

/// Has the verdict of a prefix and its place in the trie follow the tables.
void refresh(Run& run, const net::Prefix& prefix) {
  const fib::LeafValue word = judge(run, prefix).word();
  const fib::LeafId leaf = run.trie.find(prefix);
  if (leaf == fib::kRootLeaf && prefix.length() != 0) {
    if (is_in_any(run, prefix)) run.trie.insert(prefix, word);
    return;
  }
  // A prefix that goes says first what will cover its addresses: nobody finds the old routes from here on.
  run.trie.set_value(leaf, word);
  if (prefix.length() != 0 && !is_in_any(run, prefix)) run.trie.erase(prefix);
}

/// The table has changed at `prefix`: whatever lies inside and meets nothing longer in that table has, too.
void refresh_inside(Run& run, const fib::Table& table, const net::Prefix& prefix) {
  std::vector<net::Prefix> affected;
  for (const Run::Member& member : run.members) {
    if (member.table == &table) continue;
    member.table->for_each_inside(prefix, [&](const net::Prefix& inside) {
      if (inside != prefix) affected.push_back(inside);
    });
  }
  for (const net::Prefix& inside : affected) refresh(run, inside);
}

void destroy_run(rcu::Retirable* object) { delete static_cast<Run*>(object); }

}  // namespace

Planner::Planner() : pools_(std::make_shared<fib::TriePools>()) {}

Planner::~Planner() = default;

const Run& Planner::run_for(std::vector<Run::Member> members) {
  for (Kept& kept : runs_) {
    if (kept.run->members != members) continue;
    kept.used = true;
    return *kept.run;
  }
  auto run = std::make_unique<Run>(pools_);
  run->destroy = destroy_run;
  run->members = std::move(members);
  build(*run);
  runs_.push_back({std::move(run), true});
  return *runs_.back().run;
}

void Planner::drop_unused() {
  std::erase_if(runs_, [](Kept& kept) {
    if (kept.used) return false;
    kept.run->trie.release();
    rcu::retire(kept.run.release());
    return true;
  });
}

void Planner::update(const fib::Table& table, const net::Prefix& destination) {
  for (const Kept& kept : runs_) {
    Run& run = *kept.run;
    const bool concerned = std::ranges::any_of(
        run.members, [&](const Run::Member& member) { return member.table == &table; });
    if (!concerned) continue;
    refresh(run, destination);
    if (run.members.size() > 1) refresh_inside(run, table, destination);
  }
}

std::size_t Planner::used_bytes() const noexcept {
  return pools_->lines.used_bytes() + pools_->leaves.used_bytes();
}

/// Turns a rule list into steps.
class Planner::Compiler {
 public:
  Compiler(Planner& planner, const std::function<const fib::Table*(TableId)>& find_table)
      : planner_(planner), find_table_(find_table) {}

  [[nodiscard]] Plan compile(const rules::CompiledRuleList& list) {
    if (!list.custom()) {
      pending_ = {{find_table_(kTableLocal), -1}, {find_table_(kTableMain), -1}};
      end_run();
      return std::move(plan_);
    }
    const auto all = list.rules();
    std::set<std::size_t> targets;
    for (const auto& rule : all)
      if (rule.action() == rules::Action::kGoto && rule.goto_index())
        targets.insert(*rule.goto_index());
    std::vector<std::size_t> first_step(all.size() + 1);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (targets.contains(i))
        end_run();  // a goto lands in front of this rule, not in a run that began before
      first_step[i] = plan_.steps.size();
      add(all[i]);
    }
    end_run();
    for (Step& step : plan_.steps)
      if (step.kind == Step::Kind::kGoto) step.target = first_step[step.target];
    return std::move(plan_);
  }

 private:
  void add(const rules::CompiledRule& rule);
  void end_run();

  Planner& planner_;
  const std::function<const fib::Table*(TableId)>& find_table_;
  std::vector<Run::Member> pending_;
  Plan plan_;
};

void Planner::Compiler::end_run() {
  if (pending_.empty()) return;
  plan_.steps.push_back({.kind = Step::Kind::kRun, .run = &planner_.run_for(std::move(pending_))});
  pending_.clear();
}

void Planner::Compiler::add(const rules::CompiledRule& rule) {
  const rules::CompiledRule* when = rule.matches_everything() ? nullptr : &rule;
  const auto put = [&](Step step) {
    end_run();
    step.rule = when;
    if (when != nullptr) step.masked = when->masked();
    plan_.steps.push_back(step);
  };
  if (const fib::Dst* dst = dst_of_action(rule.action()))
    return put({.kind = Step::Kind::kAction, .dst = dst});
  if (rule.action() == rules::Action::kGoto && rule.goto_index())
    return put({.kind = Step::Kind::kGoto, .target = *rule.goto_index()});
  if (rule.action() != rules::Action::kToTable) return;
  if (rule.rule().l3mdev || rule.suppress_ifgroup()) return put({.kind = Step::Kind::kReference});
  const fib::Table* table = find_table_(rule.rule().table);
  if (table == nullptr) return;
  const Run::Member member{table,
                           static_cast<std::int32_t>(rule.suppress_prefix_length().value_or(~0U))};
  if (when == nullptr) {
    pending_.push_back(member);
    return;
  }
  end_run();
  const Run& alone = planner_.run_for({member});
  put({.kind = Step::Kind::kRun, .run = &alone});
}

std::shared_ptr<const Plan> Planner::compile(
    const rules::CompiledRuleList& rules,
    const std::function<const fib::Table*(TableId)>& find_table) {
  for (Kept& kept : runs_) kept.used = false;
  return std::make_shared<const Plan>(Compiler(*this, find_table).compile(rules));
}

}  // namespace sidestep::lookup
