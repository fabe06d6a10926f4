// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <sched.h>

namespace sidestep::bench {

/// Where figures come from: processor, caches, kernel, compiler; by name, for people and JSON.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> describe_machine();

/// Runnable tasks of the last minute; figures of a machine that does something else are worth nothing.
[[nodiscard]] double load_average();

[[nodiscard]] bool has_avx2() noexcept;
[[nodiscard]] bool has_avx512() noexcept;

/// Bytes of this process that are in memory now.
[[nodiscard]] std::size_t resident_bytes();

/// Keeps the calling thread on one of the processors that it may use, for as long as this lives. Threads that it starts
/// meanwhile inherit the restriction.
class Pin {
 public:
  /// @param which  counted from 0, wrapping around
  explicit Pin(unsigned which);
  ~Pin();
  Pin(const Pin&) = delete;
  Pin& operator=(const Pin&) = delete;

 private:
  cpu_set_t before_;
};

}  // namespace sidestep::bench
