// SPDX-License-Identifier: Apache-2.0
// Views over the bytes of a packet. A view exists only where its check passed, and after the check no accessor can fail.
//
// All offsets count from the first byte of the IPv6 header, as ICMPv6 pointers do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include <sidestep/net/address.hpp>
#include <sidestep/net/checksum.hpp>
#include <sidestep/net/protocol.hpp>
#include <sidestep/net/srh.hpp>
#include <sidestep/net/wire.hpp>

namespace sidestep::net {

/// The fixed IPv6 header (RFC 8200 §3) of a packet.
///
///    0       4              12                              32
///   +-------+---------------+--------------------------------+
///   |version| traffic class |           flow label           |   0
///   +-------+---------------+---------------+----------------+
///   |        payload length         | next header| hop limit |   4
///   +-------------------------------+------------+-----------+
///   |                    source address (16)                 |   8
///   |                  destination address (16)              |  24
///   +--------------------------------------------------------+
///
/// Lifetime: of the bytes
class Ipv6Header {
 public:
  /// Checks that 40 bytes are there, and nothing else: the version is the caller's to judge.
  [[nodiscard]] static std::optional<Ipv6Header> check(
      std::span<const std::uint8_t> packet) noexcept {
    if (packet.size() < kIpv6HeaderSize) return std::nullopt;
    return Ipv6Header(packet.data());
  }

  [[nodiscard]] std::uint8_t version() const noexcept { return bytes_[0] >> 4; }
  [[nodiscard]] std::uint8_t traffic_class() const noexcept {
    return static_cast<std::uint8_t>((bytes_[0] << 4) | (bytes_[1] >> 4));
  }
  /// The low two bits of the traffic class (RFC 3168): 0 not-ECT, 1 ECT(1), 2 ECT(0), 3 CE.
  [[nodiscard]] std::uint8_t ecn() const noexcept { return traffic_class() & 3; }
  [[nodiscard]] std::uint32_t flow_label() const noexcept { return load_be32(bytes_) & 0xfffff; }
  /// Bytes behind the IPv6 header, as written; 0 with a jumbo payload option.
  [[nodiscard]] std::uint16_t payload_length() const noexcept {
    return load_be16(bytes_ + kIpv6PayloadLengthOffset);
  }
  [[nodiscard]] std::uint8_t next_header() const noexcept { return bytes_[kIpv6NextHeaderOffset]; }
  [[nodiscard]] std::uint8_t hop_limit() const noexcept { return bytes_[kIpv6HopLimitOffset]; }
  [[nodiscard]] Ipv6Address source() const noexcept { return address_at(kIpv6SourceOffset); }
  [[nodiscard]] Ipv6Address destination() const noexcept {
    return address_at(kIpv6DestinationOffset);
  }

 protected:
  explicit Ipv6Header(const std::uint8_t* bytes) noexcept : bytes_(bytes) {}

 private:
  [[nodiscard]] Ipv6Address address_at(std::size_t offset) const noexcept {
    Ipv6Address address;
    std::memcpy(address.bytes.data(), bytes_ + offset, address.bytes.size());
    return address;
  }
  const std::uint8_t* bytes_;
};

/// The same over bytes that may be written.
class MutableIpv6Header : public Ipv6Header {
 public:
  [[nodiscard]] static std::optional<MutableIpv6Header> check(
      std::span<std::uint8_t> packet) noexcept {
    if (packet.size() < kIpv6HeaderSize) return std::nullopt;
    return MutableIpv6Header(packet.data());
  }

  /// Writes version 6, the traffic class and the flow label (the low 20 bits).
  void set_version_class_label(std::uint8_t traffic_class, std::uint32_t flow_label) noexcept {
    store_be32(bytes_, (std::uint32_t{6} << 28) | (std::uint32_t{traffic_class} << 20) |
                           (flow_label & 0xfffff));
  }
  void set_payload_length(std::uint16_t length) noexcept {
    store_be16(bytes_ + kIpv6PayloadLengthOffset, length);
  }
  void set_next_header(std::uint8_t next_header) noexcept {
    bytes_[kIpv6NextHeaderOffset] = next_header;
  }
  void set_hop_limit(std::uint8_t hop_limit) noexcept { bytes_[kIpv6HopLimitOffset] = hop_limit; }
  void set_source(const Ipv6Address& address) noexcept {
    store_address(kIpv6SourceOffset, address);
  }
  void set_destination(const Ipv6Address& address) noexcept {
    store_address(kIpv6DestinationOffset, address);
  }

 private:
  explicit MutableIpv6Header(std::uint8_t* bytes) noexcept : Ipv6Header(bytes), bytes_(bytes) {}
  void store_address(std::size_t offset, const Ipv6Address& address) noexcept {
    std::memcpy(bytes_ + offset, address.bytes.data(), address.bytes.size());
  }
  std::uint8_t* bytes_;
};

/// Where a header begins and which octet announced it: what a walk goes on from.
struct HeaderPosition {
  std::uint8_t type = 0;               ///< next header value that announced it
  std::size_t offset = 0;              ///< of its first byte
  std::size_t next_header_offset = 0;  ///< of the octet that holds `type`
};

/// One extension header, all of whose bytes are in the packet.
struct ExtensionHeader {
  std::uint8_t type = 0;               ///< next header value that announced it
  std::uint8_t next_header = 0;        ///< what it announces
  std::size_t offset = 0;              ///< of its first byte
  std::size_t size = 0;                ///< bytes, at least 8
  std::size_t next_header_offset = 0;  ///< of the octet that announced it

  /// Its bytes; `packet` is the one that was walked.
  [[nodiscard]] std::span<const std::uint8_t> in(
      std::span<const std::uint8_t> packet) const noexcept {
    return packet.subspan(offset, size);
  }
  [[nodiscard]] std::span<std::uint8_t> in(std::span<std::uint8_t> packet) const noexcept {
    return packet.subspan(offset, size);
  }
};

/// Why a walk stopped.
enum class WalkStop : std::uint8_t {
  kRunning,           ///< it has not yet
  kUpperLayer,        ///< a header that is no extension header; its own bytes are not checked
  kNoNextHeader,      ///< next header 59
  kEsp,               ///< what follows is encrypted
  kNonFirstFragment,  ///< what follows is data of a header that is in another packet
  kTruncated,         ///< an extension header reaches beyond the bytes
};

/// The chain of extension headers, as the kernel walks it: hop-by-hop, destination options, routing, fragment (always 8
/// bytes) and authentication headers, at any place and in any order. Everything else, mobility included, is an upper layer.
///
/// Cost: each step reads at most 8 bytes and moves at least 8 on, so the packet's size bounds the walk.
class ExtensionHeaderWalk {
 public:
  /// Starts behind the fixed header; fewer than 40 bytes stop it at once as truncated.
  explicit ExtensionHeaderWalk(std::span<const std::uint8_t> packet) noexcept;
  /// Starts in the middle of a chain, at a header that has been announced.
  ExtensionHeaderWalk(std::span<const std::uint8_t> packet, const HeaderPosition& start) noexcept
      : packet_(packet), position_(start) {}

  /// The next extension header; empty when the walk stopped. A fragment header is given before the walk stops at it.
  [[nodiscard]] std::optional<ExtensionHeader> next() noexcept;

  [[nodiscard]] WalkStop stop() const noexcept { return stop_; }
  /// What would be read next. Once stopped: the header that it stopped at, which nobody has checked.
  [[nodiscard]] const HeaderPosition& position() const noexcept { return position_; }
  /// A fragment header has been passed; an atomic one (offset 0, no more fragments) counts too.
  [[nodiscard]] bool is_fragment() const noexcept { return is_fragment_; }
  /// Of the last fragment header: bytes, a multiple of 8.
  [[nodiscard]] std::uint16_t fragment_offset() const noexcept { return fragment_offset_; }
  [[nodiscard]] bool more_fragments() const noexcept { return more_fragments_; }

 private:
  [[nodiscard]] std::optional<ExtensionHeader> halt(WalkStop why) noexcept {
    stop_ = why;
    return std::nullopt;
  }
  std::span<const std::uint8_t> packet_;
  HeaderPosition position_;
  WalkStop stop_ = WalkStop::kRunning;
  bool is_fragment_ = false;
  bool more_fragments_ = false;
  std::uint16_t fragment_offset_ = 0;
};

/// The end of the chain of extension headers.
struct UpperLayer {
  WalkStop stop = WalkStop::kTruncated;
  HeaderPosition
      header;  ///< `type` is the protocol; the bytes there are unchecked, and with kNonFirstFragment no header
  bool is_fragment = false;
  std::uint16_t fragment_offset = 0;
  bool more_fragments = false;
};
[[nodiscard]] UpperLayer find_upper_layer(std::span<const std::uint8_t> packet) noexcept;

/// One option of a hop-by-hop or destination options header (RFC 8200 §4.2).
struct Option {
  std::uint8_t type = 0;
  std::size_t offset = 0;  ///< of the type octet
  std::size_t size = 0;    ///< bytes with type and length; 1 for Pad1
  std::span<const std::uint8_t> data;

  [[nodiscard]] bool is_padding() const noexcept {
    return type == kOptionPad1 || type == kOptionPadN;
  }
  /// What RFC 8200 §4.2 asks of a node that does not know it: 0 skip, 1 drop, 2 answer, 3 answer unless multicast.
  [[nodiscard]] unsigned unknown_action() const noexcept { return type >> 6; }
};

/// The options of an extension header that has been walked.
class OptionWalk {
 public:
  OptionWalk(std::span<const std::uint8_t> packet, const ExtensionHeader& header) noexcept
      : packet_(packet), offset_(header.offset + 2), end_(header.offset + header.size) {}

  /// The next option, padding included; empty at the end and at an option that reaches beyond the header.
  [[nodiscard]] std::optional<Option> next() noexcept;
  [[nodiscard]] bool is_malformed() const noexcept { return malformed_; }
  /// Of the option that would be read next, or of the malformed one.
  [[nodiscard]] std::size_t offset() const noexcept { return offset_; }

 private:
  std::span<const std::uint8_t> packet_;
  std::size_t offset_;
  std::size_t end_;
  bool malformed_ = false;
};

/// The first eight bytes of an ICMPv6 message (RFC 4443 §2.1): all types have four bytes behind the checksum.
class Icmpv6Header {
 public:
  /// @param message  from the type octet to the end of the packet
  [[nodiscard]] static std::optional<Icmpv6Header> check(
      std::span<const std::uint8_t> message) noexcept {
    if (message.size() < kIcmpv6HeaderSize) return std::nullopt;
    return Icmpv6Header(message.data());
  }
  [[nodiscard]] std::uint8_t type() const noexcept { return bytes_[0]; }
  [[nodiscard]] std::uint8_t code() const noexcept { return bytes_[1]; }
  [[nodiscard]] std::uint16_t checksum() const noexcept { return load_be16(bytes_ + 2); }
  /// The four bytes behind: MTU, pointer, or identifier and sequence number.
  [[nodiscard]] std::uint32_t rest() const noexcept { return load_be32(bytes_ + 4); }
  [[nodiscard]] bool is_error() const noexcept { return type() < kIcmpv6InformationalFirst; }

 protected:
  explicit Icmpv6Header(const std::uint8_t* bytes) noexcept : bytes_(bytes) {}

 private:
  const std::uint8_t* bytes_;
};

/// The same over bytes that may be written.
class MutableIcmpv6Header : public Icmpv6Header {
 public:
  [[nodiscard]] static std::optional<MutableIcmpv6Header> check(
      std::span<std::uint8_t> message) noexcept {
    if (message.size() < kIcmpv6HeaderSize) return std::nullopt;
    return MutableIcmpv6Header(message.data());
  }
  void set_type(std::uint8_t type) noexcept { bytes_[0] = type; }
  void set_code(std::uint8_t code) noexcept { bytes_[1] = code; }
  void set_checksum(std::uint16_t checksum) noexcept { store_be16(bytes_ + 2, checksum); }
  void set_rest(std::uint32_t rest) noexcept { store_be32(bytes_ + 4, rest); }

 private:
  explicit MutableIcmpv6Header(std::uint8_t* bytes) noexcept : Icmpv6Header(bytes), bytes_(bytes) {}
  std::uint8_t* bytes_;
};

/// Ports of TCP, UDP, UDP-Lite, DCCP and SCTP, which all begin with them.
struct Ports {
  std::uint16_t source = 0;
  std::uint16_t destination = 0;
  bool operator==(const Ports&) const = default;
};
/// The ports at an upper layer header; empty when it has none, when they are cut off, or behind a non-first fragment.
/// A first fragment has them: whether they may be used there is the caller's rule.
[[nodiscard]] std::optional<Ports> peek_ports(std::span<const std::uint8_t> packet,
                                              const UpperLayer& upper) noexcept;

}  // namespace sidestep::net
