// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace sidestep::bench {

/// `sidestep-bench`. Exit status: 0, 1 when an answer was wrong or the work failed, 2 when the command was not understood. A target
/// that was not reached is a finding, not a failure.
int run(int argc, const char* const* argv);

}  // namespace sidestep::bench
