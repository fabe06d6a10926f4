// SPDX-License-Identifier: Apache-2.0
// Packets built by hand from the RFCs, independent of the code under test.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace sidestep::golden {

using Bytes = std::vector<std::uint8_t>;

/// Joins pieces of a packet.
[[nodiscard]] Bytes join(std::initializer_list<Bytes> pieces);
/// 16 bytes of an address; 6 bytes of an Ethernet address. Wrong text aborts.
[[nodiscard]] Bytes address(std::string_view text);
[[nodiscard]] Bytes mac(std::string_view text);
/// `size` bytes 00 01 02 …
[[nodiscard]] Bytes filler(std::size_t size);
[[nodiscard]] Bytes be16(std::uint32_t value);
[[nodiscard]] Bytes be32(std::uint32_t value);

/// What of the IPv6 header is not addresses.
struct Header {
  std::uint8_t next_header = 59;
  std::uint8_t hop_limit = 64;
  std::uint8_t traffic_class = 0;
  std::uint32_t flow_label = 0;
  int payload_length = -1;  ///< -1: what is true
};
[[nodiscard]] Bytes ipv6(std::string_view source, std::string_view destination, Header header,
                         const Bytes& payload);

/// Upper-layer headers with right checksums for these addresses (the pseudo-header's).
[[nodiscard]] Bytes udp(std::string_view source, std::string_view destination, std::uint16_t sport,
                        std::uint16_t dport, const Bytes& payload);
[[nodiscard]] Bytes icmpv6(std::string_view source, std::string_view destination, std::uint8_t type,
                           std::uint8_t code, const Bytes& body);
[[nodiscard]] Bytes echo(std::string_view source, std::string_view destination, std::uint8_t type,
                         const Bytes& payload);

/// An ICMPv6 error from the router about `offender` (quoted as given, cut so that the whole is at most 1280 bytes).
[[nodiscard]] Bytes icmp_error(std::string_view source, std::string_view destination,
                               std::uint8_t type, std::uint8_t code, std::uint32_t parameter,
                               const Bytes& offender);
/// A redirect with the target's link-layer address (empty: without) and the redirected header.
[[nodiscard]] Bytes redirect(std::string_view source, std::string_view destination,
                             std::string_view target, std::string_view about,
                             std::string_view target_mac, const Bytes& offender);

/// A hop-by-hop or destination options header with these TLVs; padded with Pad1 only if `pad` says so, else they must fill it.
[[nodiscard]] Bytes options(std::uint8_t next_header, const Bytes& tlvs);
/// A fragment header.
[[nodiscard]] Bytes fragment(std::uint8_t next_header, std::uint16_t offset_8_octets, bool more,
                             std::uint32_t id);
/// A segment routing header: segments in wire order (Segment[0] is the last to be visited).
struct SrhFields {
  std::uint8_t segments_left = 0;
  int last_entry = -1;  ///< -1: what is true
  std::uint8_t flags = 0;
  std::uint16_t tag = 0;
};
[[nodiscard]] Bytes srh(std::uint8_t next_header, SrhFields fields,
                        const std::vector<std::string_view>& segments, const Bytes& tlvs = {});
/// A routing header of another type, with one address.
[[nodiscard]] Bytes routing(std::uint8_t next_header, std::uint8_t type, std::uint8_t segments_left,
                            std::string_view segment);

/// The packet with another hop limit, or another destination.
[[nodiscard]] Bytes with_hop_limit(Bytes packet, std::uint8_t hop_limit);
[[nodiscard]] Bytes with_destination(Bytes packet, std::string_view destination);
/// The packet with one byte changed.
[[nodiscard]] Bytes with_byte(Bytes packet, std::size_t offset, std::uint8_t value);

/// An Ethernet frame.
[[nodiscard]] Bytes frame(std::string_view destination, std::string_view source,
                          const Bytes& packet);

}  // namespace sidestep::golden
