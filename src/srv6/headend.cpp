// SPDX-License-Identifier: Apache-2.0
// Headends.
//
// New headers are written into the packet's headroom. The SRH has the path reversed, as segments_left counts down:
//
//     travel order A, B, C     encap          | IPv6 to A | SRH: C B A, segments_left 2, last_entry 2 | packet
//                              encap.red      | IPv6 to A | SRH: C B,   segments_left 2, last_entry 1 | packet
//     one segment A            encap.red      | IPv6 to A | packet
//     packet to D              inline         | IPv6 to A | SRH: D C B A, segments_left 3, last_entry 3 | payload
//
// As in the kernel: the outer traffic class and hop limit are the packet's own; what is inserted goes directly behind the
// IPv6 header, in front of hop-by-hop options too. An HMAC goes behind the segments and is computed last.
#include "srv6/headend.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <sidestep/assert.hpp>
#include <sidestep/net/headers.hpp>
#include <sidestep/net/srh.hpp>

namespace sidestep::srv6 {
namespace {

using packet::DropReason;
using packet::Packet;

constexpr std::size_t kSegmentSize = 16;
constexpr std::size_t kPayloadMax = 0xffff;

/// The form of an SRH that is to be written.
struct Shape {
  std::size_t entries = 0;  ///< of the segment list; 0: there is no SRH
  std::uint8_t segments_left = 0;
  bool has_hmac = false;

  [[nodiscard]] std::size_t size() const noexcept {
    if (entries == 0) return 0;
    return net::RoutingHeader::kFixedSize + entries * kSegmentSize +
           (has_hmac ? net::Srh::kHmacTlvSize : 0);
  }
};

Shape shape_of(const Path& path, bool inserted) noexcept {
  const std::size_t count = path.segments.size();
  const bool has_hmac = path.hmac_key_id != 0;
  const auto left = static_cast<std::uint8_t>(inserted ? count : count - 1);
  if (inserted) return {count + 1, left, has_hmac};
  if (!path.reduced) return {count, left, has_hmac};
  if (count == 1) return {has_hmac ? std::size_t{1} : 0, left, has_hmac};
  return {count - 1, left, has_hmac};
}

Path path_of(const fib::Seg6Encap& encap) noexcept {
  using fib::Seg6Mode;
  const bool reduced = encap.mode == Seg6Mode::kEncapRed || encap.mode == Seg6Mode::kL2EncapRed;
  return {encap.segments, encap.hmac_key_id, reduced};
}

/// The secret to sign with, or why the path cannot be signed.
struct Signer {
  DropReason reason = DropReason::kNone;
  const HmacSecret* secret = nullptr;
};

Signer signer_of(const Path& path, const Shape& shape, const Surroundings& around) noexcept {
  if (!shape.has_hmac) return {};
  if (around.secrets == nullptr || shape.entries > kHmacSegmentsMax)
    return {DropReason::kHmac, nullptr};
  const auto found = around.secrets->find(path.hmac_key_id);
  if (found == around.secrets->end()) return {DropReason::kHmac, nullptr};
  return {DropReason::kNone, &found->second};
}

void emit_hmac(std::span<std::uint8_t> srh, const Path& path, const net::Ipv6Address& source,
               const HmacSecret& secret) noexcept {
  const auto tlv = srh.last(net::Srh::kHmacTlvSize);
  std::ranges::fill(tlv, std::uint8_t{0});
  tlv[0] = net::Srh::kTlvHmac;
  tlv[1] = net::Srh::kHmacTlvSize - 2;
  net::store_be32(&tlv[kHmacKeyIdOffset], path.hmac_key_id);
  const auto digest = sign_srh(srh, source, path.hmac_key_id, secret);
  std::ranges::copy(digest, tlv.begin() + kHmacDigestOffset);
}

/// Fixed fields and segments; `last` is the last segment of the path when it is not one of the configured ones.
void emit_srh(std::span<std::uint8_t> srh, std::uint8_t next_header, const Path& path,
              const Shape& shape, const net::Ipv6Address* last) noexcept {
  srh[0] = next_header;
  srh[1] = static_cast<std::uint8_t>(shape.size() / 8 - 1);
  srh[2] = net::kRoutingTypeSegment;
  srh[3] = shape.segments_left;
  srh[4] = static_cast<std::uint8_t>(shape.entries - 1);
  srh[5] = shape.has_hmac ? net::Srh::kFlagHmac : std::uint8_t{0};
  srh[6] = srh[7] = 0;
  std::uint8_t* out = &srh[net::RoutingHeader::kFixedSize];
  const auto emit = [&](const net::Ipv6Address& segment) {
    std::memcpy(out, segment.bytes.data(), kSegmentSize);
    out += kSegmentSize;
  };
  if (last != nullptr) emit(*last);
  const std::size_t configured = shape.entries - (last != nullptr ? 1 : 0);
  for (std::size_t i = 0; i < configured; ++i) emit(path.segments[path.segments.size() - 1 - i]);
}

/// What an outer header takes over from the packet.
struct Inherited {
  std::uint8_t traffic_class = 0;
  std::uint8_t hop_limit = 0;
};

/// Outer headers in front of the packet. Every check comes before the first write.
DropReason put_in_front(Packet& packet, std::uint8_t payload, Inherited inherited, const Path& path,
                        const Surroundings& around) noexcept {
  const Shape shape = shape_of(path, false);
  const Signer signer = signer_of(path, shape, around);
  if (signer.reason != DropReason::kNone) return signer.reason;
  if (!around.source) return DropReason::kEncapNoSource;
  if (packet.size() + shape.size() > kPayloadMax) return DropReason::kEncapTooLong;
  if (packet.prepend(net::kIpv6HeaderSize + shape.size()) == nullptr)
    return DropReason::kEncapTooLong;

  const auto bytes = packet.bytes();
  auto header = *net::MutableIpv6Header::check(bytes);
  header.set_version_class_label(inherited.traffic_class, around.flow_label);
  header.set_payload_length(static_cast<std::uint16_t>(packet.size() - net::kIpv6HeaderSize));
  header.set_next_header(shape.entries == 0 ? payload : net::kNextHeaderRouting);
  header.set_hop_limit(inherited.hop_limit);
  header.set_source(*around.source);
  header.set_destination(path.segments.front());
  if (shape.entries == 0) return DropReason::kNone;
  const auto srh = bytes.subspan(net::kIpv6HeaderSize, shape.size());
  emit_srh(srh, payload, path, shape, nullptr);
  if (signer.secret != nullptr) emit_hmac(srh, path, *around.source, *signer.secret);
  return DropReason::kNone;
}

Inherited inherited_from(const Packet& packet) noexcept {
  const auto inner = *net::Ipv6Header::check(packet.bytes());
  return {inner.traffic_class(), inner.hop_limit()};
}

void emit_frame_header(std::uint8_t* out, const packet::PacketMeta& meta) noexcept {
  std::memcpy(out, meta.destination_mac.bytes.data(), 6);
  std::memcpy(out + 6, meta.source_mac.bytes.data(), 6);
  net::store_be16(out + 12, packet::kEtherTypeIpv6);
}

}  // namespace

DropReason encapsulate(Packet& packet, const Path& path, const Surroundings& around) noexcept {
  return put_in_front(packet, net::kNextHeaderIpv6, inherited_from(packet), path, around);
}

DropReason encapsulate_frame(Packet& packet, const Path& path,
                             const Surroundings& around) noexcept {
  if (!packet.meta.has_mac) return DropReason::kEncapNoFrame;
  const Inherited inherited = inherited_from(packet);
  std::uint8_t* const frame = packet.prepend(net::kEthernetHeaderSize);
  if (frame == nullptr) return DropReason::kEncapTooLong;
  emit_frame_header(frame, packet.meta);
  const DropReason reason = put_in_front(packet, net::kNextHeaderEthernet, inherited, path, around);
  if (reason != DropReason::kNone) packet.remove_front(net::kEthernetHeaderSize);
  return reason;
}

DropReason insert_srh(Packet& packet, const Path& path, const Surroundings& around) noexcept {
  SIDESTEP_DEBUG_ASSERT(!path.reduced);
  const Shape shape = shape_of(path, true);
  const Signer signer = signer_of(path, shape, around);
  if (signer.reason != DropReason::kNone) return signer.reason;
  if (packet.size() - net::kIpv6HeaderSize + shape.size() > kPayloadMax)
    return DropReason::kEncapTooLong;
  if (packet.prepend(shape.size()) == nullptr) return DropReason::kEncapTooLong;

  const auto bytes = packet.bytes();
  std::memmove(bytes.data(), bytes.data() + shape.size(), net::kIpv6HeaderSize);
  auto header = *net::MutableIpv6Header::check(bytes);
  const auto srh = bytes.subspan(net::kIpv6HeaderSize, shape.size());
  const net::Ipv6Address last = header.destination();
  emit_srh(srh, header.next_header(), path, shape, &last);
  header.set_next_header(net::kNextHeaderRouting);
  header.set_payload_length(static_cast<std::uint16_t>(packet.size() - net::kIpv6HeaderSize));
  header.set_destination(path.segments.front());
  if (signer.secret != nullptr) emit_hmac(srh, path, header.source(), *signer.secret);
  return DropReason::kNone;
}

Wanted run_headend(Packet& packet, const fib::Seg6Encap& encap,
                   const Surroundings& around) noexcept {
  using fib::Seg6Mode;
  const Path path = path_of(encap);
  DropReason reason = DropReason::kNone;
  switch (encap.mode) {
    case Seg6Mode::kInline:
      reason = insert_srh(packet, path, around);
      break;
    case Seg6Mode::kEncap:
    case Seg6Mode::kEncapRed:
      reason = encapsulate(packet, path, around);
      break;
    case Seg6Mode::kL2Encap:
    case Seg6Mode::kL2EncapRed:
      reason = encapsulate_frame(packet, path, around);
      break;
  }
  if (reason != DropReason::kNone) return Wanted::drop(reason);
  return {.kind = Wanted::Kind::kNewLookup, .may_be_local = true};
}

std::size_t growth_of(const fib::Seg6Encap& encap) noexcept {
  const bool inserted = encap.mode == fib::Seg6Mode::kInline;
  return shape_of(path_of(encap), inserted).size() + (inserted ? 0 : net::kIpv6HeaderSize);
}

}  // namespace sidestep::srv6
