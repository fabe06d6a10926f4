// SPDX-License-Identifier: Apache-2.0
// Destinations and who may hold them: borrowed, owned, promoted by try, carried by a packet.
#pragma once

#include <atomic>
#include <cstdint>
#include <source_location>
#include <utility>

#include <sidestep/assert.hpp>
#include <sidestep/fib/encap.hpp>
#include <sidestep/net/address.hpp>
#include <sidestep/net/ids.hpp>
#include <sidestep/rcu/rcu.hpp>

namespace sidestep::fib {

class Route;
class OwnedDst;

/// What becomes of a packet that has this destination.
enum class DstInput : std::uint8_t {
  kForward,           ///< forward (or, on output, send)
  kDeliver,           ///< local delivery
  kDeliverMulticast,  ///< multicast delivery, subject to membership
  kUnreachable,       ///< ICMPv6 1/0, Ip6InNoRoutes
  kProhibit,          ///< ICMPv6 1/1, Ip6InNoRoutes
  kBlackhole,         ///< silent
};

/// Ownership class of a destination. A tag, never inferred.
enum class DstClass : std::uint8_t {
  kStatic,    ///< null, blackhole, prohibit: immortal, no counter
  kRoute,     ///< belongs to a route; freed after a grace period and when no owner is left
  kUncached,  ///< made for one use; freed at once by its last release
};

/// What a destination says. Immutable once published.
struct DstFields {
  DstInput input = DstInput::kForward;
  int error = 0;  ///< positive errno that a local lookup reports; 0: usable
  IfIndex device{};
  bool has_gateway = false;
  net::Ipv6Address gateway{};
  std::uint32_t mtu = 0;         ///< route's MTU metric in bytes, any value; 0: none
  bool mtu_locked = false;       ///< `mtu lock`
  std::uint32_t hop_limit = 0;   ///< metric; 0: the device's
  const Encap* encap = nullptr;  ///< owned by the route or nexthop object behind
};

/// A destination entry: what a lookup points at. Readers only ever see it const.
///
/// Lifetime: see DstClass
/// Cost:     reading is plain loads; only OwnedDst touches the counter
class Dst {
 public:
  constexpr Dst(DstClass ownership, DstFields fields, const Route* route) noexcept
      : fields_(fields), route_(route), class_(ownership) {}
  Dst(const Dst&) = delete;
  Dst& operator=(const Dst&) = delete;

  [[nodiscard]] const DstFields* operator->() const noexcept { return &fields_; }
  [[nodiscard]] const DstFields& fields() const noexcept { return fields_; }
  [[nodiscard]] DstClass ownership() const noexcept { return class_; }
  /// The route behind, or nullptr for a static or uncached one. Valid as long as the destination is.
  [[nodiscard]] const Route* route() const noexcept { return route_; }
  /// Owners right now, the route itself included; for tests and `show`. 0 for a static one.
  [[nodiscard]] std::uint32_t owner_count() const noexcept {
    return owners_.load(std::memory_order_relaxed);
  }

 private:
  friend class OwnedDst;
  friend class Route;
  friend OwnedDst make_uncached(const DstFields& fields);

  DstFields fields_;
  const Route* route_;
  DstClass class_;
  mutable std::atomic<std::uint32_t> owners_{0};
};

/// The three destinations that every failed lookup shares. Identity matters: "nothing found" is null_dst(), not an errno.
[[nodiscard]] const Dst& null_dst() noexcept;       ///< ENETUNREACH, ICMPv6 1/0
[[nodiscard]] const Dst& blackhole_dst() noexcept;  ///< EINVAL, silent
[[nodiscard]] const Dst& prohibit_dst() noexcept;   ///< EACCES, ICMPv6 1/1

/// Use of a destination without a reference, inside a read section. Move-only; cannot be made outside a section.
///
/// Lifetime: until the calling thread's next quiescent state. In builds with SIDESTEP_DEBUG every use checks this and
///           aborts with the file and line of the use and of the borrow.
/// Cost:     a pointer; nothing is counted
class BorrowedDst {
 public:
  explicit BorrowedDst(const Dst& dst, std::source_location where = std::source_location::current())
      : dst_(&dst) {
#ifdef SIDESTEP_DEBUG
    epoch_ = rcu::ReadSection::current_epoch();
    borrowed_at_ = where;
    if (epoch_ == 0 && dst.ownership() != DstClass::kStatic) {
      assert_failed("a destination may only be borrowed inside a read section", where);
    }
#else
    static_cast<void>(where);
#endif
  }
  BorrowedDst(BorrowedDst&& other) noexcept = default;
  BorrowedDst& operator=(BorrowedDst&& other) noexcept = default;
  BorrowedDst(const BorrowedDst&) = delete;
  BorrowedDst& operator=(const BorrowedDst&) = delete;
  ~BorrowedDst() = default;

  /// The destination; checked in debug builds.
  [[nodiscard]] const Dst& get(std::source_location use = std::source_location::current()) const {
    check(use);
    return *dst_;
  }
  [[nodiscard]] const DstFields* operator->() const { return get().operator->(); }
  /// True when this is the given static destination (compared by identity).
  [[nodiscard]] bool is(const Dst& other) const noexcept { return dst_ == &other; }
  /// A second borrow of the same section.
  [[nodiscard]] BorrowedDst duplicate(
      std::source_location where = std::source_location::current()) const {
    check(where);
    return BorrowedDst(*dst_, where);
  }

 private:
  void check(std::source_location use) const {
#ifdef SIDESTEP_DEBUG
    if (dst_->ownership() != DstClass::kStatic && epoch_ != rcu::ReadSection::current_epoch()) {
      report_escape(use);
    }
#else
    static_cast<void>(use);
#endif
  }
#ifdef SIDESTEP_DEBUG
  [[noreturn]] void report_escape(std::source_location use) const;
  std::uint64_t epoch_ = 0;
  std::source_location borrowed_at_;
#endif
  const Dst* dst_;
};

/// A counted reference. Empty, or keeps its destination alive wherever it goes.
///
/// Thread:   any; moving between threads is fine
/// Cost:     one atomic add to take, one to release; none for a static destination
class OwnedDst {
 public:
  OwnedDst() noexcept = default;
  /// Promotes a borrow. Empty when the route died meanwhile: a normal outcome with its own drop reason.
  [[nodiscard]] static OwnedDst try_promote(const BorrowedDst& borrowed) noexcept;
  OwnedDst(OwnedDst&& other) noexcept : dst_(std::exchange(other.dst_, nullptr)) {}
  OwnedDst& operator=(OwnedDst&& other) noexcept;
  OwnedDst(const OwnedDst&) = delete;
  OwnedDst& operator=(const OwnedDst&) = delete;
  ~OwnedDst() { reset(); }

  [[nodiscard]] explicit operator bool() const noexcept { return dst_ != nullptr; }
  [[nodiscard]] const Dst& get() const noexcept {
    SIDESTEP_DEBUG_ASSERT(dst_ != nullptr);
    return *dst_;
  }
  [[nodiscard]] const DstFields* operator->() const noexcept { return get().operator->(); }
  /// Another reference to the same destination.
  [[nodiscard]] OwnedDst clone() const noexcept;
  void reset() noexcept;

 private:
  friend class PacketDst;
  friend class Route;
  friend OwnedDst make_uncached(const DstFields& fields);
  explicit OwnedDst(const Dst* dst) noexcept : dst_(dst) {}
  static void take(const Dst& dst) noexcept;
  static bool try_take(const Dst& dst) noexcept;
  static void release(const Dst& dst) noexcept;

  const Dst* dst_ = nullptr;
};

/// Makes a destination for one use. Its `encap` must outlive it.
[[nodiscard]] OwnedDst make_uncached(const DstFields& fields);

/// Number of uncached destinations alive in the process; for tests and metrics.
[[nodiscard]] std::uint64_t uncached_count() noexcept;

/// A packet's destination in one word: the pointer and a borrowed bit.
///
/// A packet that leaves its read section (queued, handed to another thread) must call force_owned() first.
class PacketDst {
 public:
  PacketDst() noexcept = default;
  PacketDst(PacketDst&& other) noexcept : word_(std::exchange(other.word_, 0)) {}
  PacketDst& operator=(PacketDst&& other) noexcept;
  PacketDst(const PacketDst&) = delete;
  PacketDst& operator=(const PacketDst&) = delete;
  ~PacketDst() { reset(); }

  /// Attaches without a reference. An uncached destination is attached owned instead, because its last release frees
  /// it on the spot.
  void set_borrowed(const BorrowedDst& dst) noexcept;
  void set_owned(OwnedDst dst) noexcept;
  void reset() noexcept;

  [[nodiscard]] explicit operator bool() const noexcept { return word_ != 0; }
  [[nodiscard]] bool is_borrowed() const noexcept { return (word_ & kBorrowedBit) != 0; }
  [[nodiscard]] const Dst& get() const noexcept {
    SIDESTEP_DEBUG_ASSERT(word_ != 0);
    return *pointer();
  }
  [[nodiscard]] const DstFields* operator->() const noexcept { return get().operator->(); }
  /// Turns a borrow into a reference; on failure the packet has no destination any more and false is returned.
  [[nodiscard]] bool force_owned() noexcept;

 private:
  static constexpr std::uintptr_t kBorrowedBit = 1;
  [[nodiscard]] const Dst* pointer() const noexcept {
    return reinterpret_cast<const Dst*>(word_ & ~kBorrowedBit);
  }
  std::uintptr_t word_ = 0;
};
static_assert(sizeof(PacketDst) == sizeof(void*));

}  // namespace sidestep::fib
