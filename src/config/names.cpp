// SPDX-License-Identifier: Apache-2.0
#include "config/names.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <span>

#include <fmt/format.h>

#include "config/print.hpp"

namespace sidestep::config {
namespace {

struct Name {
  std::uint32_t number;
  std::string_view text;
};

constexpr std::array kTables{Name{255, "local"}, Name{254, "main"}, Name{253, "default"},
                             Name{0, "unspec"}};

constexpr std::array kProtocols{
    Name{0, "unspec"}, Name{1, "redirect"}, Name{2, "kernel"},      Name{3, "boot"},
    Name{4, "static"}, Name{8, "gated"},    Name{9, "ra"},          Name{10, "mrt"},
    Name{11, "zebra"}, Name{12, "bird"},    Name{13, "dnrouted"},   Name{14, "xorp"},
    Name{15, "ntk"},   Name{16, "dhcp"},    Name{18, "keepalived"}, Name{42, "babel"},
    Name{99, "openr"}, Name{186, "bgp"},    Name{187, "isis"},      Name{188, "ospf"},
    Name{189, "rip"},  Name{192, "eigrp"}};

constexpr std::array kScopes{Name{0, "global"}, Name{255, "nowhere"}, Name{254, "host"},
                             Name{253, "link"}, Name{200, "site"}};

constexpr std::array kDsfields{Name{0x00, "default"}, Name{0x28, "AF11"}, Name{0x30, "AF12"},
                               Name{0x38, "AF13"},    Name{0x48, "AF21"}, Name{0x50, "AF22"},
                               Name{0x58, "AF23"},    Name{0x68, "AF31"}, Name{0x70, "AF32"},
                               Name{0x78, "AF33"},    Name{0x88, "AF41"}, Name{0x90, "AF42"},
                               Name{0x98, "AF43"},    Name{0x20, "CS1"},  Name{0x40, "CS2"},
                               Name{0x60, "CS3"},     Name{0x80, "CS4"},  Name{0xa0, "CS5"},
                               Name{0xc0, "CS6"},     Name{0xe0, "CS7"},  Name{0xb8, "EF"}};

constexpr std::array kGroups{Name{0, "default"}};

// Names of /etc/protocols; the first of a number is the one that is printed. Aliases are these in upper case, or the
// entries that repeat a number.
constexpr std::array kIpProtocols{Name{0, "ip"},          Name{0, "hopopt"},
                                  Name{1, "icmp"},        Name{2, "igmp"},
                                  Name{3, "ggp"},         Name{4, "ipencap"},
                                  Name{4, "ip-encap"},    Name{5, "st"},
                                  Name{6, "tcp"},         Name{8, "egp"},
                                  Name{9, "igp"},         Name{12, "pup"},
                                  Name{17, "udp"},        Name{20, "hmp"},
                                  Name{22, "xns-idp"},    Name{27, "rdp"},
                                  Name{29, "iso-tp4"},    Name{33, "dccp"},
                                  Name{36, "xtp"},        Name{37, "ddp"},
                                  Name{38, "idpr-cmtp"},  Name{41, "ipv6"},
                                  Name{43, "ipv6-route"}, Name{44, "ipv6-frag"},
                                  Name{45, "idrp"},       Name{46, "rsvp"},
                                  Name{47, "gre"},        Name{50, "esp"},
                                  Name{50, "ipsec-esp"},  Name{51, "ah"},
                                  Name{51, "ipsec-ah"},   Name{57, "skip"},
                                  Name{58, "ipv6-icmp"},  Name{59, "ipv6-nonxt"},
                                  Name{60, "ipv6-opts"},  Name{73, "rspf"},
                                  Name{81, "vmtp"},       Name{88, "eigrp"},
                                  Name{89, "ospf"},       Name{89, "ospfigp"},
                                  Name{93, "ax.25"},      Name{94, "ipip"},
                                  Name{97, "etherip"},    Name{98, "encap"},
                                  Name{103, "pim"},       Name{108, "ipcomp"},
                                  Name{112, "vrrp"},      Name{115, "l2tp"},
                                  Name{124, "isis"},      Name{132, "sctp"},
                                  Name{133, "fc"},        Name{135, "mobility-header"},
                                  Name{136, "udplite"},   Name{137, "mpls-in-ip"},
                                  Name{138, "manet"},     Name{139, "hip"},
                                  Name{140, "shim6"},     Name{141, "wesp"},
                                  Name{142, "rohc"},      Name{143, "ethernet"}};

std::optional<std::uint32_t> by_name(std::span<const Name> names, std::string_view text) {
  for (const Name& name : names) {
    if (name.text == text) return name.number;
  }
  return std::nullopt;
}

std::optional<std::string_view> by_number(std::span<const Name> names, std::uint32_t number) {
  for (const Name& name : names) {
    if (name.number == number) return name.text;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> at_most(std::optional<std::uint64_t> number, std::uint64_t limit) {
  return number && *number <= limit ? number : std::nullopt;
}

template <typename T>
std::optional<T> named_or_number(std::span<const Name> names, std::string_view text,
                                 std::optional<std::uint64_t> number) {
  if (const auto named = by_name(names, text)) return static_cast<T>(*named);
  if (const auto value = at_most(number, static_cast<T>(~T{0}))) return static_cast<T>(*value);
  return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> parse_digits(std::string_view text, unsigned base) {
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, static_cast<int>(base));
  if (error != std::errc{} || text.empty() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text.starts_with("0x") || text.starts_with("0X")) return parse_digits(text.substr(2), 16);
  if (text.size() > 1 && text.starts_with('0')) return parse_digits(text.substr(1), 8);
  return parse_digits(text, 10);
}

std::optional<std::uint32_t> table_number(std::string_view name) {
  return named_or_number<std::uint32_t>(kTables, name, parse_number(name));
}

std::optional<std::uint8_t> protocol_number(std::string_view name) {
  return named_or_number<std::uint8_t>(kProtocols, name, parse_number(name));
}

std::string protocol_name(std::uint8_t number) {
  const auto name = by_number(kProtocols, number);
  return name ? std::string(*name) : std::to_string(number);
}

std::optional<std::uint8_t> scope_number(std::string_view name) {
  return named_or_number<std::uint8_t>(kScopes, name, parse_number(name));
}

std::optional<std::uint8_t> dsfield_number(std::string_view name) {
  // ip reads this one number in base 16, with or without 0x.
  const bool prefixed = name.starts_with("0x") || name.starts_with("0X");
  return named_or_number<std::uint8_t>(kDsfields, name,
                                       parse_digits(prefixed ? name.substr(2) : name, 16));
}

std::string dsfield_name(std::uint8_t number) {
  const auto name = by_number(kDsfields, number);
  return name ? std::string(*name) : fmt::format("0x{:02x}", number);
}

std::optional<std::uint8_t> dscp_number(std::string_view name) {
  if (const auto named = by_name(kDsfields, name)) return static_cast<std::uint8_t>(*named >> 2);
  const auto number = at_most(parse_number(name), 63);
  return number ? std::optional(static_cast<std::uint8_t>(*number)) : std::nullopt;
}

std::string dscp_name(std::uint8_t number) {
  const auto name = by_number(kDsfields, static_cast<std::uint32_t>(number) << 2);
  return name ? std::string(*name) : std::to_string(number);
}

std::optional<std::uint32_t> group_number(std::string_view name) {
  return named_or_number<std::uint32_t>(kGroups, name, parse_number(name));
}

std::string group_name(std::uint32_t number) {
  const auto name = by_number(kGroups, number);
  return name ? std::string(*name) : std::to_string(number);
}

std::optional<std::uint8_t> ip_protocol_number(std::string_view name) {
  constexpr std::string_view kUnnamed = "ipproto-";  // as printed for a number without a name
  if (name.starts_with(kUnnamed)) name.remove_prefix(kUnnamed.size());
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return named_or_number<std::uint8_t>(kIpProtocols, lower, parse_digits(name, 10));
}

std::string ip_protocol_name(std::uint8_t number) {
  const auto name = by_number(kIpProtocols, number);
  return name ? std::string(*name) : fmt::format("ipproto-{}", number);
}

std::string table_name(TableId table) {
  const auto name = by_number(kTables, table.value);
  return name ? std::string(*name) : std::to_string(table.value);
}

}  // namespace sidestep::config
