// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sidestep/fib/dst.hpp>
#include <sidestep/fib/encap.hpp>
#include <sidestep/fib/exceptions.hpp>
#include <sidestep/net/ids.hpp>
#include <sidestep/net/prefix.hpp>
#include <sidestep/rcu/rcu.hpp>

namespace sidestep::fib {

/// Route types, numbered as RTN_* of linux/rtnetlink.h.
enum class RouteType : std::uint8_t {
  kUnicast = 1,
  kLocal = 2,
  kBroadcast = 3,
  kAnycast = 4,
  kMulticast = 5,
  kBlackhole = 6,
  kUnreachable = 7,
  kProhibit = 8,
  kThrow = 9,
};

/// Default router preference of RFC 4191 (`pref`), by rank.
enum class RouterPreference : std::uint8_t { kLow = 0, kMedium = 1, kHigh = 2 };

/// Route protocol numbers (`proto`), as /etc/iproute2/rt_protos names them; any 0..255 is legal.
inline constexpr std::uint8_t kProtocolKernel = 2;
inline constexpr std::uint8_t kProtocolBoot = 3;
inline constexpr std::uint8_t kProtocolStatic = 4;

/// One way out: gateway and/or device, weight, encapsulation. What changes with the device (dead, linkdown, a ring
/// sibling's share) is kept in the table's RouteSet, so that a device event does not make new routes.
struct Nexthop {
  IfIndex device{};
  std::optional<net::Ipv6Address> gateway{};
  std::uint16_t weight = 1;  ///< 1..256 (65,536 for nexthop objects on newer kernels is refused)
  bool onlink = false;
  std::int32_t upper_bound =
      0x7fffffff;  ///< members of a nexthop group: last hash value of the share; -1: none
  std::shared_ptr<const Encap> encap{};  ///< nullptr: none
  /// What overrides this hop for single destinations; nullptr: nothing ever did. A nexthop object's are shared by its routes.
  std::shared_ptr<HopExceptions> exceptions{};
};

/// How a route to one destination came to override another (RTF_CACHE in the kernel).
enum class ExceptionKind : std::uint8_t {
  kNone,      ///< it is an entry of a table
  kPathMtu,   ///< RFC 8201: a Packet Too Big
  kRedirect,  ///< RFC 4861 section 8
};

/// A nexthop object (ip-nexthop(8)) as routes see it: one hop, a blackhole, or a group of hops. Immutable; a change of
/// the object publishes new routes.
struct NexthopObject {
  NexthopId id{};
  bool blackhole = false;
  bool group = false;
  bool fdb = false;
  bool resilient = false;          ///< group: `type resilient`
  std::uint32_t buckets = 0;       ///< resilient
  std::uint32_t idle_timer_s = 0;  ///< resilient; kept and printed only, as the next one
  std::uint32_t unbalanced_timer_s = 0;
  std::uint8_t protocol = 0;
  std::vector<Nexthop> hops{};       ///< group: one per usable member, weight = member's
  std::vector<NexthopId> members{};  ///< group only, parallel to hops
  std::vector<NexthopId>
      bucket_members{};  ///< resilient: whose each bucket is; empty: not dealt yet
  std::vector<std::uint16_t> bucket_hops{};  ///< the same as indexes of hops, for lookups
};

/// Metrics that forwarding never reads (`window`, `initcwnd`, `congctl`, …) and locks: kept and printed only.
struct KeptMetrics {
  std::map<std::uint8_t, std::uint32_t> values{};  ///< by RTAX_* number
  std::uint32_t locked =
      0;  ///< bit n: metric n is locked (`hoplimit lock 9`); MTU has its own flag
  std::string congestion_control{};
  bool operator==(const KeptMetrics&) const = default;
};

/// Everything of a route but its life: one entry of a table, which has exactly one inline hop or a nexthop object.
///
/// As in the kernel, a multipath route is several entries of one prefix and metric: all that have a gateway and are not
/// learned from an RA form the ring (ECMP siblings).
struct RouteFields {
  net::Prefix destination{};
  net::Prefix source{};  ///< /0: not source-specific
  TableId table = kTableMain;
  RouteType type = RouteType::kUnicast;
  std::uint32_t metric = 1024;  ///< small wins
  std::uint8_t protocol = kProtocolBoot;
  RouterPreference preference = RouterPreference::kMedium;
  bool preference_set = false;  ///< `pref` was given or the kernel would print it
  std::optional<net::Ipv6Address> preferred_source{};  ///< `src`
  std::uint32_t mtu = 0;                               ///< bytes; 0: none
  bool mtu_locked = false;
  std::uint32_t hop_limit = 0;         ///< 0: none
  std::uint32_t advmss = 0;            ///< bytes; 0: none. Kept and printed only
  std::optional<TimeNs> expires_at{};  ///< not used from this instant on
  bool is_ra_learned = false;          ///< RTF_ADDRCONF
  bool is_anycast_flagged = false;     ///< made by the address code, not by a user's `anycast`
  Nexthop hop{};                       ///< when `object` is null
  std::shared_ptr<const NexthopObject> object{};
  KeptMetrics kept{};
  IfIndex local_device =
      kLoopbackIndex;  ///< of local routes' destinations: a VRF where the hop's device is in one
  std::uint64_t entry_id =
      0;  ///< who it is in its table, through rewriting in place; 0: never inserted
  ExceptionKind exception = ExceptionKind::kNone;
};

/// A published route. Immutable; owns the destinations that lookups borrow, one per hop.
///
/// Lifetime: made by the writer, published in a table, unlinked, then retire() once. Freed after a grace period and
///           when no OwnedDst is left.
class Route : private rcu::Retirable {
 public:
  /// Builds the route and its destinations from fields (which must already be validated).
  [[nodiscard]] static Route* create(RouteFields fields);

  [[nodiscard]] const RouteFields& fields() const noexcept { return fields_; }
  [[nodiscard]] const RouteFields* operator->() const noexcept { return &fields_; }
  /// Hops, inline or of the nexthop object; a reject route has one.
  [[nodiscard]] std::size_t hop_count() const noexcept { return dsts_.size(); }
  [[nodiscard]] const Nexthop& hop(std::size_t index) const noexcept;
  [[nodiscard]] const Dst& dst(std::size_t index) const noexcept { return dsts_[index]; }
  [[nodiscard]] bool is_reject() const noexcept;
  /// Joins ECMP rings: has a gateway, is not RA-learned, uses no nexthop object.
  [[nodiscard]] bool is_ecmp_capable() const noexcept;
  [[nodiscard]] bool is_expired(TimeNs now) const noexcept {
    return fields_.expires_at.has_value() && now >= *fields_.expires_at;
  }

  /// Whether a hop has, or had, exceptions: then answers depend on the flow's destination, and on time.
  [[nodiscard]] bool has_exceptions() const noexcept { return has_exceptions_; }

  /// Gives back the route's own hold on its destinations. The route must be unreachable for new readers.
  /// Thread: writer. Called exactly once.
  void retire() noexcept;

  /// Routes alive in the process, retired but unfreed ones included; for tests and metrics.
  [[nodiscard]] static std::uint64_t live_count() noexcept;

 private:
  friend class OwnedDst;
  explicit Route(RouteFields fields);
  ~Route();
  /// Told by the release that brought a destination's counter to zero.
  void dst_released() const noexcept;

  RouteFields fields_;
  bool has_exceptions_ = false;
  std::deque<Dst> dsts_;  // a deque: Dst does not move
  mutable std::atomic<std::uint32_t> dsts_held_;
};

}  // namespace sidestep::fib
