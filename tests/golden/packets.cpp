// SPDX-License-Identifier: Apache-2.0
#include "golden/packets.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace sidestep::golden {
namespace {

constexpr std::size_t kErrorSizeMax = 1280;
constexpr std::uint8_t kUdp = 17;
constexpr std::uint8_t kIcmpv6 = 58;

/// RFC 8200 §8.1: over the pseudo-header and the upper-layer packet.
std::uint16_t checksum(const Bytes& source, const Bytes& destination, std::uint8_t next_header,
                       const Bytes& upper) {
  Bytes all = join({source,
                    destination,
                    be32(static_cast<std::uint32_t>(upper.size())),
                    {0, 0, 0, next_header},
                    upper});
  if (all.size() % 2 != 0) all.push_back(0);
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < all.size(); i += 2)
    sum += static_cast<std::uint32_t>(all[i] << 8 | all[i + 1]);
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

void set_be16(Bytes& bytes, std::size_t offset, std::uint16_t value) {
  bytes[offset] = static_cast<std::uint8_t>(value >> 8);
  bytes[offset + 1] = static_cast<std::uint8_t>(value);
}

}  // namespace

Bytes join(std::initializer_list<Bytes> pieces) {
  Bytes all;
  for (const auto& piece : pieces) all.insert(all.end(), piece.begin(), piece.end());
  return all;
}

Bytes address(std::string_view text) {
  Bytes bytes(16);
  if (inet_pton(AF_INET6, std::string(text).c_str(), bytes.data()) != 1) std::abort();
  return bytes;
}

Bytes mac(std::string_view text) {
  Bytes bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 3) {
    bytes.push_back(
        static_cast<std::uint8_t>(std::stoul(std::string(text.substr(i, 2)), nullptr, 16)));
  }
  if (bytes.size() != 6) std::abort();
  return bytes;
}

Bytes filler(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(i);
  return bytes;
}

Bytes be16(std::uint32_t value) {
  return {static_cast<std::uint8_t>(value >> 8), static_cast<std::uint8_t>(value)};
}

Bytes be32(std::uint32_t value) { return join({be16(value >> 16), be16(value & 0xffff)}); }

Bytes ipv6(std::string_view source, std::string_view destination, Header header,
           const Bytes& payload) {
  const std::uint32_t first = 6U << 28 | static_cast<std::uint32_t>(header.traffic_class) << 20 |
                              (header.flow_label & 0xfffffU);
  const auto length = static_cast<std::uint32_t>(
      header.payload_length < 0 ? static_cast<int>(payload.size()) : header.payload_length);
  return join({be32(first),
               be16(length),
               {header.next_header, header.hop_limit},
               address(source),
               address(destination),
               payload});
}

Bytes udp(std::string_view source, std::string_view destination, std::uint16_t sport,
          std::uint16_t dport, const Bytes& payload) {
  Bytes bytes = join({be16(sport),
                      be16(dport),
                      be16(static_cast<std::uint32_t>(payload.size() + 8)),
                      {0, 0},
                      payload});
  set_be16(bytes, 6, checksum(address(source), address(destination), kUdp, bytes));
  return bytes;
}

Bytes icmpv6(std::string_view source, std::string_view destination, std::uint8_t type,
             std::uint8_t code, const Bytes& body) {
  Bytes bytes = join({{type, code, 0, 0}, body});
  set_be16(bytes, 2, checksum(address(source), address(destination), kIcmpv6, bytes));
  return bytes;
}

Bytes echo(std::string_view source, std::string_view destination, std::uint8_t type,
           const Bytes& payload) {
  return icmpv6(source, destination, type, 0, join({be16(0x1234), be16(1), payload}));
}

Bytes icmp_error(std::string_view source, std::string_view destination, std::uint8_t type,
                 std::uint8_t code, std::uint32_t parameter, const Bytes& offender) {
  Bytes quote = offender;
  quote.resize(std::min(quote.size(), kErrorSizeMax - 40 - 8));
  return ipv6(source, destination, {.next_header = kIcmpv6},
              icmpv6(source, destination, type, code, join({be32(parameter), quote})));
}

Bytes redirect(std::string_view source, std::string_view destination, std::string_view target,
               std::string_view about, std::string_view target_mac, const Bytes& offender) {
  const Bytes link_layer = target_mac.empty() ? Bytes{} : join({{2, 1}, mac(target_mac)});
  // RFC 4861 §4.6.3: whole 8-octet units; the message stays within 1280 bytes.
  std::size_t option = std::min(kErrorSizeMax - 40 - 40 - link_layer.size(), offender.size() + 8);
  option &= ~std::size_t{7};
  Bytes quote = offender;
  quote.resize(option - 8);
  const Bytes header = join({{4, static_cast<std::uint8_t>(option / 8)}, Bytes(6), quote});
  return ipv6(source, destination, {.next_header = kIcmpv6, .hop_limit = 255},
              icmpv6(source, destination, 137, 0,
                     join({be32(0), address(target), address(about), link_layer, header})));
}

Bytes options(std::uint8_t next_header, const Bytes& tlvs) {
  if ((tlvs.size() + 2) % 8 != 0) std::abort();
  return join({{next_header, static_cast<std::uint8_t>((tlvs.size() + 2) / 8 - 1)}, tlvs});
}

Bytes fragment(std::uint8_t next_header, std::uint16_t offset_8_octets, bool more,
               std::uint32_t id) {
  return join({{next_header, 0},
               be16(static_cast<std::uint32_t>(offset_8_octets << 3) | (more ? 1U : 0U)),
               be32(id)});
}

Bytes srh(std::uint8_t next_header, SrhFields fields, const std::vector<std::string_view>& segments,
          const Bytes& tlvs) {
  Bytes list;
  for (const auto segment : segments) list = join({list, address(segment)});
  if (tlvs.size() % 8 != 0) std::abort();
  const auto units = static_cast<std::uint8_t>((list.size() + tlvs.size()) / 8);
  const int last =
      fields.last_entry < 0 ? static_cast<int>(segments.size()) - 1 : fields.last_entry;
  return join(
      {{next_header, units, 4, fields.segments_left, static_cast<std::uint8_t>(last), fields.flags},
       be16(fields.tag),
       list,
       tlvs});
}

Bytes routing(std::uint8_t next_header, std::uint8_t type, std::uint8_t segments_left,
              std::string_view segment) {
  return join({{next_header, 2, type, segments_left, 0, 0, 0, 0}, address(segment)});
}

Bytes with_hop_limit(Bytes packet, std::uint8_t hop_limit) {
  return with_byte(std::move(packet), 7, hop_limit);
}

Bytes with_destination(Bytes packet, std::string_view destination) {
  const Bytes bytes = address(destination);
  std::copy(bytes.begin(), bytes.end(), packet.begin() + 24);
  return packet;
}

Bytes with_byte(Bytes packet, std::size_t offset, std::uint8_t value) {
  packet.at(offset) = value;
  return packet;
}

Bytes frame(std::string_view destination, std::string_view source, const Bytes& packet) {
  return join({mac(destination), mac(source), be16(0x86dd), packet});
}

}  // namespace sidestep::golden
