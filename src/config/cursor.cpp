// SPDX-License-Identifier: Apache-2.0
#include "config/cursor.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace sidestep::config {
namespace {

constexpr std::size_t kDeviceNameMax = 15;  // IFNAMSIZ without the final zero

bool is_everything(std::string_view text) {
  return text == "default" || text == "all" || text == "any";
}

net::Ipv6Address mapped(const net::Ipv4Address& address) {
  net::Ipv6Address result{};
  result.bytes[10] = result.bytes[11] = 0xff;
  std::ranges::copy(address.bytes, result.bytes.begin() + 12);
  return result;
}

// One to four decimal bytes, the missing ones zero: `10` is 10.0.0.0, as ip reads it.
std::optional<net::Ipv4Address> parse_ipv4(std::string_view text) {
  net::Ipv4Address address{};
  for (std::size_t i = 0; i < address.bytes.size(); ++i) {
    const auto dot = text.find('.');
    const auto byte = parse_digits(text.substr(0, dot), 10);
    if (!byte || *byte > 255) return std::nullopt;
    address.bytes[i] = static_cast<std::uint8_t>(*byte);
    if (dot == std::string_view::npos) return address;
    text.remove_prefix(dot + 1);
  }
  return std::nullopt;
}

std::optional<net::Ipv6Address> parse_address(std::string_view text, Family family) {
  if (family == Family::kIpv6) return net::Ipv6Address::parse(text);
  const auto address = parse_ipv4(text);
  return address ? std::optional(mapped(*address)) : std::nullopt;
}

bool is_device_name(std::string_view name) {
  if (name.empty() || name.size() > kDeviceNameMax || name == "." || name == "..") return false;
  return name.find_first_of("/: \t\r\n\v\f") == std::string_view::npos;
}

std::string_view family_name(Family family) { return family == Family::kIpv6 ? "IPv6" : "IPv4"; }

}  // namespace

bool Cursor::take_if(std::string_view text) {
  if (at_end() || peek()->text != text) return false;
  ++next_;
  return true;
}

bool Cursor::fail_at(const Word& word, std::string expected) {
  if (!mistake_)
    mistake_ = Mistake{word.line, word.column, "read " + quote(word.text),
                       "expected " + std::move(expected)};
  return false;
}

bool Cursor::fail_next(std::string expected) {
  if (!at_end()) return fail_at(*peek(), std::move(expected));
  if (!mistake_) {
    mistake_ = Mistake{line_->end_line, line_->end_column, "read the end of the line",
                       "expected " + std::move(expected)};
  }
  return false;
}

bool Cursor::take_value(std::string_view what) {
  if (at_end()) return fail_next(std::string(what));
  ++next_;
  return true;
}

bool Cursor::word(std::string_view what, std::string& out) {
  if (!take_value(what)) return false;
  out = last().text;
  return true;
}

bool Cursor::number(std::string_view what, std::uint32_t& out, std::uint32_t least,
                    std::uint32_t most) {
  const auto expected = fmt::format("{} of {} to {}", what, least, most);
  if (!take_value(expected)) return false;
  const auto value = parse_number(last().text);
  if (!value || *value < least || *value > most) return fail(expected);
  out = static_cast<std::uint32_t>(*value);
  return true;
}

bool Cursor::number(std::string_view what, std::uint8_t& out, std::uint8_t least,
                    std::uint8_t most) {
  std::uint32_t value = 0;
  if (!number(what, value, std::uint32_t{least}, std::uint32_t{most})) return false;
  out = static_cast<std::uint8_t>(value);
  return true;
}

bool Cursor::number(std::string_view what, std::uint16_t& out, std::uint16_t least,
                    std::uint16_t most) {
  std::uint32_t value = 0;
  if (!number(what, value, std::uint32_t{least}, std::uint32_t{most})) return false;
  out = static_cast<std::uint16_t>(value);
  return true;
}

bool Cursor::address(net::Ipv6Address& out, Family family) {
  const auto expected = fmt::format("an {} address", family_name(family));
  if (!take_value(expected)) return false;
  if (is_everything(last().text)) {
    out = {};
    return true;
  }
  const auto parsed = parse_address(last().text, family);
  if (!parsed) return fail(expected);
  out = *parsed;
  return true;
}

bool Cursor::ipv4_address(net::Ipv4Address& out) {
  net::Ipv6Address address{};
  if (!this->address(address, Family::kIpv4)) return false;
  std::copy(address.bytes.begin() + 12, address.bytes.end(), out.bytes.begin());
  return true;
}

bool Cursor::prefix_length(std::string_view digits, std::uint8_t most, std::uint8_t& out) {
  const auto length = parse_number(digits);
  if (!length || *length > most) return fail(fmt::format("a prefix length of 0 to {}", most));
  out = static_cast<std::uint8_t>(*length);
  return true;
}

bool Cursor::prefix(AddressWithLength& out) {
  const auto expected = fmt::format("an {} prefix, 'default' or 'all'", family_name(family_));
  if (!take_value(expected)) return false;
  const std::string_view text = last().text;
  if (is_everything(text)) {
    out = {net::Ipv6Address{}, 0};
    return true;
  }
  const auto slash = text.find('/');
  const auto parsed = parse_address(text.substr(0, slash), family_);
  if (!parsed) return fail(expected);
  out = {*parsed, 128};
  if (slash == std::string_view::npos) return true;
  const std::uint8_t most = family_ == Family::kIpv6 ? 128 : 32;
  if (!prefix_length(text.substr(slash + 1), most, out.length)) return false;
  if (family_ == Family::kIpv4) out.length = static_cast<std::uint8_t>(out.length + 96);
  return true;
}

bool Cursor::mac(net::MacAddress& out) {
  constexpr std::string_view kExpected = "an Ethernet address such as 02:00:00:00:00:01";
  if (!take_value(kExpected)) return false;
  const auto parsed = net::MacAddress::parse(last().text);
  if (!parsed) return fail(std::string(kExpected));
  out = *parsed;
  return true;
}

bool Cursor::device(std::string& out) {
  constexpr std::string_view kExpected =
      "the name of a device, 1 to 15 bytes without '/', ':' and blanks";
  if (!take_value(kExpected)) return false;
  if (!is_device_name(last().text)) return fail(std::string(kExpected));
  out = last().text;
  return true;
}

bool Cursor::table(TableId& out) {
  constexpr std::string_view kExpected =
      "a table: local, main, default or a number of 0 to 4294967295";
  if (!take_value(kExpected)) return false;
  const auto number = table_number(last().text);
  if (!number) return fail(std::string(kExpected));
  out = TableId{*number};
  return true;
}

bool Cursor::protocol(std::uint8_t& out) {
  constexpr std::string_view kExpected =
      "a routing protocol: static, kernel, bgp, ... or a number of 0 to 255";
  if (!take_value(kExpected)) return false;
  const auto number = protocol_number(last().text);
  if (!number) return fail(std::string(kExpected));
  out = *number;
  return true;
}

bool Cursor::group(std::uint32_t& out) {
  constexpr std::string_view kExpected = "a device group: default or a number of 0 to 4294967295";
  if (!take_value(kExpected)) return false;
  const auto number = group_number(last().text);
  if (!number) return fail(std::string(kExpected));
  out = *number;
  return true;
}

bool Cursor::on_off(bool& out) {
  if (!take_value("'on' or 'off'")) return false;
  out = last().text == "on";
  return out || last().text == "off" || fail("'on' or 'off'");
}

bool Cursor::gateway(net::Ipv6Address& out) {
  Family family = family_;
  if (take_if("inet6")) {
    family = Family::kIpv6;
  } else if (take_if("inet")) {
    if (family_ == Family::kIpv6) return fail("an IPv6 gateway");
  }
  if (!address(out, family)) return false;
  if (is_everything(last().text)) return fail(fmt::format("an {} address", family_name(family)));
  return true;
}

}  // namespace sidestep::config
