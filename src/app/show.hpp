// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace sidestep::app {

/// What `sidestep show` shows.
enum class Shown { kRoutes, kRules, kNeighbors, kLinks, kNexthops };

/// Prints a part of the configured router as iproute2 prints it.
/// @param table  routes only: a name or number, empty for main
int show(Shown what, const std::string& config, std::string_view table);

/// Prints every drop reason with its help and the kernel's counter.
int list_drop_reasons(bool json);

}  // namespace sidestep::app
