// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <source_location>
#include <string_view>

namespace sidestep {

/// Called with the text of a broken invariant and where it was found; must not return.
using AssertHandler = void (*)(std::string_view what, std::source_location where);

/// Replaces what a failed assertion does (default: one line on stderr, then abort).
///
/// @return   the handler that was there before
/// Thread:   any, before the first reader registers
/// Cost:     one store
AssertHandler set_assert_handler(AssertHandler handler) noexcept;

/// Reports a broken invariant through the handler and ends the process if the handler returns.
[[noreturn]] void assert_failed(std::string_view what, std::source_location where) noexcept;

}  // namespace sidestep

// An invariant of ours or a duty of the caller: on in every build.
#define SIDESTEP_ASSERT(condition) \
  (static_cast<bool>(condition)    \
       ? static_cast<void>(0)      \
       : ::sidestep::assert_failed(#condition, std::source_location::current()))

// The same on hot paths: only where SIDESTEP_DEBUG is defined (presets dev and asan).
#ifdef SIDESTEP_DEBUG
#define SIDESTEP_DEBUG_ASSERT(condition) SIDESTEP_ASSERT(condition)
#else
#define SIDESTEP_DEBUG_ASSERT(condition) static_cast<void>(0)
#endif
