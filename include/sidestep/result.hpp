// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <expected>
#include <string>
#include <utility>

namespace sidestep {

/// Why a control-plane operation failed: an errno value as the kernel would answer it, and the words that go with it.
struct Error {
  int code = 0;         ///< errno, e.g. EEXIST; never 0
  std::string message;  ///< one sentence without a final stop: what was wrong with what
};

/// What a control-plane operation gives back. Packets never produce one: they get a verdict.
template <typename T>
using Result = std::expected<T, Error>;

/// Makes the failed side of a Result.
[[nodiscard]] inline std::unexpected<Error> failure(int code, std::string message) {
  return std::unexpected<Error>(Error{code, std::move(message)});
}

}  // namespace sidestep
