// SPDX-License-Identifier: Apache-2.0
// The program's allocator: what is freed is filled with a pattern and kept for a while before it may be given out again, so that
// whoever still reads it meets the pattern and not the next owner's plausible bytes.
#include <malloc.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "torture/facts.hpp"

// AddressSanitizer watches blocks itself.
#if !defined(__SANITIZE_ADDRESS__)

namespace {

constexpr std::size_t kKept = 65'536;  // blocks
std::array<std::atomic<void*>, kKept> g_kept;
std::atomic<std::size_t> g_next{0};

void poison_and_keep(void* memory) noexcept {
  if (memory == nullptr) return;
  std::memset(memory, sidestep::torture::kPoison, malloc_usable_size(memory));
  // Relaxed: which place a block gets does not matter.
  auto& place = g_kept[g_next.fetch_add(1, std::memory_order_relaxed) % kKept];
  // Acquire and release: pairs with itself in the thread that frees the block at last.
  std::free(place.exchange(memory, std::memory_order_acq_rel));
}

}  // namespace

void* operator new(std::size_t size) {
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) std::abort();
  return memory;
}
void operator delete(void* memory) noexcept { poison_and_keep(memory); }
void operator delete(void* memory, std::size_t) noexcept { poison_and_keep(memory); }

#endif
