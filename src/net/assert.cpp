// SPDX-License-Identifier: Apache-2.0
#include <sidestep/assert.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace sidestep {
namespace {

void print_and_abort(std::string_view what, std::source_location where) {
  std::fprintf(stderr, "sidestep: %s:%u: assertion failed: %.*s\n", where.file_name(), where.line(),
               static_cast<int>(what.size()), what.data());
  std::abort();
}

std::atomic<AssertHandler> g_handler{print_and_abort};

}  // namespace

AssertHandler set_assert_handler(AssertHandler handler) noexcept {
  return g_handler.exchange(handler == nullptr ? print_and_abort : handler);
}

void assert_failed(std::string_view what, std::source_location where) noexcept {
  g_handler.load()(what, where);
  std::abort();
}

}  // namespace sidestep
