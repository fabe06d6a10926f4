// SPDX-License-Identifier: Apache-2.0
// Reclamation. Data structure: none of ours; liburcu-qsbr keeps the registry, the grace periods and the callback
// thread. What this file adds is the section counter that the debug checks of borrows read: each thread counts its
// sections, and a borrow remembers the number of the section that it was taken in. The number is never reused, so a
// borrow that outlived its section cannot be mistaken for one of a later section.
//
// Invariants: a thread inside a section is registered and online; only the outermost end of a section announces the
// quiescent state, so an inner section cannot end the borrows of an outer one.
#define _LGPL_SOURCE 1
#include <sidestep/rcu/rcu.hpp>

#include <cstddef>

#include <urcu/urcu-qsbr.h>

#include <sidestep/assert.hpp>

#if defined(__SANITIZE_THREAD__)
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

namespace sidestep::rcu {
namespace {

// ThreadSanitizer does not see into liburcu, so it is told what a grace period orders: every section that has ended, and
// every call that retired something, comes before the destruction of what was retired.
#if defined(__SANITIZE_THREAD__)
char g_grace_period;
void tell_sanitizer_before_grace_period() { __tsan_release(&g_grace_period); }
void tell_sanitizer_after_grace_period() { __tsan_acquire(&g_grace_period); }
#else
void tell_sanitizer_before_grace_period() {}
void tell_sanitizer_after_grace_period() {}
#endif

struct ThreadState {
  std::uint64_t epoch_last = 0;     // number of the newest section this thread opened
  std::uint64_t epoch_current = 0;  // number of the open section, 0 outside
  std::uint32_t depth = 0;
  bool registered = false;
  bool online = false;
};

thread_local constinit ThreadState t_state;

static_assert(sizeof(rcu_head) <= sizeof(Retirable::head) &&
              alignof(rcu_head) <= alignof(Retirable));
static_assert(offsetof(Retirable, head) == 0);

void destroy_retired(rcu_head* head) {
  tell_sanitizer_after_grace_period();
  auto* object = reinterpret_cast<Retirable*>(head);
  object->destroy(object);
  tell_sanitizer_before_grace_period();  // to whoever waits in barrier()
}

}  // namespace

Reader::Reader() {
  SIDESTEP_ASSERT(!t_state.registered);
  urcu_qsbr_register_thread();
  t_state.registered = true;
  t_state.online = true;
}

Reader::~Reader() {
  SIDESTEP_ASSERT(t_state.depth == 0);
  urcu_qsbr_unregister_thread();
  t_state.registered = false;
  t_state.online = false;
}

void Reader::offline() {
  SIDESTEP_ASSERT(t_state.depth == 0 && t_state.online);
  urcu_qsbr_thread_offline();
  t_state.online = false;
}

void Reader::online() {
  SIDESTEP_ASSERT(t_state.registered && !t_state.online);
  urcu_qsbr_thread_online();
  t_state.online = true;
}

bool Reader::registered() noexcept { return t_state.registered; }

ReadSection::ReadSection(std::source_location where) {
  if (!t_state.online) {
    assert_failed("a read section needs a registered, online reader on this thread", where);
  }
  if (t_state.depth++ == 0) t_state.epoch_current = ++t_state.epoch_last;
}

ReadSection::~ReadSection() {
  if (--t_state.depth != 0) return;
  t_state.epoch_current = 0;
  tell_sanitizer_before_grace_period();
  urcu_qsbr_quiescent_state();
}

void ReadSection::quiescent_state() {
  SIDESTEP_ASSERT(t_state.depth == 1);
  t_state.epoch_current = ++t_state.epoch_last;
  tell_sanitizer_before_grace_period();
  urcu_qsbr_quiescent_state();
}

std::uint64_t ReadSection::current_epoch() noexcept { return t_state.epoch_current; }

void retire(Retirable* object) noexcept {
  tell_sanitizer_before_grace_period();
  urcu_qsbr_call_rcu(reinterpret_cast<rcu_head*>(object->head), destroy_retired);
}

void synchronize() noexcept {
  SIDESTEP_ASSERT(t_state.depth == 0);
  urcu_qsbr_synchronize_rcu();
  tell_sanitizer_after_grace_period();
}

void barrier() noexcept {
  SIDESTEP_ASSERT(t_state.depth == 0);
  urcu_qsbr_barrier();
  tell_sanitizer_after_grace_period();
}

}  // namespace sidestep::rcu
