// SPDX-License-Identifier: Apache-2.0
#include "kernel/our_packets.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "forward/counting_sids.hpp"
#include "forward/forwarder.hpp"
#include "packet/counters.hpp"
#include "packet/packet.hpp"

namespace sidestep::kernel {
namespace {

constexpr std::size_t kEthernetSize = 14;

packet::L2Class l2_class_of(const net::MacAddress& destination, const net::MacAddress& own) {
  if (destination.is_broadcast()) return packet::L2Class::kBroadcast;
  if (destination.is_multicast()) return packet::L2Class::kMulticast;
  return destination == own ? packet::L2Class::kHost : packet::L2Class::kOtherHost;
}

net::MacAddress mac_at(const Bytes& frame, std::size_t offset) {
  net::MacAddress mac;
  std::copy_n(frame.begin() + static_cast<std::ptrdiff_t>(offset), 6, mac.bytes.begin());
  return mac;
}

Bytes frame_of(const packet::Packet& packet) {
  Bytes frame(packet.meta.destination_mac.bytes.begin(), packet.meta.destination_mac.bytes.end());
  frame.insert(frame.end(), packet.meta.source_mac.bytes.begin(),
               packet.meta.source_mac.bytes.end());
  frame.push_back(static_cast<std::uint8_t>(packet.meta.ether_type >> 8));
  frame.push_back(static_cast<std::uint8_t>(packet.meta.ether_type));
  const auto bytes = packet.bytes();
  frame.insert(frame.end(), bytes.begin(), bytes.end());
  return frame;
}

std::string verdict_of(const packet::PacketMeta& meta) {
  switch (meta.verdict) {
    case packet::Verdict::kTransmit:
      return "forwarded";
    case packet::Verdict::kDeliver:
      return "delivered";
    case packet::Verdict::kAnswered:
      return "answered";
    case packet::Verdict::kDrop:
      return std::string(packet::text_of(meta.drop_reason).name);
    case packet::Verdict::kPending:
      break;
  }
  return "pending";
}

}  // namespace

struct OurPackets::Impl {
  explicit Impl(OurRouter& from)
      : router(from), forwarder(forward::Context{from.fib(), from.neighbors(), from.srv6()}) {
    generated.reserve(2 * packet::Batch::kCapacity);
    find_sids();
  }
  [[nodiscard]] CounterDeltas read_counters() const {
    CounterDeltas counters;
    for (std::size_t i = 0; i < packet::kSnmpCount; ++i) {
      const auto snmp = static_cast<packet::Snmp>(i);
      const std::string name(packet::name_of(snmp));
      counters[name] = static_cast<std::int64_t>(forwarder.counters().host(snmp));
      for (const auto& [index, link] : router.fib().links().all()) {
        if (link.is_loopback()) continue;
        counters[name + "@" + link.name] =
            static_cast<std::int64_t>(forwarder.counters().device(index, snmp));
      }
    }
    for (const auto& [name, id] : sids) {
      const forward::SidCounts counts = forwarder.sid_counts(id);
      counters["SidPackets@" + name] = static_cast<std::int64_t>(counts.packets);
      counters["SidBytes@" + name] = static_cast<std::int64_t>(counts.bytes);
      counters["SidErrors@" + name] = static_cast<std::int64_t>(counts.errors);
    }
    return counters;
  }
  /// The SIDs that count, as `ip` names their routes.
  void find_sids() {
    for (const forward::CountingSid& sid : forward::counting_sids(router.fib())) {
      const std::string address = sid.prefix.address().to_string();
      const unsigned length = sid.prefix.length();
      sids.emplace_back(length == 128 ? address : fmt::format("{}/{}", address, length), sid.id);
    }
  }
  void collect(const packet::Packet& packet, PacketOutcome& outcome) const {
    if (packet.meta.verdict != packet::Verdict::kTransmit) return;
    outcome.sent.push_back({router.fib().links().name(packet.meta.egress), frame_of(packet)});
  }

  void run(const fib::Link& link, const Bytes& frame, TimeNs now, PacketOutcome& outcome) {
    batch.clear();
    generated.clear();
    packet::Packet& packet = batch.add();
    if (!packet.assign(std::span(frame).subspan(kEthernetSize))) return;
    packet.meta.ingress = link.index;
    packet.meta.received_at = now;
    packet.meta.destination_mac = mac_at(frame, 0);
    packet.meta.source_mac = mac_at(frame, 6);
    packet.meta.has_mac = true;
    packet.meta.l2_class = l2_class_of(packet.meta.destination_mac, link.mac);
    forwarder.process(batch, generated);
    collect(batch[0], outcome);
    for (const auto& made : generated) collect(made, outcome);
    outcome.verdict = verdict_of(batch[0].meta);
    for (const auto& [change, when] : forwarder.learned())
      static_cast<void>(router.change(change, when));
    forwarder.clear_learned();
  }

  OurRouter& router;
  forward::Forwarder forwarder;
  packet::Batch batch;
  std::vector<packet::Packet> generated;
  std::vector<std::pair<std::string, fib::SidCounterId>> sids;
};

OurPackets::OurPackets(OurRouter& router) : impl_(std::make_unique<Impl>(router)) {}
OurPackets::~OurPackets() = default;

PacketOutcome OurPackets::send(const std::string& device, const Bytes& frame, TimeNs now,
                               unsigned count) {
  PacketOutcome outcome;
  const fib::Link* link = impl_->router.fib().links().find(device);
  if (link == nullptr || frame.size() < kEthernetSize || frame[12] != 0x86 || frame[13] != 0xdd)
    return outcome;
  const CounterDeltas before = impl_->read_counters();
  for (unsigned i = 0; i < count; ++i) impl_->run(*link, frame, now, outcome);
  outcome.counters = counter_deltas(before, impl_->read_counters());
  std::sort(outcome.sent.begin(), outcome.sent.end());
  return outcome;
}

}  // namespace sidestep::kernel
