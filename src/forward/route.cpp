// SPDX-License-Identifier: Apache-2.0
// Lookup, and what becomes of a packet by what was found.
//
// A destination's input function may replace the destination: an SRv6 behavior or the end-host code for SRHs writes
// the next segment into the packet and looks it up. The new destination's input function runs then, and so on;
// run_input() is the loop. Each turn costs a lookup, and lookups are bounded per packet.
#include "forward/route.hpp"

#include <array>

#include "forward/deliver.hpp"
#include "forward/forward.hpp"
#include "forward/icmp.hpp"
#include "forward/receive.hpp"
#include "forward/segment.hpp"

namespace sidestep::forward {
namespace {

using fib::DstInput;
using packet::DropReason;
using packet::Snmp;

// Every lookup after the first needs a segment left (one SRH has at most 127) or takes a header off, so only a packet
// built to keep the router busy comes here. How often routes with an encapsulation may follow each other is bounded by far
// less (segment.cpp).
constexpr std::uint8_t kLookupsMax = 160;

// Kernel: ip6_pkt_drop. The unspecified address as destination is an address error, but answered all the same.
void reject(Pipeline& pipeline, Transit& transit, DropReason reason, std::uint8_t code) {
  const bool unspecified = header_of(*transit.packet).destination().is_unspecified();
  pipeline.counters.add(unspecified ? Snmp::kIp6InAddrErrors : Snmp::kIp6InNoRoutes,
                        transit.packet->meta.ingress);
  send_error(pipeline, transit, {net::kIcmpv6DestinationUnreachable, code, 0});
  drop(pipeline, transit, reason);
}

/// Runs the input function of the packet's destination.
Next run_one(Pipeline& pipeline, Transit& transit) {
  const fib::Dst& dst = transit.packet->dst.get();
  switch (dst->input) {
    case DstInput::kUnreachable:
      reject(pipeline, transit, DropReason::kNoRoute, net::kUnreachableNoRoute);
      return Next::kDone;
    case DstInput::kProhibit:
      reject(pipeline, transit, DropReason::kProhibited, net::kUnreachableProhibited);
      return Next::kDone;
    case DstInput::kBlackhole:
      drop(pipeline, transit, DropReason::kBlackhole);
      return Next::kDone;
    default:
      break;
  }
  // An encapsulation takes the place of the input function (lwtunnel input redirect).
  if (dst->encap != nullptr && !std::holds_alternative<std::monostate>(*dst->encap)) {
    return run_encap(pipeline, transit, *dst->encap);
  }
  switch (dst->input) {
    case DstInput::kDeliver:
      pipeline.sids.settle(false);
      return deliver(pipeline, transit);
    case DstInput::kDeliverMulticast:
      pipeline.sids.settle(false);
      return deliver_multicast(pipeline, transit);
    default:
      forward(pipeline, transit);
      return Next::kDone;
  }
}

/// Takes a packet whose outer headers are gone up to its destination again.
Next receive_again(Pipeline& pipeline, Transit& transit) {
  transit.encapsulations = 0;
  receive(pipeline, transit);
  if (!transit.is_pending()) return Next::kDone;
  return route(pipeline, transit, KeyDepth::kFull) ? Next::kInput : Next::kDone;
}

/// Carries out what the receive stage decided.
void refuse(Pipeline& pipeline, Transit& transit) {
  if (transit.error) send_error(pipeline, transit, *transit.error);
  drop(pipeline, transit, transit.refused);
}

/// Counts a lookup of this packet, or drops it when it has had its share.
bool may_look_up(Pipeline& pipeline, Transit& transit) {
  packet::Packet& packet = *transit.packet;
  if (packet.meta.lookups == kLookupsMax) {
    drop(pipeline, transit, DropReason::kLookupLimit);
    return false;
  }
  ++packet.meta.lookups;
  return true;
}

void take(Transit& transit, const lookup::Answer& answer) {
  transit.neighbor_key = answer.neighbor_key;
  transit.packet->dst.set_borrowed(answer.dst);
}

using WantedKind = srv6::Wanted::Kind;

/// The key of an SRv6 lookup: little of the packet, and what is wanted in place of its destination. Equal-cost hops are
/// chosen by the packet all the same, unless the lookup is one for output, which sees no packet.
rules::Flow wanted_flow(const Pipeline& pipeline, const Transit& transit,
                        const srv6::Wanted& wanted) {
  rules::Flow flow = flow_of(pipeline, transit, KeyDepth::kReduced);
  if (!wanted.nexthop) return flow;
  flow.destination = *wanted.nexthop;
  flow.known_nexthop = true;
  flow.oif = wanted.device;
  flow.multipath_hash = wanted.kind == WantedKind::kOutputLookup
                            ? 0
                            : quoted_hash_of(pipeline, std::as_const(*transit.packet).bytes());
  return flow;
}

lookup::Answer look_up(const lookup::Fib& fib, const rules::Flow& flow,
                       const srv6::Wanted& wanted) {
  if (wanted.kind == WantedKind::kTableLookup) return fib.table(wanted.table, flow);
  return wanted.kind == WantedKind::kOutputLookup ? fib.output(flow) : fib.input(flow);
}

}  // namespace

bool route_wanted(Pipeline& pipeline, Transit& transit, const srv6::Wanted& wanted) {
  if (wanted.kind == WantedKind::kNewLookup) return route(pipeline, transit, KeyDepth::kFull);
  if (!may_look_up(pipeline, transit)) return false;
  const rules::Flow flow = wanted_flow(pipeline, transit, wanted);
  take(transit, look_up(pipeline.context.fib, flow, wanted));
  return true;
}

bool route(Pipeline& pipeline, Transit& transit, KeyDepth depth) {
  if (!may_look_up(pipeline, transit)) return false;
  take(transit, pipeline.context.fib.input(flow_of(pipeline, transit, depth)));
  return true;
}

void route_batch(Pipeline& pipeline, std::span<Transit> batch) {
  constexpr std::size_t kBlock = 64;
  std::array<lookup::Flow, kBlock> flows;
  std::array<lookup::Answer, kBlock> answers;
  std::array<Transit*, kBlock> asking;
  std::size_t count = 0;
  const auto look_up = [&] {
    pipeline.context.fib.input(std::span(flows).first(count), std::span(answers).first(count));
    for (std::size_t i = 0; i < count; ++i) take(*asking[i], answers[i]);
    count = 0;
  };
  for (Transit& transit : batch) {
    if (!transit.is_pending() || !may_look_up(pipeline, transit)) continue;
    flows[count] = flow_of(pipeline, transit, KeyDepth::kFull);
    asking[count++] = &transit;
    if (count == kBlock) look_up();
  }
  look_up();
}

void run_input(Pipeline& pipeline, Transit& transit) {
  Next next = transit.is_pending() ? Next::kInput : Next::kDone;
  while (next != Next::kDone) {
    next = next == Next::kInput ? run_one(pipeline, transit) : receive_again(pipeline, transit);
  }
  if (transit.packet->meta.verdict == packet::Verdict::kPending) refuse(pipeline, transit);
  pipeline.sids.settle(is_sid_error(transit.packet->meta));
}

bool leads_to_loopback(const fib::Dst& dst) noexcept {
  return dst->error == 0 && dst->device == kLoopbackIndex;
}

IfIndex owner_of(const fib::Dst& dst, IfIndex fallback) noexcept {
  const fib::Route* const route = dst.route();
  if (route == nullptr || route->hop_count() == 0) return fallback;
  const IfIndex device = route->hop(0).device;
  return device ? device : fallback;
}

}  // namespace sidestep::forward
