// SPDX-License-Identifier: Apache-2.0
#include "lookup/route_builder.hpp"

#include <cerrno>

#include <fmt/format.h>

#include "lookup/apply.hpp"
#include "lookup/device_events.hpp"
#include "lookup/encap_check.hpp"
#include "lookup/gateway.hpp"

namespace sidestep::lookup {
namespace {

constexpr std::uint32_t kMetricDefault = 1024;

// Reject routes are put on the loopback device, whatever was written, and nobody checks their gateway or encapsulation.
bool is_reject_type(fib::RouteType type) {
  return type == fib::RouteType::kBlackhole || type == fib::RouteType::kUnreachable ||
         type == fib::RouteType::kProhibit || type == fib::RouteType::kThrow;
}

// A device route that would loop through the loopback device becomes a reject without saying so (kernel:
// fib6_is_reject). It is checked like any other.
bool is_hidden_reject(const HopContext& context, const NexthopSpec& spec, IfIndex device) {
  return device == kLoopbackIndex && !spec.gateway &&
         !context.destination.address().is_loopback() && context.type != fib::RouteType::kLocal;
}

Result<IfIndex> device_of(const State& state, const NexthopSpec& spec) {
  if (spec.device.empty()) return IfIndex{};
  auto device = device_by_name(state, spec.device);
  if (!device) return device;
  // Below the minimum MTU a device has no IPv6 at all.
  const fib::Link& link = *state.links().find(*device);
  if (!has_ipv6(link)) return failure(ENODEV, "No such device");
  return device;
}

Result<void> check_device(const State& state, IfIndex device) {
  if (!device) return failure(ENODEV, "No such device");
  const fib::Link& link = *state.links().find(device);
  if (link.conf.disable_ipv6) return failure(EACCES, "IPv6 is disabled on nexthop device");
  if (!link.up) return failure(ENETDOWN, "Nexthop device is not up");
  return {};
}

Result<void> check_onlink_device(const State& state, IfIndex device) {
  if (!device) return failure(ENODEV, "Nexthop device required for onlink");
  if (!state.links().find(device)->up) return failure(ENETDOWN, "Nexthop device is not up");
  return {};
}

// Fills in gateway and device of a hop that leads somewhere.
Result<void> resolve_way_out(const State& state, const NexthopSpec& spec, const HopContext& context,
                             fib::Nexthop& hop) {
  if (spec.gateway) {
    const auto device = check_gateway(state, {.gateway = *spec.gateway,
                                              .device = hop.device,
                                              .onlink = spec.onlink,
                                              .table = context.table,
                                              .preferred_source = context.preferred_source});
    if (!device) return std::unexpected(device.error());
    hop.device = *device;
    hop.gateway = spec.gateway;
  }
  return check_device(state, hop.device);
}

Result<std::shared_ptr<const fib::NexthopObject>> object_of(const State& state,
                                                            const RouteChange& change) {
  const bool also_spelled = !change.hops.empty();
  if (also_spelled)
    return failure(EINVAL, "Nexthop specification and nexthop id are mutually exclusive");
  if (change.source && change.source->length() != 0) {
    return failure(EINVAL, "Nexthops can not be used with source routing");
  }
  const auto at = state.nexthops().find(change.nexthop_id);
  if (at == state.nexthops().end()) return failure(EINVAL, "Nexthop id does not exist");
  if (at->second->fdb) return failure(EINVAL, "Route cannot point to a fdb nexthop");
  return at->second;
}

fib::RouteFields plain_fields(const RouteChange& change, TimeNs now) {
  fib::RouteFields fields;
  fields.destination = change.destination;
  fields.source = change.source.value_or(net::Prefix{});
  fields.table = table_of(change);
  fields.type = change.type.value_or(fib::RouteType::kUnicast);
  fields.metric = change.metric.value_or(0) == 0 ? kMetricDefault : *change.metric;
  fields.protocol = change.protocol.value_or(0) == 0 ? fib::kProtocolBoot : *change.protocol;
  fields.preference = change.preference.value_or(fib::RouterPreference::kMedium);
  fields.preference_set = change.preference.has_value();
  fields.mtu = change.mtu;
  fields.mtu_locked = change.mtu_locked;
  fields.hop_limit = change.hop_limit;
  fields.advmss = change.advmss;
  fields.kept = change.kept;
  if (change.expires_s) fields.expires_at = TimeNs{now.value + *change.expires_s * kNsPerSecond};
  return fields;
}

}  // namespace

TableId table_of(const RouteChange& change) {
  if (change.table && change.table->value != 0) return *change.table;
  if (change.table) return kTableMain;
  switch (change.type.value_or(fib::RouteType::kUnicast)) {
    case fib::RouteType::kLocal:
    case fib::RouteType::kBroadcast:
    case fib::RouteType::kAnycast:
      return kTableLocal;
    default:
      return kTableMain;
  }
}

Result<fib::Nexthop> build_hop(State& state, const NexthopSpec& spec, const HopContext& context) {
  const auto named = device_of(state, spec);
  if (!named) return std::unexpected(named.error());
  if (spec.onlink) {
    if (auto checked = check_onlink_device(state, *named); !checked)
      return std::unexpected(checked.error());
  }
  fib::Nexthop hop;
  hop.device = *named;
  hop.weight = spec.weight;
  hop.onlink = spec.onlink;
  if (is_reject_type(context.type)) {
    hop.device = kLoopbackIndex;
    return hop;
  }
  const auto checked = is_hidden_reject(context, spec, *named)
                           ? check_device(state, *named)
                           : resolve_way_out(state, spec, context, hop);
  if (!checked) return std::unexpected(checked.error());
  auto encap = build_encap(state, spec);
  if (!encap) return std::unexpected(encap.error());
  hop.encap = *std::move(encap);
  return hop;
}

Result<fib::RouteFields> build_route(State& state, const RouteChange& change,
                                     const NexthopSpec& spec, TimeNs now) {
  fib::RouteFields fields = plain_fields(change, now);
  IfIndex device;
  if (change.nexthop_id) {
    auto object = object_of(state, change);
    if (!object) return std::unexpected(object.error());
    fields.object = *std::move(object);
    device = fields.object->hops.empty() ? kLoopbackIndex : fields.object->hops.front().device;
  } else {
    auto hop = build_hop(state, spec,
                         {.destination = fields.destination,
                          .type = fields.type,
                          .table = fields.table,
                          .preferred_source = change.preferred_source});
    if (!hop) return std::unexpected(hop.error());
    fields.hop = *std::move(hop);
    device = fields.hop.device;
    // Becoming a reject overwrites the flags, lifetime and preference among them.
    const HopContext context{.destination = fields.destination, .type = fields.type};
    if (is_reject_type(fields.type) || is_hidden_reject(context, spec, device)) {
      fields.expires_at.reset();
      fields.preference = fib::RouterPreference::kMedium;
    }
  }
  if (change.preferred_source && !change.preferred_source->is_unspecified()) {
    if (!is_own_address(state.links(), *change.preferred_source, device, false)) {
      return failure(EINVAL, "Invalid source address");
    }
    fields.preferred_source = change.preferred_source;
  }
  return fields;
}

}  // namespace sidestep::lookup
