// SPDX-License-Identifier: Apache-2.0
#include "forward/pipeline.hpp"

#include <cstring>
#include <utility>

#include <sidestep/assert.hpp>

namespace sidestep::forward {

net::MutableIpv6Header header_of(packet::Packet& packet) noexcept {
  const auto header = net::MutableIpv6Header::check(packet.bytes());
  SIDESTEP_ASSERT(header.has_value());
  return *header;
}

net::Ipv6Header header_of(const packet::Packet& packet) noexcept {
  const auto header = net::Ipv6Header::check(packet.bytes());
  SIDESTEP_ASSERT(header.has_value());
  return *header;
}

namespace {

/// Writes back the whole packet; needed when headers were rewritten, or removed at the front.
void restore_saved(Pipeline& pipeline, Transit& transit) {
  packet::Packet& packet = *transit.packet;
  const packet::PacketMeta meta = packet.meta;
  const bool fits = packet.assign(pipeline.original);  // also lets the destination go
  SIDESTEP_ASSERT(fits);
  packet.meta = meta;
}

void restore(Pipeline& pipeline, Transit& transit) {
  packet::Packet& packet = *transit.packet;
  if (transit.saved) {
    restore_saved(pipeline, transit);
    transit.saved = false;
  } else if (packet.size() >= net::kIpv6HeaderSize) {
    header_of(packet).set_hop_limit(transit.received_hop_limit);
  }
  packet.untruncate(transit.received_size);
}

}  // namespace

void drop(Pipeline& pipeline, Transit& transit, packet::DropReason reason) {
  restore(pipeline, transit);
  transit.packet->dst.reset();
  transit.packet->drop(reason);
  pipeline.counters.add_drop(reason);
}

void save_original(Pipeline& pipeline, Transit& transit) {
  if (transit.saved) return;
  packet::Packet& packet = *transit.packet;
  const std::size_t size = packet.size();
  packet.untruncate(transit.received_size);
  const auto bytes = std::as_const(packet).bytes();
  pipeline.original.assign(bytes.begin(), bytes.end());  // within the reserved capacity
  packet.truncate(size);
  transit.saved = true;
}

packet::Packet& add_generated(Pipeline& pipeline, const packet::Packet& cause, std::size_t size) {
  // The metadata is copied first: growing the vector may move what `cause` refers to.
  const std::uint64_t record = cause.meta.record;
  const TimeNs now = cause.meta.received_at;
  packet::Packet& packet = pipeline.generated->emplace_back();
  const bool fits = packet.reset(size);
  SIDESTEP_ASSERT(fits);
  packet.meta.record = record;
  packet.meta.received_at = now;
  return packet;
}

void drop_generated(Pipeline& pipeline, packet::Packet& packet, packet::DropReason reason) {
  packet.dst.reset();
  packet.drop(reason);
  ++pipeline.generated_drops[static_cast<std::size_t>(reason)];
}

}  // namespace sidestep::forward
