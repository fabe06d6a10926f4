// SPDX-License-Identifier: Apache-2.0
// The reference walk as it would be if every result were counted: what the kernel's lookups did before they could borrow.
// It exists to be compared with, and nothing but the benchmark uses it.
#pragma once

#include <atomic>
#include <cstdint>

#include <sidestep/fib/dst.hpp>

#include "lookup/walk.hpp"

namespace sidestep::bench {

/// Takes a reference on what each table says, the null destination of a table that has nothing included, and gives it back when
/// the next table is asked or the packet is done.
class Counting : public lookup::Silent {
 public:
  /// The null destination has no counter with us, so it gets one here; all threads share it, as they would.
  struct alignas(64) NullCounter {
    std::atomic<std::uint32_t> owners{1};
  };
  explicit Counting(NullCounter& null) : null_(&null) {}
  ~Counting() { release(); }
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;

  // Shadows Silent's.
  void table_outcome(const lookup::Selection& selection) {
    release();
    if (selection) {
      held_ = fib::OwnedDst::try_promote(fib::BorrowedDst(selection.route->dst(selection.hop)));
    } else {
      // Relaxed, both ways: only the number counts, and it never reaches zero.
      null_->owners.fetch_add(1, std::memory_order_relaxed);
      holds_null_ = true;
    }
  }

 private:
  void release() {
    held_.reset();
    if (holds_null_) null_->owners.fetch_sub(1, std::memory_order_relaxed);
    holds_null_ = false;
  }
  NullCounter* null_;
  fib::OwnedDst held_;
  bool holds_null_ = false;
};

}  // namespace sidestep::bench
