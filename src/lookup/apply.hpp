// SPDX-License-Identifier: Apache-2.0
// One function per kind of change. Each makes its change whole or refuses it with the kernel's errno and words; the
// caller publishes.
#pragma once

#include <sidestep/lookup/change.hpp>
#include <sidestep/result.hpp>

#include "lookup/state.hpp"

namespace sidestep::lookup {

Result<void> apply_change(State& state, const LinkChange& change, TimeNs now);
Result<void> apply_change(State& state, const LinkDelete& change, TimeNs now);
Result<void> apply_change(State& state, const AddressChange& change, TimeNs now);
Result<void> apply_change(State& state, const RouteChange& change, TimeNs now);
Result<void> apply_change(State& state, const RuleChange& change, TimeNs now);
Result<void> apply_change(State& state, const NexthopChange& change, TimeNs now);
Result<void> apply_change(State& state, const SysctlChange& change, TimeNs now);
Result<void> apply_change(State& state, const ExceptionChange& change, TimeNs now);
Result<void> apply_change(State& state, const CollectChange& change, TimeNs now);

/// Collects when it is due; for before any change.
void collect_if_due(State& state, TimeNs now);
/// Something with a lifetime has come: collection becomes due.
void arm_collection(State& state, TimeNs now);

/// The device of a name, or ENODEV in iproute2's words.
[[nodiscard]] Result<IfIndex> device_by_name(const State& state, const std::string& name);

}  // namespace sidestep::lookup
