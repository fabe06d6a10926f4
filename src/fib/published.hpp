// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace sidestep::fib {

/// A pointer that one writer changes while readers follow it.
///
/// The three accesses are each other's partners: a reader's read() pairs with the writer's publish(), so that whoever
/// sees the pointer sees everything the writer did to the object before; peek() is the writer reading its own stores.
template <typename T>
class Published {
 public:
  Published() noexcept = default;
  explicit Published(T* initial) noexcept : pointer_(initial) {}

  /// Reader. Acquire: pairs with the release in publish(). (RCU needs only consume, which compilers treat as acquire.)
  [[nodiscard]] T* read() const noexcept { return pointer_.load(std::memory_order_acquire); }
  /// Writer. Relaxed: only the writer stores, so there is nothing to pair with.
  [[nodiscard]] T* peek() const noexcept { return pointer_.load(std::memory_order_relaxed); }
  /// Writer. Release: pairs with the acquire in read().
  void publish(T* next) noexcept { pointer_.store(next, std::memory_order_release); }

 private:
  std::atomic<T*> pointer_{nullptr};
};

}  // namespace sidestep::fib
