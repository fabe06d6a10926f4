// SPDX-License-Identifier: Apache-2.0
// The writer's side of plans.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <sidestep/rules/rule_list.hpp>

#include "lookup/plan.hpp"

namespace sidestep::lookup {

/// Makes plans, and keeps the runs behind them as the tables are.
///
/// Thread: writer
class Planner {
 public:
  Planner();
  ~Planner();  ///< no reader may be left
  Planner(const Planner&) = delete;
  Planner& operator=(const Planner&) = delete;

  /// The plan of a rule list. Runs of the plan before are taken over; those that no rule needs any more are kept until
  /// drop_unused(), because readers may still be in them.
  [[nodiscard]] std::shared_ptr<const Plan> compile(
      const rules::CompiledRuleList& rules,
      const std::function<const fib::Table*(TableId)>& find_table);
  /// Retires the runs that the plan compiled last does not name. Call when that plan has been published.
  void drop_unused();
  /// The routes to a destination have changed in a table.
  void update(const fib::Table& table, const net::Prefix& destination);

  /// What the tries of all runs hold of their pools, bytes; for tests and metrics.
  [[nodiscard]] std::size_t used_bytes() const noexcept;

 private:
  class Compiler;
  const Run& run_for(std::vector<Run::Member> members);

  struct Kept {
    std::unique_ptr<Run> run;
    bool used = false;
  };
  std::shared_ptr<fib::TriePools> pools_;
  std::vector<Kept> runs_;
};

}  // namespace sidestep::lookup
