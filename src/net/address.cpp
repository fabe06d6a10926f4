// SPDX-License-Identifier: Apache-2.0
#include <sidestep/net/address.hpp>

#include <arpa/inet.h>

#include <bit>
#include <charconv>
#include <cstring>

#include <fmt/format.h>

namespace sidestep::net {
namespace {

// inet_pton wants a terminated string; no address is longer than this.
constexpr std::size_t kTextMax = INET6_ADDRSTRLEN;

template <typename Address>
std::optional<Address> parse_text(int family, std::string_view text) noexcept {
  char buffer[kTextMax + 1];
  if (text.empty() || text.size() > kTextMax || text.find('\0') != std::string_view::npos)
    return std::nullopt;
  std::memcpy(buffer, text.data(), text.size());
  buffer[text.size()] = '\0';
  Address address;
  if (inet_pton(family, buffer, address.bytes.data()) != 1) return std::nullopt;
  return address;
}

template <typename Address>
std::string print_text(int family, const Address& address) {
  char buffer[kTextMax + 1];
  inet_ntop(family, address.bytes.data(), buffer, sizeof buffer);
  return buffer;
}

}  // namespace

std::optional<Ipv6Address> Ipv6Address::parse(std::string_view text) noexcept {
  return parse_text<Ipv6Address>(AF_INET6, text);
}

std::string Ipv6Address::to_string() const { return print_text(AF_INET6, *this); }

Scope Ipv6Address::scope() const noexcept {
  if (is_multicast()) return static_cast<Scope>(multicast_scope());
  if (is_loopback() || is_link_local()) return Scope::kLinkLocal;
  if (bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0xc0) return Scope::kSiteLocal;
  return Scope::kGlobal;
}

Ipv6Address Ipv6Address::solicited_node() const noexcept {
  return {{0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, bytes[13], bytes[14], bytes[15]}};
}

std::optional<Ipv4Address> Ipv4Address::parse(std::string_view text) noexcept {
  return parse_text<Ipv4Address>(AF_INET, text);
}

std::string Ipv4Address::to_string() const { return print_text(AF_INET, *this); }

std::optional<MacAddress> MacAddress::parse(std::string_view text) noexcept {
  MacAddress mac;
  const char* position = text.data();
  const char* end = text.data() + text.size();
  for (std::size_t i = 0; i < mac.bytes.size(); ++i) {
    if (i != 0) {
      if (position == end || *position != ':') return std::nullopt;
      ++position;
    }
    const char* limit = end - position > 2 ? position + 2 : end;
    const auto [next, error] = std::from_chars(position, limit, mac.bytes[i], 16);
    if (error != std::errc{} || next == position) return std::nullopt;
    position = next;
  }
  return position == end ? std::optional(mac) : std::nullopt;
}

std::string MacAddress::to_string() const {
  return fmt::format("{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}", bytes[0], bytes[1], bytes[2],
                     bytes[3], bytes[4], bytes[5]);
}

Ipv6Address MacAddress::link_local() const noexcept {
  return {{0xfe, 0x80, 0, 0, 0, 0, 0, 0, static_cast<std::uint8_t>(bytes[0] ^ 0x02), bytes[1],
           bytes[2], 0xff, 0xfe, bytes[3], bytes[4], bytes[5]}};
}

}  // namespace sidestep::net

std::size_t std::hash<sidestep::net::Ipv6Address>::operator()(
    const sidestep::net::Ipv6Address& address) const noexcept {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  std::memcpy(&high, address.bytes.data(), 8);
  std::memcpy(&low, address.bytes.data() + 8, 8);
  // Two odd multipliers and a fold: the halves must not cancel when they are equal.
  const std::uint64_t mixed =
      (high * 0x9e3779b97f4a7c15ULL) ^ (std::rotl(low, 31) * 0xc2b2ae3d27d4eb4fULL);
  return static_cast<std::size_t>(mixed ^ (mixed >> 29));
}
