// SPDX-License-Identifier: Apache-2.0
// Memory of destinations for one use.
//
// Such a destination is made and dropped for one packet, so neither may touch anything that threads share. Each thread keeps
// the blocks that it freed last, a batch or two of them, and counts what it made less what it freed; the sum over all threads
// is the number alive. A destination may be freed by another thread than the one that made it: then the count of one thread
// goes up and that of the other down, and blocks beyond the bound go back to the allocator.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>

#include <sidestep/fib/dst.hpp>

namespace sidestep::fib {

/// Blocks for a Dst each, from a list of the calling thread.
///
/// Thread:   any
/// Cost:     a few plain loads and stores; the allocator when the list is empty or full
class UncachedPool {
 public:
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static constexpr std::size_t kKeptMax = 0;  // sanitizers watch the allocator's blocks, not ours
#else
  static constexpr std::size_t kKeptMax = 128;
#endif

  [[nodiscard]] static void* allocate() {
    Local& local = t_local;
    count(local, 1);
    if (local.head == nullptr) return ::operator new(sizeof(Dst));
    Block* block = local.head;
    local.head = block->next;
    --local.kept;
    return block;
  }

  static void free(void* memory) noexcept {
    Local& local = t_local;
    count(local, -1);
    if (local.state == State::kLeft || local.kept >= kKeptMax) {
      ::operator delete(memory);
      return;
    }
#ifdef SIDESTEP_DEBUG
    std::memset(memory, 0xdd, sizeof(Dst));  // whoever still reads it shall notice
#endif
    local.head = new (memory) Block{local.head};
    ++local.kept;
  }

  /// Blocks in use in the whole process. Exact when no thread is in the middle of something.
  [[nodiscard]] static std::uint64_t in_use() noexcept {
    const std::lock_guard lock(s_registry.mutex);
    std::int64_t sum = s_registry.of_threads_that_left;
    for (const Local* local = s_registry.first; local != nullptr; local = local->next) {
      sum += local->balance.load(std::memory_order_relaxed);  // a statistic; orders nothing
    }
    return sum < 0 ? 0 : static_cast<std::uint64_t>(sum);
  }
  /// Free blocks that the calling thread keeps; for tests.
  [[nodiscard]] static std::size_t kept() noexcept { return t_local.kept; }

 private:
  struct Block {
    Block* next;
  };
  enum class State : std::uint8_t { kNew, kListed, kLeft };
  struct Local {
    Block* head = nullptr;
    std::size_t kept = 0;
    State state = State::kNew;
    std::atomic<std::int64_t> balance{0};  // written by its thread alone
    Local* next = nullptr;                 // in the registry
  };
  struct Registry {
    std::mutex mutex;
    Local* first = nullptr;
    std::int64_t of_threads_that_left = 0;
  };
  struct Farewell {
    ~Farewell() { leave(t_local); }
    void expect() const noexcept {}
  };

  static void count(Local& local, std::int64_t amount) noexcept {
    if (local.state != State::kListed) [[unlikely]] {
      if (!enlist(local)) {
        const std::lock_guard lock(s_registry.mutex);
        s_registry.of_threads_that_left += amount;
        return;
      }
    }
    local.balance.store(local.balance.load(std::memory_order_relaxed) + amount,
                        std::memory_order_relaxed);
  }
  // False in a thread that has left: destructors of its other thread-local objects may still come here.
  static bool enlist(Local& local) noexcept {
    if (local.state == State::kLeft) return false;
    static thread_local const Farewell farewell;
    farewell.expect();  // constructs it, and with that registers its destructor
    local.state = State::kListed;
    const std::lock_guard lock(s_registry.mutex);
    local.next = s_registry.first;
    s_registry.first = &local;
    return true;
  }
  static void leave(Local& local) noexcept {
    local.state = State::kLeft;
    while (Block* block = local.head) {
      local.head = block->next;
      ::operator delete(block);
    }
    local.kept = 0;
    const std::lock_guard lock(s_registry.mutex);
    s_registry.of_threads_that_left += local.balance.load(std::memory_order_relaxed);
    Local** at = &s_registry.first;
    while (*at != &local) at = &(*at)->next;
    *at = local.next;
  }

  static constinit thread_local Local t_local;
  static constinit Registry s_registry;
};

inline constinit thread_local UncachedPool::Local UncachedPool::t_local;
inline constinit UncachedPool::Registry UncachedPool::s_registry;

}  // namespace sidestep::fib
