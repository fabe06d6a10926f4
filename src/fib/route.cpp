// SPDX-License-Identifier: Apache-2.0
#include <sidestep/fib/route.hpp>

#include <cerrno>

namespace sidestep::fib {
namespace {

std::atomic<std::uint64_t> g_live_count{0};

struct Outcome {
  DstInput input;
  int error;
};

bool is_reject_type(RouteType type) {
  return type == RouteType::kBlackhole || type == RouteType::kUnreachable ||
         type == RouteType::kProhibit || type == RouteType::kThrow;
}

// The kernel turns a route over the loopback device into a reject without saying so, unless it is a local entry, an
// anycast entry of its own making, or for ::1: the type stays, `route get` reports no error, packets meet ICMPv6 1/0.
bool is_hidden_reject(const RouteFields& fields) {
  if (fields.object != nullptr || fields.hop.device != kLoopbackIndex) return false;
  return fields.type != RouteType::kLocal && !fields.is_anycast_flagged &&
         !fields.destination.address().is_loopback();
}

Outcome outcome_of(const RouteFields& fields) {
  switch (fields.type) {
    case RouteType::kBlackhole:
      return {DstInput::kBlackhole, EINVAL};
    case RouteType::kUnreachable:
      return {DstInput::kUnreachable, EHOSTUNREACH};
    case RouteType::kProhibit:
      return {DstInput::kProhibit, EACCES};
    case RouteType::kThrow:
      return {DstInput::kUnreachable, EAGAIN};
    default:
      break;
  }
  if (fields.object != nullptr && fields.object->blackhole) return {DstInput::kBlackhole, EINVAL};
  if (is_hidden_reject(fields)) return {DstInput::kUnreachable, 0};
  // By type, so that `anycast` typed by a user delivers locally too.
  if (fields.type == RouteType::kLocal || fields.type == RouteType::kAnycast)
    return {DstInput::kDeliver, 0};
  if (fields.destination.address().is_multicast()) return {DstInput::kDeliverMulticast, 0};
  return {DstInput::kForward, 0};
}

DstFields dst_fields(const RouteFields& fields, const Nexthop& hop) {
  const Outcome outcome = outcome_of(fields);
  DstFields dst;
  dst.input = outcome.input;
  dst.error = outcome.error;
  // By flag: a user's `anycast` keeps its device.
  const bool flagged_local = fields.type == RouteType::kLocal || fields.is_anycast_flagged;
  dst.device = outcome.error != 0 ? kLoopbackIndex
               : flagged_local    ? fields.local_device
                                  : hop.device;
  dst.has_gateway = hop.gateway.has_value();
  if (hop.gateway) dst.gateway = *hop.gateway;
  dst.mtu = fields.mtu;
  dst.mtu_locked = fields.mtu_locked;
  dst.hop_limit = fields.hop_limit;
  // A reject never gets to its encapsulation.
  const bool leads_on = outcome.input == DstInput::kForward ||
                        outcome.input == DstInput::kDeliver ||
                        outcome.input == DstInput::kDeliverMulticast;
  if (leads_on) dst.encap = hop.encap.get();
  return dst;
}

const Nexthop& hop_of(const RouteFields& fields, std::size_t index) {
  if (fields.object == nullptr || fields.object->hops.empty()) return fields.hop;
  return fields.object->hops[index];
}

}  // namespace

Route* Route::create(RouteFields fields) { return new Route(std::move(fields)); }

Route::Route(RouteFields fields) : fields_(std::move(fields)), dsts_held_(0) {
  destroy = [](rcu::Retirable* object) { delete static_cast<Route*>(object); };
  const bool by_object = fields_.object != nullptr && !fields_.object->hops.empty();
  const std::size_t count = by_object ? fields_.object->hops.size() : 1;
  for (std::size_t i = 0; i < count; ++i) {
    const Dst& dst = dsts_.emplace_back(DstClass::kRoute, dst_fields(fields_, hop(i)), this);
    dst.owners_.store(1, std::memory_order_relaxed);  // the route's own hold; not yet published
    has_exceptions_ = has_exceptions_ || hop(i).exceptions != nullptr;
  }
  dsts_held_.store(static_cast<std::uint32_t>(count), std::memory_order_relaxed);
  g_live_count.fetch_add(1, std::memory_order_relaxed);
}

Route::~Route() { g_live_count.fetch_sub(1, std::memory_order_relaxed); }

const Nexthop& Route::hop(std::size_t index) const noexcept { return hop_of(fields_, index); }

bool Route::is_reject() const noexcept { return is_reject_type(fields_.type); }

bool Route::is_ecmp_capable() const noexcept {
  return fields_.object == nullptr && !fields_.is_ra_learned && fields_.hop.gateway.has_value();
}

void Route::retire() noexcept {
  // Count first: giving back the last hold may hand the route to the reclaimer.
  const std::size_t count = dsts_.size();
  for (std::size_t i = 0; i < count; ++i) OwnedDst::release(dsts_[i]);
}

void Route::dst_released() const noexcept {
  // Acquire-release: whoever sees zero has seen every other destination's last use.
  if (dsts_held_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  // The route is mutable to its reclaimer only, and nobody can reach it any more but readers of this grace period.
  rcu::retire(const_cast<Route*>(this));
}

std::uint64_t Route::live_count() noexcept { return g_live_count.load(std::memory_order_relaxed); }

}  // namespace sidestep::fib
