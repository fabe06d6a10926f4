// SPDX-License-Identifier: Apache-2.0
// Routing headers: the generic view (RFC 8200 §4.4) and the segment routing header (RFC 8754 §2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include <sidestep/net/address.hpp>
#include <sidestep/net/protocol.hpp>
#include <sidestep/net/wire.hpp>

namespace sidestep::net {

/// A routing header of any type, whose `hdr_ext_len` lies within the bytes.
///
///   +-------------+-------------+--------------+---------------+
///   | next header | hdr ext len | routing type | segments left |   0
///   +-------------+-------------+--------------+---------------+
///   | SRH: last entry |  flags  |             tag              |   4
///   +-----------------+---------+------------------------------+
///   |                 address 0 (16), address 1, …             |   8
///   +----------------------------------------------------------+
///
/// Lifetime: of the bytes
class RoutingHeader {
 public:
  static constexpr std::size_t kFixedSize = 8;           ///< bytes before the first address
  static constexpr std::size_t kSegmentsLeftOffset = 3;  ///< within the header

  /// @param header  from the header's first byte; more bytes may follow it
  [[nodiscard]] static std::optional<RoutingHeader> check(
      std::span<const std::uint8_t> header) noexcept {
    if (!fits(header)) return std::nullopt;
    return RoutingHeader(header.data());
  }

  [[nodiscard]] std::uint8_t next_header() const noexcept { return bytes_[0]; }
  /// In 8 octets, the first 8 not counted.
  [[nodiscard]] std::uint8_t hdr_ext_len() const noexcept { return bytes_[1]; }
  [[nodiscard]] std::uint8_t routing_type() const noexcept { return bytes_[2]; }
  [[nodiscard]] std::uint8_t segments_left() const noexcept { return bytes_[kSegmentsLeftOffset]; }
  /// Bytes, 8..2048.
  [[nodiscard]] std::size_t size() const noexcept { return (std::size_t{hdr_ext_len()} + 1) * 8; }
  /// Whole addresses that its size has room for, whatever it says of itself.
  [[nodiscard]] std::size_t address_count() const noexcept { return hdr_ext_len() / 2U; }
  /// @param index  below address_count(); asserted in debug builds
  [[nodiscard]] Ipv6Address address(std::size_t index) const noexcept;
  [[nodiscard]] std::span<const std::uint8_t> bytes() const noexcept { return {bytes_, size()}; }

  /// True when the kernel takes an SRH for one with an HMAC: flag set, room for the TLV behind last_entry + 1 segments,
  /// and the last 40 bytes are a TLV of type 5 and length 38. Only for routing type 4.
  [[nodiscard]] bool has_hmac() const noexcept;

 protected:
  explicit RoutingHeader(const std::uint8_t* bytes) noexcept : bytes_(bytes) {}
  [[nodiscard]] static bool fits(std::span<const std::uint8_t> header) noexcept {
    return header.size() >= kFixedSize && header.size() >= (std::size_t{header[1]} + 1) * 8;
  }
  const std::uint8_t* bytes_;
};

/// Which SRHs pass the check.
enum class SrhForm : std::uint8_t {
  kFull,  ///< segments_left ≤ last_entry: what a configuration may hold
  kReduced,  ///< segments_left ≤ last_entry + 1: what may be received, the first segment being left out
};

/// One TLV of an SRH (RFC 8754 §2.1), read as the kernel does: Pad1 has a length octet too.
struct SrhTlv {
  std::uint8_t type = 0;
  std::size_t offset = 0;  ///< of the type octet, from the header's first byte
  std::span<const std::uint8_t> data;
};

/// A segment routing header that is valid in the kernel's sense: routing type 4, all of last_entry + 1 segments within
/// hdr_ext_len, segments_left as the form allows, and TLVs that tile the rest exactly. Pad1 is not special to the
/// kernel, so neither here: an area of zero bytes is valid when its size is even.
class Srh : public RoutingHeader {
 public:
  static constexpr std::uint8_t kFlagHmac = 0x08;
  static constexpr std::uint8_t kTlvHmac = 5;
  static constexpr std::size_t kHmacTlvSize = 40;  ///< bytes, type and length included

  /// @param header  exactly the header: its size must be what hdr_ext_len says
  [[nodiscard]] static std::optional<Srh> check(std::span<const std::uint8_t> header,
                                                SrhForm form) noexcept {
    if (!is_valid(header, form)) return std::nullopt;
    return Srh(header.data());
  }

  [[nodiscard]] std::uint8_t last_entry() const noexcept { return bytes_[4]; }
  [[nodiscard]] std::uint8_t flags() const noexcept { return bytes_[5]; }
  [[nodiscard]] std::uint16_t tag() const noexcept { return load_be16(bytes_ + 6); }
  /// Segments in the list; in a reduced SRH one fewer than the path has.
  [[nodiscard]] std::size_t segment_count() const noexcept { return std::size_t{last_entry()} + 1; }
  /// @param index  below segment_count(); asserted in debug builds. 0 is the last segment of the path
  [[nodiscard]] Ipv6Address segment(std::size_t index) const noexcept;
  /// The first segment of the path is in the destination address alone.
  [[nodiscard]] bool is_reduced() const noexcept { return segments_left() > last_entry(); }
  /// Of the first TLV, from the header's first byte; size() when there is none.
  [[nodiscard]] std::size_t tlv_offset() const noexcept {
    return kFixedSize + segment_count() * 16;
  }
  /// The TLV that begins at `offset` (tlv_offset(), or the end of one before); empty at the end. Asserted in debug builds
  /// to be within the header.
  [[nodiscard]] std::optional<SrhTlv> tlv_at(std::size_t offset) const noexcept;

 protected:
  explicit Srh(const std::uint8_t* bytes) noexcept : RoutingHeader(bytes) {}
  [[nodiscard]] static bool is_valid(std::span<const std::uint8_t> header, SrhForm form) noexcept;
};

/// A routing header whose segments_left may be written. Nothing else of it is ever changed on the way.
class MutableRoutingHeader : public RoutingHeader {
 public:
  [[nodiscard]] static std::optional<MutableRoutingHeader> check(
      std::span<std::uint8_t> header) noexcept {
    if (!fits(header)) return std::nullopt;
    return MutableRoutingHeader(header.data());
  }
  void set_segments_left(std::uint8_t segments_left) noexcept {
    writable_[kSegmentsLeftOffset] = segments_left;
  }

 private:
  explicit MutableRoutingHeader(std::uint8_t* bytes) noexcept
      : RoutingHeader(bytes), writable_(bytes) {}
  std::uint8_t* writable_;
};

}  // namespace sidestep::net
