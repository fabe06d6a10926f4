// SPDX-License-Identifier: Apache-2.0
// Ownership of destinations.
//
// Every destination has a class. The static three have no counter: taking and releasing them is nothing. A route's
// destination starts with one owner, the route; the writer gives that one back when it unlinks the route, and from then
// on a promotion can fail, because a counter that reached zero is never raised again. Whoever brings the counter to
// zero tells the route, and the route retires itself when its last destination is free: through a grace period, since
// a reader may have borrowed it before it was unlinked. An uncached destination is in no table, nobody can have
// borrowed it without a reference (PacketDst::set_borrowed sees to that), so its last release frees it on the spot, into
// a list of the releasing thread (uncached_pool.hpp).
#include <sidestep/fib/dst.hpp>

#include <cerrno>
#include <new>

#include <fmt/format.h>

#include <sidestep/fib/route.hpp>

#include "fib/uncached_pool.hpp"

namespace sidestep::fib {
namespace {

// Made by the compiler: nobody has to ask whether they are there yet.
constexpr DstFields static_fields(DstInput input, int error) {
  return {.input = input, .error = error, .device = kLoopbackIndex};
}
constinit const Dst kNull(DstClass::kStatic, static_fields(DstInput::kUnreachable, ENETUNREACH),
                          nullptr);
constinit const Dst kBlackhole(DstClass::kStatic, static_fields(DstInput::kBlackhole, EINVAL),
                               nullptr);
constinit const Dst kProhibit(DstClass::kStatic, static_fields(DstInput::kProhibit, EACCES),
                              nullptr);

}  // namespace

const Dst& null_dst() noexcept { return kNull; }
const Dst& blackhole_dst() noexcept { return kBlackhole; }
const Dst& prohibit_dst() noexcept { return kProhibit; }

#ifdef SIDESTEP_DEBUG
void BorrowedDst::report_escape(std::source_location use) const {
  assert_failed(
      fmt::format("a borrowed destination escaped its read section; it was borrowed at {}:{}",
                  borrowed_at_.file_name(), borrowed_at_.line()),
      use);
}
#endif

void OwnedDst::take(const Dst& dst) noexcept {
  if (dst.class_ == DstClass::kStatic) return;
  // The caller has a reference already, so the counter is not zero and nothing needs ordering.
  dst.owners_.fetch_add(1, std::memory_order_relaxed);
}

bool OwnedDst::try_take(const Dst& dst) noexcept {
  if (dst.class_ == DstClass::kStatic) return true;
  auto owners = dst.owners_.load(std::memory_order_relaxed);
  while (owners != 0) {
    // Relaxed: the borrow already ordered the fields; success only has to keep the counter from reaching zero.
    if (dst.owners_.compare_exchange_weak(owners, owners + 1, std::memory_order_relaxed))
      return true;
  }
  return false;
}

void OwnedDst::release(const Dst& dst) noexcept {
  if (dst.class_ == DstClass::kStatic) return;
  // Release pairs with the acquire half of the decrement that reaches zero: all uses by earlier owners come first.
  if (dst.owners_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (dst.class_ == DstClass::kUncached) {
    dst.~Dst();
    UncachedPool::free(const_cast<Dst*>(&dst));
  } else {
    dst.route_->dst_released();
  }
}

OwnedDst OwnedDst::try_promote(const BorrowedDst& borrowed) noexcept {
  const Dst& dst = borrowed.get();
  return try_take(dst) ? OwnedDst(&dst) : OwnedDst();
}

OwnedDst& OwnedDst::operator=(OwnedDst&& other) noexcept {
  if (this != &other) {
    reset();
    dst_ = std::exchange(other.dst_, nullptr);
  }
  return *this;
}

OwnedDst OwnedDst::clone() const noexcept {
  if (dst_ != nullptr) take(*dst_);
  return OwnedDst(dst_);
}

void OwnedDst::reset() noexcept {
  if (dst_ != nullptr) release(*std::exchange(dst_, nullptr));
}

OwnedDst make_uncached(const DstFields& fields) {
  const auto* dst = new (UncachedPool::allocate()) Dst(DstClass::kUncached, fields, nullptr);
  dst->owners_.store(1, std::memory_order_relaxed);  // not yet shared
  return OwnedDst(dst);
}

std::uint64_t uncached_count() noexcept { return UncachedPool::in_use(); }

PacketDst& PacketDst::operator=(PacketDst&& other) noexcept {
  if (this != &other) {
    reset();
    word_ = std::exchange(other.word_, 0);
  }
  return *this;
}

void PacketDst::set_borrowed(const BorrowedDst& borrowed) noexcept {
  const Dst& dst = borrowed.get();
  const bool uncached = dst.ownership() == DstClass::kUncached;
  if (uncached) OwnedDst::take(dst);
  reset();
  word_ = reinterpret_cast<std::uintptr_t>(&dst) | (uncached ? 0 : kBorrowedBit);
}

void PacketDst::set_owned(OwnedDst dst) noexcept {
  reset();
  word_ = reinterpret_cast<std::uintptr_t>(std::exchange(dst.dst_, nullptr));
}

void PacketDst::reset() noexcept {
  const auto word = std::exchange(word_, 0);
  if (word != 0 && (word & kBorrowedBit) == 0)
    OwnedDst::release(*reinterpret_cast<const Dst*>(word));
}

bool PacketDst::force_owned() noexcept {
  if (word_ == 0) return false;
  if (!is_borrowed()) return true;
  const Dst* dst = pointer();
  word_ = OwnedDst::try_take(*dst) ? reinterpret_cast<std::uintptr_t>(dst) : 0;
  return word_ != 0;
}

}  // namespace sidestep::fib
