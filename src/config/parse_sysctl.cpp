// SPDX-License-Identifier: Apache-2.0
// `sysctl [-w] KEY=VALUE`: not a command of ip, but no router is described without it.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "config/parser.hpp"

namespace sidestep::config {
namespace {

struct Key {
  std::string_view name;
  std::int64_t least;
  std::int64_t most;
  bool kept = true;  ///< false: the router's state has no place for it
};
constexpr std::int64_t kIntMin = INT32_MIN;
constexpr std::int64_t kIntMax = INT32_MAX;

// net.ipv6.conf.DEVICE.*, those with an effect on routing first. The others are accepted: they belong to a host.
constexpr std::array kDeviceKeys{
    Key{"disable_ipv6", kIntMin, kIntMax},
    Key{"forwarding", kIntMin, kIntMax},
    Key{"force_forwarding", 0, 1},
    Key{"accept_redirects", kIntMin, kIntMax},
    Key{"ignore_routes_with_linkdown", kIntMin, kIntMax},
    Key{"seg6_enabled", kIntMin, kIntMax},
    Key{"seg6_require_hmac", kIntMin, kIntMax},
    Key{"hop_limit", 1, 255},
    Key{"mtu", 1280, kIntMax},
    Key{"drop_unicast_in_l2_multicast", kIntMin, kIntMax},
    Key{"proxy_ndp", kIntMin, kIntMax},
    Key{"keep_addr_on_down", kIntMin, kIntMax},
    Key{"use_oif_addrs_only", kIntMin, kIntMax},
    Key{"addr_gen_mode", 0, 3},
    Key{"accept_dad", kIntMin, kIntMax},
    Key{"accept_untracked_na", 0, 2},
    Key{"ndisc_evict_nocarrier", 0, 1},
    Key{"ndisc_tclass", 0, 255},
    Key{"router_solicitations", -1, kIntMax},
    Key{"accept_ra", kIntMin, kIntMax},
    Key{"accept_ra_defrtr", kIntMin, kIntMax},
    Key{"accept_ra_from_local", kIntMin, kIntMax},
    Key{"accept_ra_min_hop_limit", kIntMin, kIntMax},
    Key{"accept_ra_min_lft", kIntMin, kIntMax},
    Key{"accept_ra_mtu", kIntMin, kIntMax},
    Key{"accept_ra_pinfo", kIntMin, kIntMax},
    Key{"accept_ra_rt_info_max_plen", kIntMin, kIntMax},
    Key{"accept_ra_rt_info_min_plen", kIntMin, kIntMax},
    Key{"accept_ra_rtr_pref", kIntMin, kIntMax},
    Key{"accept_source_route", kIntMin, kIntMax},
    Key{"autoconf", kIntMin, kIntMax},
    Key{"dad_transmits", kIntMin, kIntMax},
    Key{"disable_policy", kIntMin, kIntMax},
    Key{"drop_unsolicited_na", kIntMin, kIntMax},
    Key{"enhanced_dad", kIntMin, kIntMax},
    Key{"force_mld_version", kIntMin, kIntMax},
    Key{"force_tllao", kIntMin, kIntMax},
    Key{"max_addresses", kIntMin, kIntMax},
    Key{"mldv1_unsolicited_report_interval", kIntMin, kIntMax},
    Key{"mldv2_unsolicited_report_interval", kIntMin, kIntMax},
    Key{"ndisc_notify", kIntMin, kIntMax},
    Key{"optimistic_dad", kIntMin, kIntMax},
    Key{"router_probe_interval", kIntMin, kIntMax},
    Key{"router_solicitation_delay", kIntMin, kIntMax},
    Key{"router_solicitation_interval", kIntMin, kIntMax},
    Key{"router_solicitation_max_interval", kIntMin, kIntMax},
    Key{"suppress_frag_ndisc", kIntMin, kIntMax},
    Key{"temp_prefered_lft", kIntMin, kIntMax},
    Key{"temp_valid_lft", kIntMin, kIntMax},
    Key{"use_optimistic", kIntMin, kIntMax},
    Key{"use_tempaddr", kIntMin, kIntMax},
};

constexpr std::array kRouterKeys{
    Key{"net.ipv6.icmp.ratelimit", 0, kIntMax},
    Key{"net.ipv6.icmp.error_anycast_as_unicast", 0, 1},
    Key{"net.ipv6.icmp.echo_ignore_all", 0, 255},
    Key{"net.ipv6.icmp.echo_ignore_multicast", 0, 255},
    Key{"net.ipv6.icmp.echo_ignore_anycast", 0, 255},
    Key{"net.ipv6.anycast_src_echo_reply", 0, 255},
    Key{"net.ipv4.icmp_msgs_per_sec", 0, kIntMax},
    Key{"net.ipv4.icmp_msgs_burst", 0, kIntMax},
    Key{"net.ipv6.fib_multipath_hash_policy", 0, 3},
    Key{"net.ipv6.fib_multipath_hash_fields", 1, 0xfff},
    Key{"sidestep.exceptions_defeat_suppression", 0, 1},
    Key{"sidestep.stale_multipath_shares", 0, 1},
    Key{"net.ipv6.max_hbh_opts_number", kIntMin, kIntMax},
    Key{"net.ipv6.max_hbh_length", kIntMin, kIntMax},
    Key{"net.ipv6.max_dst_opts_number", kIntMin, kIntMax},
    Key{"net.ipv6.max_dst_opts_length", kIntMin, kIntMax},
    Key{"net.ipv6.seg6_flowlabel", kIntMin, kIntMax},
    Key{"net.ipv6.bindv6only", 0, 255},
    Key{"net.ipv6.auto_flowlabels", 0, 3},
    Key{"net.ipv6.ip_nonlocal_bind", 0, 255},
    Key{"net.ipv4.nexthop_compat_mode", 0, 1},
    Key{"net.ipv4.ip_forward", kIntMin, kIntMax},
    Key{"net.ipv4.fib_multipath_hash_seed", 0, UINT32_MAX, false},
    Key{"net.ipv4.conf.all.forwarding", kIntMin, kIntMax, false},
    Key{"net.ipv4.conf.all.rp_filter", kIntMin, kIntMax, false},
    Key{"net.ipv4.conf.default.rp_filter", kIntMin, kIntMax, false},
    Key{"net.vrf.strict_mode", 0, 1, false},
};
constexpr std::string_view kRateMask = "net.ipv6.icmp.ratemask";
constexpr std::string_view kDevicePrefix = "net.ipv6.conf.";

struct Assignment {
  Word key;
  Word value;
  bool value_given = false;
};

// KEY=VALUE, KEY = VALUE, KEY= VALUE or KEY =VALUE; a value may itself be several words.
bool read_assignment(Cursor& cursor, Assignment& out) {
  if (cursor.at_end()) return cursor.fail_next("KEY=VALUE");
  const Word& first = cursor.take();
  out.key = first;
  std::string value;
  auto equals = first.text.find('=');
  if (equals == std::string::npos) {
    if (cursor.at_end() || !cursor.peek()->text.starts_with('='))
      return cursor.fail_next("'=' and a value");
    const Word& second = cursor.take();
    out.value = second;
    out.value.column += 1;
    value = second.text.substr(1);
  } else {
    out.key.text = first.text.substr(0, equals);
    out.value = first;
    out.value.column += static_cast<std::uint32_t>(equals) + 1;
    value = first.text.substr(equals + 1);
  }
  if (value.empty() && !cursor.at_end()) {
    out.value = cursor.take();
    value = out.value.text;
  }
  const auto begin = value.find_first_not_of(" \t");
  const auto end = value.find_last_not_of(" \t");
  out.value.text = begin == std::string::npos ? "" : value.substr(begin, end - begin + 1);
  const auto key_end = out.key.text.find_last_not_of(" \t");
  out.key.text.resize(key_end == std::string::npos ? 0 : key_end + 1);
  return true;
}

// sysctl(8) takes '/' for '.'; a dot inside a device's name stays a dot.
std::string dotted(std::string_view key) {
  std::string result(key);
  std::ranges::replace(result, '/', '.');
  return result;
}

std::optional<std::int64_t> parse_signed(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const auto magnitude = parse_number(text);
  if (!magnitude || *magnitude > UINT32_MAX) return std::nullopt;
  const auto value = static_cast<std::int64_t>(*magnitude);
  return negative ? -value : value;
}

const Key* find_key(std::string_view key) {
  if (key.starts_with(kDevicePrefix)) {
    const auto dot = key.rfind('.');
    if (dot <= kDevicePrefix.size()) return nullptr;
    const auto found = std::ranges::find(kDeviceKeys, key.substr(dot + 1), &Key::name);
    return found == kDeviceKeys.end() ? nullptr : &*found;
  }
  const auto found = std::ranges::find(kRouterKeys, key, &Key::name);
  return found == kRouterKeys.end() ? nullptr : &*found;
}

// Comma-separated numbers and ranges of ICMPv6 types, or nothing.
bool is_rate_mask(std::string_view text) {
  while (!text.empty()) {
    const auto comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    const auto dash = part.find('-');
    const auto first = parse_digits(part.substr(0, dash), 10);
    const auto last =
        dash == std::string_view::npos ? first : parse_digits(part.substr(dash + 1), 10);
    if (!first || !last || *first > *last || *last > 255) return false;
    if (comma == std::string_view::npos) return true;
    text.remove_prefix(comma + 1);
  }
  return true;
}

bool check_value(Cursor& cursor, const Key& key, Assignment& assignment) {
  const auto expected = key.least == kIntMin
                            ? std::string("a number")
                            : fmt::format("a number of {} to {}", key.least, key.most);
  const auto value = parse_signed(assignment.value.text);
  if (!value || *value < key.least || *value > key.most)
    return cursor.fail_at(assignment.value, expected);
  assignment.value.text = std::to_string(*value);
  return true;
}

}  // namespace

bool parse_sysctl(Cursor& cursor, Understood& out) {
  while (!cursor.at_end() && cursor.peek()->text.starts_with('-')) {
    const std::string_view option = cursor.take().text;
    constexpr std::array<std::string_view, 7> kOptions{"-w",  "--write", "-q", "--quiet",
                                                       "-qw", "-wq",     "-e"};
    if (std::ranges::find(kOptions, option) == kOptions.end()) return cursor.fail("'-w'");
  }
  Assignment assignment;
  if (!read_assignment(cursor, assignment)) return false;
  out.points_at(assignment.key);
  const std::string name = dotted(assignment.key.text);
  if (name == kRateMask) {
    if (!is_rate_mask(assignment.value.text))
      return cursor.fail_at(assignment.value, "ICMPv6 types such as 0-1,3-127");
    out.actions.emplace_back(lookup::SysctlChange{name, assignment.value.text});
    return true;
  }
  const Key* key = find_key(name);
  if (key == nullptr)
    return cursor.fail_at(assignment.key,
                          "a key of net.ipv6 that routing depends on (see docs/configuration.md)");
  if (!check_value(cursor, *key, assignment)) return false;
  if (key->kept) {
    out.actions.emplace_back(lookup::SysctlChange{name, assignment.value.text});
  } else {
    out.actions.emplace_back(KeptLine{cursor.line().text});
  }
  return true;
}

}  // namespace sidestep::config
