// SPDX-License-Identifier: Apache-2.0
// Link types of captures, and where the IPv6 packet begins in a frame of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sidestep/net/address.hpp>

#include "packet/packet.hpp"

namespace sidestep::io {

/// The link types that are understood, by the number that stands in capture files (LINKTYPE_*).
enum class LinkType : std::uint16_t {
  kNull = 0,
  kEthernet = 1,
  kRaw = 101,
  kLoop = 108,
  kLinuxSll = 113,
  kIpv4 = 228,
  kIpv6 = 229,
  kLinuxSll2 = 276,
};

/// The link type behind libpcap's number for it (DLT_*, which differs for RAW); empty when it is not understood.
[[nodiscard]] std::optional<LinkType> link_type_of_dlt(int dlt) noexcept;
/// libpcap's number.
[[nodiscard]] int dlt_of(LinkType type) noexcept;
/// Name and number of any link type of libpcap's numbering, for messages: `IEEE802_11 (105)`.
[[nodiscard]] std::string describe_dlt(int dlt);
/// The understood ones, for messages.
[[nodiscard]] std::string supported_link_types();

/// What a frame carries.
enum class FrameContent : std::uint8_t {
  kIpv6,
  kIpv4,
  kVlan,  ///< 802.1Q or 802.1ad tagged, whatever is inside
  kOther,
  kHeaderShort,  ///< the frame ends inside its link-layer header
};

/// A frame's link-layer header, read.
struct Frame {
  FrameContent content = FrameContent::kOther;
  std::size_t header_size = 0;  ///< bytes before the packet
  bool has_mac = false;
  net::MacAddress destination_mac{};
  net::MacAddress source_mac{};
  /// How the frame was addressed. kOtherHost only where the link type says so itself (SLL, SLL2).
  packet::L2Class l2_class = packet::L2Class::kHost;
  bool outgoing = false;       ///< SLL, SLL2: sent by the capturing host, not received by it
  std::uint32_t protocol = 0;  ///< EtherType, or what the link type has in its place
  std::uint16_t vlan_id = 0;   ///< kVlan
};

/// Reads the link-layer header.
///
/// Thread:   any
/// Cost:     a few loads; no allocation
[[nodiscard]] Frame dissect(LinkType type, std::span<const std::uint8_t> frame) noexcept;

/// What the frame carries in a few words, for people: `an IPv4 packet`, `VLAN 7 (0x8100)`, `EtherType 0x0806 (ARP)`.
[[nodiscard]] std::string describe(const Frame& frame);

/// A link-layer header of this type for an IPv6 packet that was not received but made here (addresses zero).
[[nodiscard]] std::vector<std::uint8_t> ipv6_link_header(LinkType type);

}  // namespace sidestep::io
