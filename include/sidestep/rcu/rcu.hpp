// SPDX-License-Identifier: Apache-2.0
// A thin face on liburcu's QSBR flavor: readers, read sections, quiescent states, retirement.
//
// A thread that looks things up registers once (`Reader`) and opens a `ReadSection` around each batch. While a section
// is open the thread announces no quiescent state, so whatever it borrowed stays readable; the end of the section is the
// quiescent state. Between sections a reader that may sleep goes offline (`Reader::offline`).
#pragma once

#include <cstdint>
#include <source_location>

namespace sidestep::rcu {

/// Registers the calling thread as a reader for its own lifetime. One per thread; nesting asserts.
///
/// Thread:   the one that will read; constructed and destroyed there
/// Cost:     a lock at construction and at destruction
class Reader {
 public:
  Reader();
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  /// Tells writers not to wait for this thread until online(); asserts outside any read section.
  void offline();
  void online();
  [[nodiscard]] static bool registered() noexcept;
};

/// A read section on a registered thread. Borrows taken inside are valid until it ends. Sections nest; the outermost
/// end is the quiescent state.
///
/// Thread:   registered reader
/// Cost:     release: a thread-local increment; the end of the outermost adds liburcu's quiescent state
class ReadSection {
 public:
  explicit ReadSection(std::source_location where = std::source_location::current());
  ~ReadSection();
  ReadSection(const ReadSection&) = delete;
  ReadSection& operator=(const ReadSection&) = delete;

  /// Announces a quiescent state in the middle: every borrow taken before is over. Only in the outermost section.
  void quiescent_state();

  /// Number of the calling thread's current section; 0 outside any. Never repeats on one thread.
  [[nodiscard]] static std::uint64_t current_epoch() noexcept;
};

/// An object that readers may still see: embedded in what is to be retired.
struct Retirable {
  void* head[2] = {};  ///< liburcu's rcu_head; its type stays out of our headers
  void (*destroy)(Retirable*) = nullptr;
};

/// Calls `object->destroy(object)` after a grace period, on liburcu's helper thread.
///
/// Thread:   any registered reader or control thread
/// Lifetime: the object must already be unreachable for new readers
/// Cost:     an enqueue; never waits
void retire(Retirable* object) noexcept;

/// Waits for a grace period. Control thread only, never inside a read section.
void synchronize() noexcept;

/// Waits until everything retired before has been destroyed. Control thread only, never inside a read section.
void barrier() noexcept;

}  // namespace sidestep::rcu
