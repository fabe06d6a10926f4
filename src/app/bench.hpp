// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace sidestep::app {

/// Becomes `sidestep-bench WORD…`, which lies beside this program (as built) or in libexec/sidestep (as installed).
/// Returns only when that cannot be started.
int start_bench(const std::vector<std::string>& words);

}  // namespace sidestep::app
