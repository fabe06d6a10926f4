// SPDX-License-Identifier: Apache-2.0
#include "app/explain_packet.hpp"

#include <chrono>
#include <optional>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <sidestep/lookup/explain.hpp>
#include <sidestep/net/headers.hpp>

#include "app/explain.hpp"
#include "config/names.hpp"
#include "config/print.hpp"
#include "forward/flow_key.hpp"

namespace sidestep::app {
namespace {

using packet::DropReason;
using packet::Verdict;
using Bytes = std::span<const std::uint8_t>;

constexpr std::uint64_t kNsPerSecondOfClock = 1'000'000'000;

std::string time_text(std::uint64_t ns) {
  const auto seconds = static_cast<std::time_t>(ns / kNsPerSecondOfClock);
  return fmt::format("{:%Y-%m-%d %H:%M:%S}.{:09} UTC", fmt::gmtime(seconds),
                     ns % kNsPerSecondOfClock);
}

/// The first routing header of a packet, when it is whole.
std::optional<net::RoutingHeader> routing_header(Bytes packet) {
  net::ExtensionHeaderWalk walk(packet);
  while (const auto header = walk.next()) {
    if (header->type == net::kNextHeaderRouting)
      return net::RoutingHeader::check(header->in(packet));
  }
  return std::nullopt;
}

std::string routing_text(const net::RoutingHeader& header) {
  std::string text = fmt::format("routing header of type {}, segments left {}",
                                 header.routing_type(), header.segments_left());
  const auto srh = net::Srh::check(header.bytes(), net::SrhForm::kReduced);
  if (!srh) return text;
  text += ", segments (the last one first)";
  for (std::size_t i = 0; i < srh->segment_count(); ++i) text += " " + srh->segment(i).to_string();
  return text;
}

std::string packet_text(Bytes packet) {
  const auto header = net::Ipv6Header::check(packet);
  if (!header) return fmt::format("{} bytes, fewer than an IPv6 header has", packet.size());
  std::string text =
      fmt::format("{} > {}, hop limit {}, next header {}, {} bytes", header->source().to_string(),
                  header->destination().to_string(), header->hop_limit(),
                  config::ip_protocol_name(header->next_header()), packet.size());
  if (const auto routing = routing_header(packet)) text += "; " + routing_text(*routing);
  return text;
}

template <typename T>
void note_change(std::string& text, std::string_view what, const T& before, const T& after) {
  if (before == after) return;
  text += fmt::format("{}{} {} -> {}", text.empty() ? "" : ", ", what, before, after);
}

void note_routing_change(std::string& text, Bytes before, Bytes after) {
  const auto old_header = routing_header(before);
  const auto new_header = routing_header(after);
  if (old_header && new_header) {
    note_change(text, "segments left", old_header->segments_left(), new_header->segments_left());
  } else if (old_header || new_header) {
    text += fmt::format("{}routing header {}", text.empty() ? "" : ", ",
                        old_header ? "removed" : "added");
  }
}

/// The fields of the header that differ.
std::string changes_text(Bytes before, Bytes after) {
  const auto was = net::Ipv6Header::check(before);
  const auto is = net::Ipv6Header::check(after);
  if (!was || !is) return "";
  std::string text;
  note_change(text, "source", was->source().to_string(), is->source().to_string());
  note_change(text, "destination", was->destination().to_string(), is->destination().to_string());
  note_routing_change(text, before, after);
  note_change(text, "hop limit", was->hop_limit(), is->hop_limit());
  note_change(text, "traffic class", was->traffic_class(), is->traffic_class());
  note_change(text, "flow label", was->flow_label(), is->flow_label());
  note_change(text, "next header", was->next_header(), is->next_header());
  note_change(text, "payload length", was->payload_length(), is->payload_length());
  return text.empty() ? "nothing" : text;
}

std::string drop_text(DropReason reason, std::string_view detail) {
  const auto& text = packet::text_of(reason);
  return fmt::format("dropped as {}: {}{}", text.name, text.help,
                     detail.empty() ? "" : fmt::format(" ({})", detail));
}

std::string outcome_text(const Router& router, const packet::Packet& packet) {
  const auto& meta = packet.meta;
  switch (meta.verdict) {
    case Verdict::kTransmit:
      return fmt::format("sent out of {} to {}", router.links().name(meta.egress),
                         meta.destination_mac.to_string());
    case Verdict::kDeliver:
      return "delivered to this router";
    case Verdict::kAnswered:
      return "answered by this router itself";
    case Verdict::kDrop:
      return drop_text(meta.drop_reason, "");
    case Verdict::kPending:
      break;
  }
  return "without a verdict";
}

/// The answer of one lookup in a line.
std::string answer_text(const Router& router, const lookup::Answer& answer) {
  const auto& dst = answer.dst.get().fields();
  switch (dst.input) {
    case fib::DstInput::kUnreachable:
      return "unreachable";
    case fib::DstInput::kProhibit:
      return "prohibited";
    case fib::DstInput::kBlackhole:
      return "blackhole";
    case fib::DstInput::kDeliver:
      return "an address of this router";
    case fib::DstInput::kDeliverMulticast:
      return "multicast";
    case fib::DstInput::kForward:
      break;
  }
  std::string text;
  if (dst.encap != nullptr) text = config::print_encap(*dst.encap, router.links());
  text.erase(0, text.find_first_not_of(' '));
  while (text.ends_with(' ')) text.pop_back();
  if (!text.empty()) return text;
  return fmt::format("{} {} on {}", dst.has_gateway ? "gateway" : "neighbor",
                     answer.neighbor_key.to_string(), router.links().name(dst.device));
}

/// One lookup of a packet, with its walk.
struct Walked {
  std::string text;
  bool runs_encap = false;  ///< the destination has an SRv6 behavior or headend
  bool is_delivery = false;
};

Walked walk(const Router& router, Bytes bytes, const PacketFate& fate, forward::KeyDepth depth) {
  packet::Packet packet;
  if (!packet.assign(bytes)) return {};
  packet.meta.ingress = fate.device.index;
  packet.meta.received_at = TimeNs{fate.record.clock_ns - fate.start_ns};
  const forward::Context context{router.fib(), router.neighbors(), router.srv6()};
  forward::Pipeline pipeline(context);
  forward::Transit transit;
  transit.packet = &packet;

  const rcu::ReadSection section;
  const auto flow = forward::flow_of(pipeline, transit, depth);
  lookup::Explanation explanation;
  const auto answer = router.fib().input_explained(flow, explanation);
  name_rules(explanation, router.fib());
  const auto& dst = answer.dst.get().fields();
  Walked walked;
  walked.text = fmt::format("  lookup of {}: {}\n{}", flow.destination.to_string(),
                            answer_text(router, answer), explanation_text(explanation, 4));
  walked.runs_encap = dst.encap != nullptr && !std::holds_alternative<std::monostate>(*dst.encap);
  walked.is_delivery = dst.input == fib::DstInput::kDeliver;
  return walked;
}

/// Validation did not stop it, so it was looked up.
bool was_looked_up(const packet::Packet& packet) {
  if (packet.meta.verdict != Verdict::kDrop) return true;
  return packet.meta.drop_reason >= DropReason::kNoRoute;
}

/// It was looked up again after its destination had changed: it got as far as a decision of routing or forwarding.
bool was_advanced(const packet::Packet& packet) {
  const auto& meta = packet.meta;
  if (meta.verdict != Verdict::kDrop) return true;
  return meta.drop_reason >= DropReason::kNoRoute &&
         meta.drop_reason <= DropReason::kNeighborFailed;
}

/// The packet as it was when its new destination was looked up; empty when the destination never changed.
std::vector<std::uint8_t> advanced_packet(Bytes before, const packet::Packet& after) {
  std::vector<std::uint8_t> bytes(after.bytes().begin(), after.bytes().end());
  const auto was = net::Ipv6Header::check(before);
  const auto is = net::Ipv6Header::check(bytes);
  if (!was || !is) return {};
  if (was->destination() != is->destination()) return bytes;
  // A dropped packet's bytes are as received: the next segment is in its routing header.
  const auto routing = routing_header(bytes);
  if (after.meta.verdict != Verdict::kDrop || !routing || routing->segments_left() == 0) return {};
  const auto index = std::size_t{routing->segments_left()} - 1;
  if (index >= routing->address_count()) return {};
  const auto next = routing->address(index);
  net::MutableIpv6Header::check(std::span<std::uint8_t>(bytes))->set_destination(next);
  return bytes;
}

std::string lookups_text(const Router& router, const PacketFate& fate) {
  const Bytes before = fate.record.packet_bytes();
  if (!was_looked_up(*fate.packet)) return "";
  const auto first = walk(router, before, fate, forward::KeyDepth::kFull);
  std::string text = first.text;
  if (!(first.runs_encap || first.is_delivery) || !was_advanced(*fate.packet)) return text;
  const auto advanced = advanced_packet(before, *fate.packet);
  if (advanced.empty()) return text;
  return text + "  its destination was then replaced, and looked up again\n" +
         walk(router, advanced, fate, forward::KeyDepth::kReduced).text;
}

std::string generated_text(const Router& router, const packet::Packet& packet) {
  return fmt::format("  this router made a packet because of it: {}, {}\n    {}\n",
                     kind_of(packet.bytes()), packet_text(packet.bytes()),
                     outcome_text(router, packet));
}

}  // namespace

std::string kind_of(Bytes bytes) {
  const auto upper = net::find_upper_layer(bytes);
  if (upper.stop != net::WalkStop::kUpperLayer || upper.header.type != net::kNextHeaderIcmpv6 ||
      upper.header.offset >= bytes.size()) {
    return "other";
  }
  const unsigned type = bytes[upper.header.offset];
  switch (type) {
    case net::kIcmpv6DestinationUnreachable:
      return "destination_unreachable";
    case net::kIcmpv6PacketTooBig:
      return "packet_too_big";
    case net::kIcmpv6TimeExceeded:
      return "time_exceeded";
    case net::kIcmpv6ParameterProblem:
      return "parameter_problem";
    case net::kIcmpv6EchoReply:
      return "echo_reply";
    case net::kIcmpv6NeighborSolicitation:
      return "neighbor_solicitation";
    case net::kIcmpv6NeighborAdvertisement:
      return "neighbor_advertisement";
    case net::kIcmpv6Redirect:
      return "redirect";
    default:
      return fmt::format("icmpv6_type_{}", type);
  }
}

std::string explain_packet(const Router& router, const PacketFate& fate) {
  const auto& record = fate.record;
  std::string text = fmt::format("packet {} of {}, {}\n", record.number, fate.device.name,
                                 time_text(record.time_ns));
  if (fate.packet == nullptr)
    return text + "  " + drop_text(record.early_drop, record.detail) + "\n";
  const Bytes before = record.packet_bytes();
  text += fmt::format("  {}\n", packet_text(before));
  text += lookups_text(router, fate);
  const auto verdict = fate.packet->meta.verdict;
  text += fmt::format("  {}{}\n", outcome_text(router, *fate.packet),
                      verdict == Verdict::kDrop && !record.detail.empty()
                          ? fmt::format(" ({})", record.detail)
                          : "");
  if (verdict == Verdict::kTransmit || verdict == Verdict::kDeliver) {
    text += fmt::format("  changed: {}\n", changes_text(before, fate.packet->bytes()));
  }
  for (const auto* generated : fate.generated) text += generated_text(router, *generated);
  return text;
}

}  // namespace sidestep::app
