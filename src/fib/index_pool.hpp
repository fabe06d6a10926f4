// SPDX-License-Identifier: Apache-2.0
// Memory that readers reach by index while one writer gives it out and takes it back.
//
// A pool reserves address space once and never moves, so an index stays good while the pool grows. What is given back
// waits for a grace period before it is given out again: a reader may still be standing on it.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <utility>
#include <vector>

#include <sidestep/assert.hpp>
#include <sidestep/rcu/rcu.hpp>

namespace sidestep::fib {

/// Address space for `count_max` objects of T, of which the first pages that are touched cost memory.
template <typename T>
class Reservation {
 public:
  explicit Reservation(std::size_t count_max) : bytes_(count_max * sizeof(T)) {
    void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    SIDESTEP_ASSERT(memory != MAP_FAILED);
    base_ = static_cast<T*>(memory);
    if (bytes_ >= kHugeFrom)
      madvise(memory, bytes_, MADV_HUGEPAGE);  // a wish; nothing depends on it
  }
  ~Reservation() { munmap(static_cast<void*>(base_), bytes_); }
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;
  [[nodiscard]] T* base() const noexcept { return base_; }

 private:
  static constexpr std::size_t kHugeFrom = std::size_t{64} << 20;
  std::size_t bytes_;
  T* base_;
};

/// Numbers that wait for a grace period, in batches so that a retirement costs a push.
///
/// Thread: writer, but for the end of a grace period, which liburcu's thread reports
class GraceQueue {
 public:
  GraceQueue() : done_(std::make_shared<Done>()) {}
  ~GraceQueue() = default;
  GraceQueue(const GraceQueue&) = delete;
  GraceQueue& operator=(const GraceQueue&) = delete;

  void add(std::uint32_t number) {
    waiting_.push_back(number);
    if (waiting_.size() < kBatch) return;
    auto* batch = new Batch;
    batch->numbers.swap(waiting_);
    batch->done = done_;
    batch->destroy = [](rcu::Retirable* object) { finish(static_cast<Batch*>(object)); };
    outstanding_ += batch->numbers.size();
    rcu::retire(batch);
    if (outstanding_ > kOutstandingMax && rcu::ReadSection::current_epoch() == 0) rcu::barrier();
  }
  /// Numbers whose grace period has ended, or nothing.
  [[nodiscard]] std::vector<std::uint32_t> take_done() {
    // Pairs with the release in finish(): a set flag means that the numbers are there.
    if (!done_->any.load(std::memory_order_acquire)) return {};
    const std::lock_guard lock(done_->mutex);
    done_->any.store(false, std::memory_order_relaxed);  // under the mutex that finish() takes too
    outstanding_ -= done_->numbers.size();
    return std::exchange(done_->numbers, {});
  }
  [[nodiscard]] std::size_t size() const noexcept { return waiting_.size() + outstanding_; }

 private:
  static constexpr std::size_t kBatch = 256;
  static constexpr std::size_t kOutstandingMax = 16'384;
  struct Done {
    std::mutex mutex;
    std::atomic<bool> any{false};
    std::vector<std::uint32_t> numbers;
  };
  struct Batch : rcu::Retirable {
    std::vector<std::uint32_t> numbers;
    std::shared_ptr<Done> done;
  };
  static void finish(Batch* batch) {
    {
      const std::lock_guard lock(batch->done->mutex);
      auto& numbers = batch->done->numbers;
      numbers.insert(numbers.end(), batch->numbers.begin(), batch->numbers.end());
      batch->done->any.store(true,
                             std::memory_order_release);  // pairs with the acquire in take_done()
    }
    delete batch;
  }

  std::vector<std::uint32_t> waiting_;
  std::size_t outstanding_ = 0;
  std::shared_ptr<Done> done_;
};

/// Checked builds: fills what nobody may read any more, so that whoever does notices.
inline void poison([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef SIDESTEP_DEBUG
  std::memset(memory, 0xdd, bytes);
#endif
}

/// Objects by index.
template <typename T>
class IndexPool {
 public:
  explicit IndexPool(std::size_t count_max) : memory_(count_max), count_max_(count_max) {}

  [[nodiscard]] T& operator[](std::uint32_t index) noexcept { return memory_.base()[index]; }
  [[nodiscard]] const T& operator[](std::uint32_t index) const noexcept {
    return memory_.base()[index];
  }
  /// An object that no reader sees, with a default value.
  [[nodiscard]] std::uint32_t allocate() {
    if (free_.empty()) {
      free_ = waiting_.take_done();
      for (const auto number : free_) poison(memory_.base() + number, sizeof(T));
    }
    std::uint32_t index = 0;
    if (free_.empty()) {
      SIDESTEP_ASSERT(top_ < count_max_);
      index = top_++;
    } else {
      index = free_.back();
      free_.pop_back();
    }
    new (memory_.base() + index) T();
    return index;
  }
  /// Takes an object back once no reader can be on it.
  void retire(std::uint32_t index) { waiting_.add(index); }

  [[nodiscard]] std::size_t used_bytes() const noexcept {
    return (top_ - free_.size() - waiting_.size()) * sizeof(T);
  }
  [[nodiscard]] std::size_t waiting_bytes() const noexcept { return waiting_.size() * sizeof(T); }

 private:
  Reservation<T> memory_;
  std::size_t count_max_;
  std::uint32_t top_ = 0;
  std::vector<std::uint32_t> free_;
  GraceQueue waiting_;
};

/// Cache lines by number, in blocks of 2^0 to 2^12 whose numbers are multiples of their size.
///
/// A buddy allocator, before which single lines are kept loose: most of what updates take and give back is one line.
class LinePool {
 public:
  static constexpr std::size_t kLineBytes = 64;
  static constexpr unsigned kOrderMax = 12;

  explicit LinePool(std::size_t line_max) : memory_(line_max), line_max_(line_max) {}

  [[nodiscard]] std::byte* line(std::uint32_t number) const noexcept {
    return memory_.base()[number].bytes.data();
  }
  /// A block that no reader sees, with anything in it.
  [[nodiscard]] std::uint32_t allocate(unsigned order) {
    used_ += std::size_t{1} << order;
    if (order != 0) {
      take_back_waiting();
      return take_block(order);
    }
    if (loose_.empty()) take_back_waiting();
    if (loose_.empty()) {
      const std::uint32_t first = take_block(kLooseOrder);
      for (std::uint32_t i = 1U << kLooseOrder; i-- > 0;) loose_.push_back(first + i);
    }
    const std::uint32_t line = loose_.back();
    loose_.pop_back();
    return line;
  }
  /// Takes a block back once no reader can be on it.
  void retire(std::uint32_t line, unsigned order) {
    used_ -= std::size_t{1} << order;
    waiting_used_ += std::size_t{1} << order;
    waiting_.add((order << kLineBits) | line);
  }
  [[nodiscard]] std::size_t used_bytes() const noexcept { return used_ * kLineBytes; }
  [[nodiscard]] std::size_t waiting_bytes() const noexcept { return waiting_used_ * kLineBytes; }

  static constexpr unsigned kLineBits = 24;

 private:
  static constexpr unsigned kLooseOrder = 6;
  static constexpr std::size_t kLooseMax = 65'536;
  struct alignas(kLineBytes) Line {
    std::array<std::byte, kLineBytes> bytes;
  };

  void take_back_waiting() {
    for (const auto number : waiting_.take_done()) {
      const unsigned order = number >> kLineBits;
      const std::uint32_t line = number & ((1U << kLineBits) - 1);
      waiting_used_ -= std::size_t{1} << order;
      poison(this->line(line), kLineBytes << order);
      if (order == 0) {
        loose_.push_back(line);
      } else {
        give_back(line, order);
      }
    }
    if (loose_.size() <= kLooseMax) return;
    for (const auto line : loose_) give_back(line, 0);
    loose_.clear();
  }
  [[nodiscard]] std::uint32_t take_block(unsigned order) {
    unsigned from = order;
    while (from <= kOrderMax && free_[from].empty()) ++from;
    if (from > kOrderMax) {
      SIDESTEP_ASSERT(top_ + (std::size_t{1} << kOrderMax) <= line_max_);
      free_[kOrderMax].insert(top_);
      top_ += 1U << kOrderMax;
      from = kOrderMax;
    }
    auto& list = free_[from];
    const std::uint32_t base = *list.begin();
    list.erase(list.begin());
    while (from > order) {  // the upper half of each split stays free
      --from;
      free_[from].insert(base + (1U << from));
    }
    return base;
  }
  void give_back(std::uint32_t base, unsigned order) {
    while (order < kOrderMax) {
      auto& list = free_[order];
      const auto buddy = list.find(base ^ (1U << order));
      if (buddy == list.end()) break;
      list.erase(buddy);
      base &= ~(1U << order);
      ++order;
    }
    free_[order].insert(base);
  }

  Reservation<Line> memory_;
  std::size_t line_max_;
  std::uint32_t top_ = 0;
  std::size_t used_ = 0;
  std::size_t waiting_used_ = 0;
  std::vector<std::uint32_t> loose_;
  std::array<std::set<std::uint32_t>, kOrderMax + 1> free_;
  GraceQueue waiting_;
};

}  // namespace sidestep::fib
