// SPDX-License-Identifier: Apache-2.0
// Validity of routing headers.
//
// Two levels, because the kernel has two. A routing header that ends at this node without a seg6local route is only
// held to its own length: last_entry and TLVs may be anything (RoutingHeader). One that a behavior acts on must be a
// valid SRH (Srh). Units are where others went wrong: last_entry counts segments of 16 bytes from 0, hdr_ext_len counts
// 8 bytes from the ninth, so that
//
//     last_entry ≤ hdr_ext_len / 2 − 1         hdr_ext_len 4 → two segments → last_entry 0..1
//     segments end at 8 + 16 (last_entry + 1) ≤ 8 + 8 hdr_ext_len
//
// hdr_ext_len 0 and 1 have no room for any segment and are never valid. An odd hdr_ext_len leaves 8 bytes for TLVs.
#include <sidestep/net/srh.hpp>

#include <sidestep/assert.hpp>

namespace sidestep::net {
namespace {

constexpr std::size_t kSegmentSize = 16;
constexpr std::size_t kTlvHeaderSize = 2;

Ipv6Address load_segment(const std::uint8_t* header, std::size_t index) noexcept {
  Ipv6Address address;
  std::memcpy(address.bytes.data(), header + RoutingHeader::kFixedSize + index * kSegmentSize,
              kSegmentSize);
  return address;
}

// True when TLVs fill `area` to its last byte.
bool tlvs_tile(std::span<const std::uint8_t> area) noexcept {
  while (!area.empty()) {
    if (area.size() < kTlvHeaderSize) return false;
    const std::size_t size = kTlvHeaderSize + area[1];
    if (size > area.size()) return false;
    area = area.subspan(size);
  }
  return true;
}

}  // namespace

Ipv6Address RoutingHeader::address(std::size_t index) const noexcept {
  SIDESTEP_DEBUG_ASSERT(index < address_count());
  return load_segment(bytes_, index);
}

bool RoutingHeader::has_hmac() const noexcept {
  const unsigned last_entry = bytes_[4];
  const unsigned flags = bytes_[5];
  if ((flags & Srh::kFlagHmac) == 0 || hdr_ext_len() < 2 * (last_entry + 1) + 5) return false;
  const std::uint8_t* tlv = bytes_ + size() - Srh::kHmacTlvSize;
  return tlv[0] == Srh::kTlvHmac && tlv[1] == Srh::kHmacTlvSize - kTlvHeaderSize;
}

bool Srh::is_valid(std::span<const std::uint8_t> header, SrhForm form) noexcept {
  if (!fits(header) || header.size() != (std::size_t{header[1]} + 1) * 8) return false;
  const Srh srh(header.data());
  if (srh.routing_type() != kRoutingTypeSegment) return false;
  if (srh.segment_count() > srh.address_count()) return false;
  const unsigned segments_left_max =
      form == SrhForm::kFull ? srh.last_entry() : srh.last_entry() + 1U;
  if (srh.segments_left() > segments_left_max) return false;
  return tlvs_tile(header.subspan(srh.tlv_offset()));
}

Ipv6Address Srh::segment(std::size_t index) const noexcept {
  SIDESTEP_DEBUG_ASSERT(index < segment_count());
  return load_segment(bytes_, index);
}

std::optional<SrhTlv> Srh::tlv_at(std::size_t offset) const noexcept {
  SIDESTEP_DEBUG_ASSERT(offset >= tlv_offset() && offset <= size());
  if (offset + kTlvHeaderSize > size()) return std::nullopt;
  const std::size_t length = bytes_[offset + 1];
  if (offset + kTlvHeaderSize + length > size()) return std::nullopt;
  return SrhTlv{bytes_[offset], offset, {bytes_ + offset + kTlvHeaderSize, length}};
}

}  // namespace sidestep::net
