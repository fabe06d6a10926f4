// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sidestep/lookup/explain.hpp>
#include <sidestep/rules/compiled_rule.hpp>

#include "lookup/select.hpp"

namespace sidestep::lookup {

/// The observer of a lookup that people want to read: same members as Silent (walk.hpp), which see.
class Recorder {
 public:
  explicit Recorder(const Snapshot& state, Explanation& explanation);

  void rule(const rules::CompiledRule& rule, const Flow& flow, bool matched);
  void wired_table(TableId table);
  void table(TableId table);
  void prefix(const HopQuery& query, const fib::RouteSet& set, const Selection& selection);
  void retry_without_reachability();
  void path(const Path& path);
  void exception(const fib::Route& exception);
  void table_outcome(const Selection& selection);
  void no_such_table();
  void outcome(const char* words);
  void suppressed_by_length(unsigned length, unsigned limit);
  void suppressed_by_group(std::uint32_t group);

  /// Says who holds the destination that the lookup ended with.
  void finish(const fib::Dst& dst);

 private:
  const Snapshot& state_;
  Explanation& explanation_;
};

}  // namespace sidestep::lookup
