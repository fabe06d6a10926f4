// SPDX-License-Identifier: Apache-2.0
#include "lookup/apply.hpp"

namespace sidestep::lookup {

Result<void> apply_change(State& state, const RuleChange& change, TimeNs) {
  const rules::NamedFields named{.preference = change.preference_given,
                                 .table = change.table_given,
                                 .action = change.action_given};
  rules::RuleList& list = state.edit_rules();
  const auto result = change.remove ? list.erase(change.rule, named) : list.add(change.rule, named);
  if (!result) return std::unexpected(result.error());
  // A rule brings its table into being, empty, so that routes and rules may come in any order.
  const bool to_table = result->action == rules::Action::kToTable && !result->l3mdev;
  if (!change.remove && to_table) state.table(result->table);
  return {};
}

}  // namespace sidestep::lookup
