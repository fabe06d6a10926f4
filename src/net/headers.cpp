// SPDX-License-Identifier: Apache-2.0
// The walk along extension headers.
//
// A chain is: one octet that announces a type, and at the offset behind the header before it the header itself, whose
// first octet announces the next. Three sizes exist: a fragment header is 8 bytes, whatever its second octet holds
// (reserved, RFC 8200 §4.5); an authentication header is (n + 2) × 4 (RFC 4302 §2.2); all others are (n + 1) × 8.
//
// Invariants: position_.offset never decreases and never passes the end of the packet; a header is given out only when
// its last byte is in the packet, so whoever got one may read `size` bytes at `offset`. Each step moves at least 8 bytes
// on, which bounds the walk without a limit on the number of headers.
//
// The walk knows nothing of meaning: options are read by OptionWalk, routing headers by RoutingHeader and Srh.
#include <sidestep/net/headers.hpp>

namespace sidestep::net {
namespace {

constexpr std::size_t kExtensionHeaderSizeMin = 8;

bool is_extension_header(std::uint8_t type) noexcept {
  switch (type) {
    case kNextHeaderHopByHop:
    case kNextHeaderRouting:
    case kNextHeaderFragment:
    case kNextHeaderAuthentication:
    case kNextHeaderDestinationOptions:
      return true;
    default:
      return false;
  }
}

std::size_t extension_header_size(std::uint8_t type, std::uint8_t length) noexcept {
  if (type == kNextHeaderFragment) return kFragmentHeaderSize;
  if (type == kNextHeaderAuthentication) return (std::size_t{length} + 2) * 4;
  return (std::size_t{length} + 1) * 8;
}

bool has_ports(std::uint8_t protocol) noexcept {
  return protocol == kNextHeaderTcp || protocol == kNextHeaderUdp ||
         protocol == kNextHeaderUdpLite || protocol == kNextHeaderSctp ||
         protocol == kNextHeaderDccp;
}

}  // namespace

ExtensionHeaderWalk::ExtensionHeaderWalk(std::span<const std::uint8_t> packet) noexcept
    : packet_(packet) {
  const auto header = Ipv6Header::check(packet);
  if (!header) {
    stop_ = WalkStop::kTruncated;
    return;
  }
  position_ = {header->next_header(), kIpv6HeaderSize, kIpv6NextHeaderOffset};
}

std::optional<ExtensionHeader> ExtensionHeaderWalk::next() noexcept {
  if (stop_ != WalkStop::kRunning) return std::nullopt;
  if (is_fragment_ && fragment_offset_ != 0) return halt(WalkStop::kNonFirstFragment);
  const auto [type, offset, announced_at] = position_;
  if (type == kNextHeaderNone) return halt(WalkStop::kNoNextHeader);
  if (type == kNextHeaderEsp) return halt(WalkStop::kEsp);
  if (!is_extension_header(type)) return halt(WalkStop::kUpperLayer);

  if (offset > packet_.size() || packet_.size() - offset < kExtensionHeaderSizeMin)
    return halt(WalkStop::kTruncated);
  const std::uint8_t* bytes = packet_.data() + offset;
  const std::size_t size = extension_header_size(type, bytes[1]);
  if (size > packet_.size() - offset) return halt(WalkStop::kTruncated);

  if (type == kNextHeaderFragment) {
    const std::uint16_t word = load_be16(bytes + 2);
    is_fragment_ = true;
    fragment_offset_ = word & 0xfff8;
    more_fragments_ = (word & 1) != 0;
  }
  position_ = {bytes[0], offset + size, offset};
  return ExtensionHeader{type, bytes[0], offset, size, announced_at};
}

UpperLayer find_upper_layer(std::span<const std::uint8_t> packet) noexcept {
  ExtensionHeaderWalk walk(packet);
  while (walk.next()) {
  }
  return {walk.stop(), walk.position(), walk.is_fragment(), walk.fragment_offset(),
          walk.more_fragments()};
}

std::optional<Option> OptionWalk::next() noexcept {
  if (malformed_ || offset_ >= end_) return std::nullopt;
  const std::size_t offset = offset_;
  const std::uint8_t type = packet_[offset];
  if (type == kOptionPad1) {
    ++offset_;
    return Option{type, offset, 1, {}};
  }
  if (end_ - offset < 2 || end_ - offset - 2 < packet_[offset + 1]) {
    malformed_ = true;
    return std::nullopt;
  }
  const std::size_t length = packet_[offset + 1];
  offset_ += 2 + length;
  return Option{type, offset, 2 + length, packet_.subspan(offset + 2, length)};
}

std::optional<Ports> peek_ports(std::span<const std::uint8_t> packet,
                                const UpperLayer& upper) noexcept {
  if (upper.stop != WalkStop::kUpperLayer || !has_ports(upper.header.type)) return std::nullopt;
  if (upper.header.offset > packet.size() || packet.size() - upper.header.offset < 4)
    return std::nullopt;
  const std::uint8_t* bytes = packet.data() + upper.header.offset;
  return Ports{load_be16(bytes), load_be16(bytes + 2)};
}

}  // namespace sidestep::net
