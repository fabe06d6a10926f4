// SPDX-License-Identifier: Apache-2.0
// Where segment routing meets the pipeline: module srv6 rewrites the packet and
// says what it wants, and here it gets it.
//
// Neither path touches the hop limit for moving on to the next segment; forward() takes one when the packet leaves.
// The exception is the end-host code, which takes one for each further segment that is this node again, so that a
// list of own addresses ends. Both keep the bytes as received first, for a later drop.
#include "forward/segment.hpp"

#include <algorithm>

#include "forward/flow_key.hpp"
#include "forward/icmp.hpp"
#include "forward/route.hpp"
#include "srv6/endpoint.hpp"

namespace sidestep::forward {
namespace {

using packet::DropReason;
using packet::Snmp;
using srv6::LocalSrhResult;

srv6::Policy policy_of(const Transit& transit) {
  return {.require_hmac = transit.ingress->conf.seg6_require_hmac};
}

srv6::EndpointResult run_srv6(Transit& transit, const fib::Encap& encap) {
  if (const auto* local = std::get_if<fib::Seg6LocalEncap>(&encap)) {
    return srv6::run_behavior(*transit.packet, *local, policy_of(transit));
  }
  return srv6::run_headend(*transit.packet, std::get<fib::Seg6Encap>(encap));
}

// The smaller of the two switches counts, as in the kernel; 1 is the largest value that either has here.
bool accepts_srh(const Pipeline& pipeline, const Transit& transit) {
  return pipeline.sysctls().all.seg6_enabled && transit.ingress->conf.seg6_enabled;
}

// An SRH that fails here leaves silently, but for one that is cut off.
void drop_unchecked(Pipeline& pipeline, Transit& transit, DropReason reason) {
  if (reason == DropReason::kExtensionHeaderMalformed) {
    pipeline.counters.add(Snmp::kIp6InHdrErrors, transit.ingress->index);
  }
  drop(pipeline, transit, reason);
}

void answer_parameter_problem(Pipeline& pipeline, Transit& transit, const LocalSrhResult& step) {
  pipeline.counters.add(Snmp::kIp6InHdrErrors, transit.ingress->index);
  send_error(pipeline, transit,
             {net::kIcmpv6ParameterProblem, net::kParameterErroneousField, step.pointer});
  drop(pipeline, transit, step.reason);
}

/// The next segment is this node again: one hop, or the end of the packet.
bool spend_hop_limit(Pipeline& pipeline, Transit& transit) {
  net::MutableIpv6Header header = header_of(*transit.packet);
  if (header.hop_limit() > 1) {
    header.set_hop_limit(static_cast<std::uint8_t>(header.hop_limit() - 1));
    return true;
  }
  pipeline.counters.add(Snmp::kIp6InHdrErrors, transit.ingress->index);
  send_error(pipeline, transit, {net::kIcmpv6TimeExceeded, net::kTimeExceededHopLimit, 0});
  drop(pipeline, transit, DropReason::kHopLimitExceeded);
  return false;
}

/// Looks the new segment up; true when it is this node again and the header is to be read once more.
bool comes_back(Pipeline& pipeline, Transit& transit, EndHostResult& result) {
  if (!route(pipeline, transit, KeyDepth::kFull)) return false;
  if (leads_to_loopback(transit.packet->dst.get())) return spend_hop_limit(pipeline, transit);
  result.next = Next::kInput;
  return false;
}

EndHostResult follow_segments(Pipeline& pipeline, Transit& transit, std::size_t offset) {
  EndHostResult result;
  while (true) {
    const LocalSrhResult step = srv6::local_srh(*transit.packet, offset);
    switch (step.outcome) {
      case LocalSrhResult::Outcome::kNextHeader:
        result.continue_behind = true;
        return result;
      case LocalSrhResult::Outcome::kReceive:
        result.next = Next::kReceive;
        return result;
      case LocalSrhResult::Outcome::kParameterProblem:
        answer_parameter_problem(pipeline, transit, step);
        return result;
      case LocalSrhResult::Outcome::kDrop:
        drop(pipeline, transit, step.reason);
        return result;
      case LocalSrhResult::Outcome::kLookup:
        if (!comes_back(pipeline, transit, result)) return result;
        break;
    }
  }
}

}  // namespace

// A behavior's lookup sees little of the packet, and its result must not be this node's own address: the kernel drops
// that without a word (RFC 8986 has the upper layer processed there instead).
Next run_encap(Pipeline& pipeline, Transit& transit, const fib::Encap& encap) {
  save_original(pipeline, transit);
  const srv6::EndpointResult result = run_srv6(transit, encap);
  if (result.outcome == srv6::EndpointResult::Outcome::kDrop) {
    drop(pipeline, transit, result.reason);
    return Next::kDone;
  }
  if (!route(pipeline, transit, KeyDepth::kReduced)) return Next::kDone;
  if (leads_to_loopback(transit.packet->dst.get())) {
    drop(pipeline, transit, DropReason::kSidLocalNext);
    return Next::kDone;
  }
  return Next::kInput;
}

EndHostResult end_host_srh(Pipeline& pipeline, Transit& transit, std::size_t offset) {
  if (!accepts_srh(pipeline, transit)) {
    drop(pipeline, transit, DropReason::kSeg6Disabled);
    return {};
  }
  const DropReason reason = srv6::check_local_srh(*transit.packet, offset, policy_of(transit));
  if (reason != DropReason::kNone) {
    drop_unchecked(pipeline, transit, reason);
    return {};
  }
  save_original(pipeline, transit);
  return follow_segments(pipeline, transit, offset);
}

}  // namespace sidestep::forward
