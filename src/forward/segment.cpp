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
#include "forward/originate.hpp"
#include "forward/route.hpp"
#include "srv6/endpoint.hpp"
#include "srv6/headend.hpp"
#include "srv6/local_srh.hpp"

namespace sidestep::forward {
namespace {

using packet::DropReason;
using packet::Snmp;
using srv6::LocalSrhResult;

static_assert(kEncapsulationsMax <= SidCounters::kUnderWayMax);

srv6::Policy policy_of(const Pipeline& pipeline, const Transit& transit) {
  return {.require_hmac = transit.ingress->conf.seg6_require_hmac,
          .secrets = &pipeline.context.srv6.hmac_secrets};
}

// net.ipv6.seg6_flowlabel: below 0 none, 0 the packet's, above 0 one of its flow.
std::uint32_t outer_flow_label(const Pipeline& pipeline, const packet::Packet& packet) {
  const std::int32_t policy = pipeline.sysctls().seg6_flowlabel;
  if (policy < 0) return 0;
  return policy == 0 ? header_of(packet).flow_label() : flow_label_of(pipeline, packet.bytes());
}

/// What a headend needs to know; the source is one that suits the device of the route that encapsulates, wherever the packet
/// then goes.
srv6::Surroundings surroundings_of(const Pipeline& pipeline, const packet::Packet& packet,
                                   const net::Ipv6Address& first_segment) {
  const srv6::Settings& settings = pipeline.context.srv6;
  const std::optional<net::Ipv6Address> source =
      settings.tunnel_source.is_unspecified()
          ? pipeline.context.fib.select_source(first_segment, packet.dst->device)
          : settings.tunnel_source;
  return {source, outer_flow_label(pipeline, packet), &settings.hmac_secrets};
}

srv6::Wanted run_headend(const Pipeline& pipeline, packet::Packet& packet,
                         const fib::Seg6Encap& encap) {
  return srv6::run_headend(packet, encap,
                           surroundings_of(pipeline, packet, encap.segments.front()));
}

srv6::Wanted run_srv6(const Pipeline& pipeline, Transit& transit, const fib::Encap& encap) {
  packet::Packet& packet = *transit.packet;
  if (const auto* headend = std::get_if<fib::Seg6Encap>(&encap)) {
    return run_headend(pipeline, packet, *headend);
  }
  const auto& local = std::get<fib::Seg6LocalEncap>(encap);
  const srv6::Surroundings around =
      local.srh_segments.empty() ? srv6::Surroundings{}
                                 : surroundings_of(pipeline, packet, local.srh_segments.front());
  return srv6::run_behavior(packet, local, policy_of(pipeline, transit), around);
}

void count_sid(Pipeline& pipeline, const packet::Packet& packet, const fib::Encap& encap) {
  const auto* local = std::get_if<fib::Seg6LocalEncap>(&encap);
  if (local != nullptr) pipeline.sids.enter(local->counter, packet.size());
}

/// Why a device does not take an Ethernet frame, or kNone.
DropReason judge_frame(const fib::Link* egress, std::span<const std::uint8_t> frame) {
  constexpr std::uint16_t kEtherTypeMin = 0x600;  // what is smaller is an IEEE 802.3 length
  if (net::load_be16(&frame[net::kEthernetHeaderSize - 2]) < kEtherTypeMin)
    return DropReason::kSidNoPayload;
  if (egress == nullptr || egress->is_loopback() || !egress->up || !egress->carrier)
    return DropReason::kEgressDown;
  const bool fits = frame.size() - net::kEthernetHeaderSize <= egress->mtu;
  return fits ? DropReason::kNone : DropReason::kFrameTooLong;
}

/// The bytes are an Ethernet frame, to be sent as it is. IPv6 has no part in it, and counts nothing.
void send_frame(Pipeline& pipeline, Transit& transit, IfIndex device) {
  packet::Packet& packet = *transit.packet;
  const auto frame = std::as_const(packet).bytes();
  const DropReason reason = judge_frame(pipeline.link(device), frame);
  if (reason != DropReason::kNone) return drop(pipeline, transit, reason);
  packet::PacketMeta& meta = packet.meta;
  std::copy_n(frame.begin(), 6, meta.destination_mac.bytes.begin());
  std::copy_n(frame.begin() + 6, 6, meta.source_mac.bytes.begin());
  meta.ether_type = net::load_be16(&frame[12]);
  meta.has_mac = true;
  meta.egress = device;
  meta.verdict = packet::Verdict::kTransmit;
  packet.remove_front(net::kEthernetHeaderSize);
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

// A behavior's lookup sees little of the packet. For most its result must not be this node's own address: the kernel
// drops that without a word (RFC 8986 has the upper layer processed there instead).
Next run_encap(Pipeline& pipeline, Transit& transit, const fib::Encap& encap) {
  if (transit.encapsulations == kEncapsulationsMax) {
    drop(pipeline, transit, DropReason::kTunnelRecursion);
    return Next::kDone;
  }
  ++transit.encapsulations;
  save_original(pipeline, transit);
  count_sid(pipeline, *transit.packet, encap);
  const srv6::Wanted wanted = run_srv6(pipeline, transit, encap);
  if (wanted.kind == srv6::Wanted::Kind::kDrop) {
    drop(pipeline, transit, wanted.reason);
    return Next::kDone;
  }
  if (wanted.kind == srv6::Wanted::Kind::kSendFrame) {
    send_frame(pipeline, transit, wanted.device);
    return Next::kDone;
  }
  if (!route_wanted(pipeline, transit, wanted)) return Next::kDone;
  if (!wanted.may_be_local && leads_to_loopback(transit.packet->dst.get())) {
    drop(pipeline, transit, DropReason::kSidLocalNext);
    return Next::kDone;
  }
  return Next::kInput;
}

// Kernel: seg6_output_core. The outer header has the inner one's hop limit, and this node takes none of it.
DropReason encapsulate_own(Pipeline& pipeline, packet::Packet& packet, const fib::Seg6Encap& encap,
                           net::Ipv6Address& neighbor_key) {
  const srv6::Wanted wanted = run_headend(pipeline, packet, encap);
  if (wanted.kind == srv6::Wanted::Kind::kDrop) return wanted.reason;
  const auto header = header_of(std::as_const(packet));
  rules::Flow flow = own_flow(packet, header.destination(), header.source(), IfIndex{});
  flow.protocol = header.next_header();
  flow.traffic_class = header.traffic_class();
  flow.flow_label = header.flow_label();
  const lookup::Answer answer = pipeline.context.fib.output(flow);
  if (answer.error() != 0) return DropReason::kNoRoute;
  packet.dst.set_borrowed(answer.dst);
  neighbor_key = answer.neighbor_key;
  return DropReason::kNone;
}

EndHostResult end_host_srh(Pipeline& pipeline, Transit& transit, std::size_t offset) {
  if (!accepts_srh(pipeline, transit)) {
    drop(pipeline, transit, DropReason::kSeg6Disabled);
    return {};
  }
  const DropReason reason =
      srv6::check_local_srh(*transit.packet, offset, policy_of(pipeline, transit));
  if (reason != DropReason::kNone) {
    drop_unchecked(pipeline, transit, reason);
    return {};
  }
  save_original(pipeline, transit);
  return follow_segments(pipeline, transit, offset);
}

}  // namespace sidestep::forward
