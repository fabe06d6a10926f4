// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <sidestep/lookup/change.hpp>
#include <sidestep/result.hpp>

#include "lookup/state.hpp"

namespace sidestep::lookup {

/// A hop's encapsulation, checked as the kernel checks it at insertion; nullptr when there is none.
/// Errors: EINVAL (a required attribute is missing or out of range), EOPNOTSUPP (flavor), ENODEV
Result<std::shared_ptr<const fib::Encap>> build_encap(State& state, const NexthopSpec& spec);

}  // namespace sidestep::lookup
