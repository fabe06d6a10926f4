// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>

namespace sidestep::bench {

/// A reader that looks up on a thread of its own, one read section per burst, until it is destroyed.
class BackgroundReader {
 public:
  /// @param look_up  looks up burst number n inside a read section, and says how many lookups that were
  /// Keeps itself on processor 1 (of those allowed); the writer belongs on 0.
  explicit BackgroundReader(std::function<std::size_t(std::size_t n)> look_up);
  ~BackgroundReader();
  BackgroundReader(const BackgroundReader&) = delete;
  BackgroundReader& operator=(const BackgroundReader&) = delete;

  /// Lookups so far.
  [[nodiscard]] std::size_t count() const noexcept {
    return count_.load(std::memory_order_relaxed);  // a statistic; orders nothing
  }

 private:
  void run();
  std::function<std::size_t(std::size_t)> look_up_;
  std::atomic<std::size_t> count_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace sidestep::bench
