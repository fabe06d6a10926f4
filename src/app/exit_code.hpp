// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace sidestep::app {

/// What the program's exit status says.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;  ///< the command was understood, the work failed
inline constexpr int kExitUsage = 2;   ///< the command was not understood

/// Says on stderr why the work failed, after the program's name.
int fail(std::string_view message);
/// Says on stderr what is wrong with the command.
int fail_usage(std::string_view message);

}  // namespace sidestep::app
