// SPDX-License-Identifier: Apache-2.0
// Packets for tests, put together from parts: ipv6({...}, srh({...}), udp(...)). What a part does not say gets a valid value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <sidestep/net/address.hpp>
#include <sidestep/net/headers.hpp>

namespace sidestep::net::test {

using Bytes = std::vector<std::uint8_t>;

[[nodiscard]] inline Ipv6Address addr(std::string_view text) {
  return Ipv6Address::parse(text).value();
}

/// Parts one after the other.
template <typename... Parts>
[[nodiscard]] Bytes concat(const Parts&... parts) {
  Bytes all;
  (all.insert(all.end(), parts.begin(), parts.end()), ...);
  return all;
}

[[nodiscard]] inline Bytes zeros(std::size_t count) { return Bytes(count); }

struct Ipv6Fields {
  std::uint8_t next_header = kNextHeaderUdp;
  std::string_view source = "2001:db8:a::2";
  std::string_view destination = "2001:db8:b::2";
  std::uint8_t hop_limit = 64;
  std::uint8_t traffic_class = 0;
  std::uint32_t flow_label = 0;
  std::optional<std::uint16_t> payload_length{};  ///< empty: what is there
};

template <typename... Parts>
[[nodiscard]] Bytes ipv6(const Ipv6Fields& fields, const Parts&... parts) {
  Bytes packet = concat(zeros(kIpv6HeaderSize), parts...);
  auto header = MutableIpv6Header::check(packet).value();
  header.set_version_class_label(fields.traffic_class, fields.flow_label);
  header.set_payload_length(
      fields.payload_length.value_or(static_cast<std::uint16_t>(packet.size() - kIpv6HeaderSize)));
  header.set_next_header(fields.next_header);
  header.set_hop_limit(fields.hop_limit);
  header.set_source(addr(fields.source));
  header.set_destination(addr(fields.destination));
  return packet;
}

struct SrhFields {
  std::uint8_t next_header = kNextHeaderUdp;
  std::uint8_t segments_left = 0;
  std::vector<std::string_view> segments{};  ///< as in the header: the last of the path first
  Bytes tlvs{};
  std::uint8_t routing_type = kRoutingTypeSegment;
  std::optional<std::uint8_t> last_entry{};
  std::optional<std::uint8_t> hdr_ext_len{};
  std::uint8_t flags = 0;
  std::uint16_t tag = 0;
};

[[nodiscard]] inline Bytes srh(const SrhFields& fields) {
  Bytes list;
  for (const auto segment : fields.segments) list = concat(list, addr(segment).bytes);
  list = concat(list, fields.tlvs);
  const auto count = static_cast<std::uint8_t>(fields.segments.size());
  const Bytes fixed{fields.next_header,
                    fields.hdr_ext_len.value_or(static_cast<std::uint8_t>(list.size() / 8)),
                    fields.routing_type,
                    fields.segments_left,
                    fields.last_entry.value_or(static_cast<std::uint8_t>(count - 1)),
                    fields.flags,
                    static_cast<std::uint8_t>(fields.tag >> 8),
                    static_cast<std::uint8_t>(fields.tag)};
  return concat(fixed, list);
}

/// A hop-by-hop or destination options header of 8 bytes with a PadN.
[[nodiscard]] inline Bytes options(std::uint8_t next_header) {
  return {next_header, 0, 1, 4, 0, 0, 0, 0};
}
/// An options header with these options, padded with zero bytes (Pad1) to a multiple of 8.
[[nodiscard]] inline Bytes options(std::uint8_t next_header, const Bytes& list) {
  Bytes header = concat(Bytes{next_header, 0}, list);
  header.resize((header.size() + 7) / 8 * 8);
  header[1] = static_cast<std::uint8_t>(header.size() / 8 - 1);
  return header;
}

/// @param offset  bytes, a multiple of 8
[[nodiscard]] inline Bytes fragment(std::uint8_t next_header, std::uint16_t offset, bool more) {
  const auto word = static_cast<std::uint16_t>(offset | (more ? 1 : 0));
  return {
      next_header, 0, static_cast<std::uint8_t>(word >> 8), static_cast<std::uint8_t>(word), 0, 0,
      0,           7};
}

/// An authentication header of 12 bytes.
[[nodiscard]] inline Bytes authentication(std::uint8_t next_header) {
  return concat(Bytes{next_header, 1}, zeros(10));
}

/// A UDP header without a checksum, and its data.
[[nodiscard]] inline Bytes udp(std::uint16_t source_port, std::uint16_t destination_port,
                               const Bytes& data = {}) {
  Bytes header(8);
  store_be16(header.data(), source_port);
  store_be16(header.data() + 2, destination_port);
  store_be16(header.data() + 4, static_cast<std::uint16_t>(8 + data.size()));
  return concat(header, data);
}

/// An ICMPv6 message with its checksum.
[[nodiscard]] inline Bytes icmpv6(std::uint8_t type, std::uint8_t code, std::uint32_t rest,
                                  const Bytes& body, std::string_view source,
                                  std::string_view destination) {
  Bytes message = concat(Bytes{type, code, 0, 0}, zeros(4), body);
  auto header = MutableIcmpv6Header::check(message).value();
  header.set_rest(rest);
  header.set_checksum(
      upper_layer_checksum(addr(source), addr(destination), kNextHeaderIcmpv6, message));
  return message;
}

}  // namespace sidestep::net::test
