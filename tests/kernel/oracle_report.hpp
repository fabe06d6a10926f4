// SPDX-License-Identifier: Apache-2.0
// What the oracle programs have in common when they speak.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace sidestep::kernel {

/// Exit status of a program that could not ask the kernel; ctest knows it.
inline constexpr int kSkipped = 77;

/// Whether namespaces cannot be made; says then what is not compared. `what` names it, with a count.
[[nodiscard]] bool must_skip(std::string_view what);

/// How many differences each heading of docs/kernel-differences.md covers.
void print_explained(const std::map<std::string, std::uint64_t>& explained);

}  // namespace sidestep::kernel
