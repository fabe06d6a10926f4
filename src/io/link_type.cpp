// SPDX-License-Identifier: Apache-2.0
#include "io/link_type.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <pcap/pcap.h>

namespace sidestep::io {
namespace {

constexpr std::uint32_t kEtherTypeIpv4 = 0x0800;
constexpr std::uint32_t kEtherTypeIpv6 = 0x86dd;
constexpr std::uint32_t kEtherTypeVlan = 0x8100;
constexpr std::uint32_t kEtherTypeServiceVlan = 0x88a8;
constexpr std::uint32_t kEtherTypeFirst = 0x0600;  // smaller: an 802.3 length

constexpr std::size_t kEthernetHeaderSize = 14;
constexpr std::size_t kSllHeaderSize = 16;
constexpr std::size_t kSll2HeaderSize = 20;
constexpr std::size_t kNullHeaderSize = 4;

// Address families of the 4-byte header of NULL and LOOP. AF_INET6 has another number on each family of systems: Linux 10,
// NetBSD and OpenBSD 24, FreeBSD 28, Darwin 30.
constexpr std::uint32_t kFamilyInet = 2;
constexpr std::array<std::uint32_t, 4> kFamilyInet6 = {10, 24, 28, 30};

// Hardware types whose SLL protocol field is no EtherType.
constexpr std::uint16_t kArphrdFrad = 770;
constexpr std::uint16_t kArphrdNetlink = 824;

struct Known {
  LinkType type;
  int dlt;
  const char* name;
};
constexpr std::array<Known, 8> kKnown = {{{LinkType::kEthernet, DLT_EN10MB, "EN10MB"},
                                          {LinkType::kRaw, DLT_RAW, "RAW"},
                                          {LinkType::kIpv4, DLT_IPV4, "IPV4"},
                                          {LinkType::kIpv6, DLT_IPV6, "IPV6"},
                                          {LinkType::kLinuxSll, DLT_LINUX_SLL, "LINUX_SLL"},
                                          {LinkType::kLinuxSll2, DLT_LINUX_SLL2, "LINUX_SLL2"},
                                          {LinkType::kNull, DLT_NULL, "NULL"},
                                          {LinkType::kLoop, DLT_LOOP, "LOOP"}}};

std::uint16_t be16(std::span<const std::uint8_t> bytes, std::size_t at) noexcept {
  return static_cast<std::uint16_t>((bytes[at] << 8) | bytes[at + 1]);
}

std::uint32_t be32(std::span<const std::uint8_t> bytes, std::size_t at) noexcept {
  return (std::uint32_t{be16(bytes, at)} << 16) | be16(bytes, at + 2);
}

Frame header_short() noexcept {
  Frame frame;
  frame.content = FrameContent::kHeaderShort;
  return frame;
}

net::MacAddress mac_at(std::span<const std::uint8_t> bytes, std::size_t at) noexcept {
  net::MacAddress mac;
  std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), mac.bytes.size(), mac.bytes.begin());
  return mac;
}

/// Fills in what an EtherType says; `bytes` begins behind the link-layer header.
void read_ethertype(Frame& frame, std::uint32_t type,
                    std::span<const std::uint8_t> bytes) noexcept {
  frame.protocol = type;
  if (type == kEtherTypeIpv6) {
    frame.content = FrameContent::kIpv6;
  } else if (type == kEtherTypeIpv4) {
    frame.content = FrameContent::kIpv4;
  } else if (type == kEtherTypeVlan || type == kEtherTypeServiceVlan) {
    frame.content = bytes.size() < 4 ? FrameContent::kHeaderShort : FrameContent::kVlan;
    if (bytes.size() >= 2) frame.vlan_id = be16(bytes, 0) & 0x0fff;
  }
}

Frame dissect_ethernet(std::span<const std::uint8_t> bytes) noexcept {
  if (bytes.size() < kEthernetHeaderSize) return header_short();
  Frame frame;
  frame.header_size = kEthernetHeaderSize;
  frame.has_mac = true;
  frame.destination_mac = mac_at(bytes, 0);
  frame.source_mac = mac_at(bytes, 6);
  if (frame.destination_mac.is_broadcast()) {
    frame.l2_class = packet::L2Class::kBroadcast;
  } else if (frame.destination_mac.is_multicast()) {
    frame.l2_class = packet::L2Class::kMulticast;
  }
  read_ethertype(frame, be16(bytes, 12), bytes.subspan(kEthernetHeaderSize));
  return frame;
}

void read_sll_packet_type(Frame& frame, std::uint16_t packet_type) noexcept {
  switch (packet_type) {
    case 1:
      frame.l2_class = packet::L2Class::kBroadcast;
      break;
    case 2:
      frame.l2_class = packet::L2Class::kMulticast;
      break;
    case 3:
      frame.l2_class = packet::L2Class::kOtherHost;
      break;
    case 4:
      frame.l2_class = packet::L2Class::kOtherHost;
      frame.outgoing = true;
      break;
    default:
      break;
  }
}

Frame dissect_sll(std::span<const std::uint8_t> bytes) noexcept {
  if (bytes.size() < kSllHeaderSize) return header_short();
  Frame frame;
  frame.header_size = kSllHeaderSize;
  read_sll_packet_type(frame, be16(bytes, 0));
  if (be16(bytes, 4) == 6) frame.source_mac = mac_at(bytes, 6);
  const std::uint16_t hardware = be16(bytes, 2);
  frame.protocol = be16(bytes, 14);
  if (hardware == kArphrdFrad || hardware == kArphrdNetlink) return frame;
  read_ethertype(frame, be16(bytes, 14), bytes.subspan(kSllHeaderSize));
  return frame;
}

Frame dissect_sll2(std::span<const std::uint8_t> bytes) noexcept {
  if (bytes.size() < kSll2HeaderSize) return header_short();
  Frame frame;
  frame.header_size = kSll2HeaderSize;
  read_sll_packet_type(frame, bytes[10]);
  if (bytes[11] == 6) frame.source_mac = mac_at(bytes, 12);
  const std::uint16_t hardware = be16(bytes, 8);
  frame.protocol = be16(bytes, 0);
  if (hardware == kArphrdFrad || hardware == kArphrdNetlink) return frame;
  read_ethertype(frame, be16(bytes, 0), bytes.subspan(kSll2HeaderSize));
  return frame;
}

Frame dissect_raw(std::span<const std::uint8_t> bytes) noexcept {
  if (bytes.empty()) return header_short();
  Frame frame;
  const unsigned version = bytes[0] >> 4;
  frame.protocol = version;
  if (version == 6) frame.content = FrameContent::kIpv6;
  if (version == 4) frame.content = FrameContent::kIpv4;
  return frame;
}

/// NULL has the family in the byte order of the machine that captured, LOOP in network order. No family number is a valid
/// one when its bytes are swapped, so both orders can be accepted for both.
Frame dissect_null(std::span<const std::uint8_t> bytes) noexcept {
  if (bytes.size() < kNullHeaderSize) return header_short();
  Frame frame;
  frame.header_size = kNullHeaderSize;
  std::uint32_t family = be32(bytes, 0);
  if ((family & 0xffff0000) != 0) family = __builtin_bswap32(family);
  frame.protocol = family;
  if (std::find(kFamilyInet6.begin(), kFamilyInet6.end(), family) != kFamilyInet6.end()) {
    frame.content = FrameContent::kIpv6;
  } else if (family == kFamilyInet) {
    frame.content = FrameContent::kIpv4;
  }
  return frame;
}

const char* ethertype_name(std::uint32_t type) noexcept {
  switch (type) {
    case 0x0806:
      return "ARP";
    case 0x8847:
      return "MPLS";
    case 0x8848:
      return "MPLS multicast";
    case 0x8863:
      return "PPPoE discovery";
    case 0x8864:
      return "PPPoE session";
    case 0x88cc:
      return "LLDP";
    case 0x88e5:
      return "MACsec";
    default:
      return nullptr;
  }
}

}  // namespace

std::optional<LinkType> link_type_of_dlt(int dlt) noexcept {
  for (const auto& known : kKnown) {
    if (known.dlt == dlt) return known.type;
  }
  return std::nullopt;
}

int dlt_of(LinkType type) noexcept {
  for (const auto& known : kKnown) {
    if (known.type == type) return known.dlt;
  }
  return -1;
}

std::string describe_dlt(int dlt) {
  const char* name = pcap_datalink_val_to_name(dlt);
  return name == nullptr ? fmt::format("{}", dlt) : fmt::format("{} ({})", name, dlt);
}

std::string supported_link_types() {
  std::string text;
  for (const auto& known : kKnown) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", known.name,
                        static_cast<int>(known.type));
  }
  return text;
}

Frame dissect(LinkType type, std::span<const std::uint8_t> frame) noexcept {
  switch (type) {
    case LinkType::kEthernet:
      return dissect_ethernet(frame);
    case LinkType::kLinuxSll:
      return dissect_sll(frame);
    case LinkType::kLinuxSll2:
      return dissect_sll2(frame);
    case LinkType::kNull:
    case LinkType::kLoop:
      return dissect_null(frame);
    case LinkType::kRaw:
    case LinkType::kIpv4:
    case LinkType::kIpv6:
      return dissect_raw(frame);
  }
  return header_short();
}

std::string describe(const Frame& frame) {
  switch (frame.content) {
    case FrameContent::kIpv6:
      return "an IPv6 packet";
    case FrameContent::kIpv4:
      return "an IPv4 packet";
    case FrameContent::kVlan:
      return fmt::format("VLAN {} (tag type 0x{:04x})", frame.vlan_id, frame.protocol);
    case FrameContent::kHeaderShort:
      return "the frame ends inside its link-layer header";
    case FrameContent::kOther:
      break;
  }
  if (frame.header_size == 0) return fmt::format("IP version {}", frame.protocol);
  if (frame.header_size == kNullHeaderSize) return fmt::format("address family {}", frame.protocol);
  if (frame.protocol < kEtherTypeFirst)
    return fmt::format("an 802.3 frame or protocol number {}", frame.protocol);
  const char* name = ethertype_name(frame.protocol);
  return name == nullptr ? fmt::format("EtherType 0x{:04x}", frame.protocol)
                         : fmt::format("EtherType 0x{:04x} ({})", frame.protocol, name);
}

std::vector<std::uint8_t> ipv6_link_header(LinkType type) {
  switch (type) {
    case LinkType::kEthernet: {
      std::vector<std::uint8_t> header(kEthernetHeaderSize);
      header[12] = 0x86;
      header[13] = 0xdd;
      return header;
    }
    case LinkType::kLinuxSll: {
      std::vector<std::uint8_t> header(kSllHeaderSize);
      header[1] = 4;  // outgoing
      header[14] = 0x86;
      header[15] = 0xdd;
      return header;
    }
    case LinkType::kLinuxSll2: {
      std::vector<std::uint8_t> header(kSll2HeaderSize);
      header[0] = 0x86;
      header[1] = 0xdd;
      header[10] = 4;
      return header;
    }
    case LinkType::kNull:
      return {10, 0, 0, 0};
    case LinkType::kLoop:
      return {0, 0, 0, 24};
    case LinkType::kRaw:
    case LinkType::kIpv4:
    case LinkType::kIpv6:
      break;
  }
  return {};
}

}  // namespace sidestep::io
