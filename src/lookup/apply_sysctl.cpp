// SPDX-License-Identifier: Apache-2.0
// Sysctls that routing and forwarding read, by their names.
//
// Writing net.ipv6.conf.all.KEY means different things for different keys, and the kernel is followed one by one: forwarding
// and ignore_routes_with_linkdown, disable_ipv6 and addr_gen_mode are copied to `default` and to every device,
// force_forwarding to every device only, and the rest stay in `all`, where some lookups combine them with the device's.
#include <cerrno>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "lookup/apply.hpp"
#include "lookup/device_events.hpp"

namespace sidestep::lookup {
namespace {

constexpr std::string_view kConfPrefix = "net.ipv6.conf.";
constexpr std::int64_t kInt32Max = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kInt32Min = std::numeric_limits<std::int32_t>::min();

// Decimal or 0x…, surrounded by blanks or not, as /proc/sys reads numbers.
std::optional<std::int64_t> parse_number(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n')) text.remove_suffix(1);
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [next, error] = std::from_chars(text.data(), end, value, hexadecimal ? 16 : 10);
  if (error != std::errc{} || next != end || text.empty() || text.front() == '-')
    return std::nullopt;
  return negative ? -value : value;
}

std::unexpected<Error> invalid_value(const SysctlChange& change) {
  return failure(EINVAL, fmt::format("setting key \"{}\": Invalid argument", change.key));
}
// In the words of sysctl(8), which names the file.
std::unexpected<Error> unknown_key(const SysctlChange& change) {
  std::string path = "/proc/sys/" + change.key;
  std::ranges::replace(path, '.', '/');
  return failure(ENOENT, fmt::format("cannot stat {}: No such file or directory", path));
}

// A key below conf.DEVICE, its range, and where its value goes.
struct ConfKey {
  std::string_view name;
  std::int64_t least;
  std::int64_t most;
  void (*set)(fib::LinkConf& conf, std::int64_t value);  ///< nullptr: accepted without effect
};

#define SIDESTEP_CONF_FLAG(field) \
  [](fib::LinkConf& conf, std::int64_t value) { conf.field = value != 0; }

constexpr std::array kConfKeys{
    ConfKey{"accept_redirects", kInt32Min, kInt32Max, SIDESTEP_CONF_FLAG(accept_redirects)},
    ConfKey{"seg6_enabled", kInt32Min, kInt32Max, SIDESTEP_CONF_FLAG(seg6_enabled)},
    ConfKey{"drop_unicast_in_l2_multicast", kInt32Min, kInt32Max,
            SIDESTEP_CONF_FLAG(drop_unicast_in_l2_multicast)},
    ConfKey{"proxy_ndp", kInt32Min, kInt32Max, SIDESTEP_CONF_FLAG(proxy_ndp)},
    ConfKey{"use_oif_addrs_only", kInt32Min, kInt32Max, SIDESTEP_CONF_FLAG(use_oif_addrs_only)},
    ConfKey{"keep_addr_on_down", kInt32Min, kInt32Max,
            [](fib::LinkConf& conf, std::int64_t value) { conf.keep_addr_on_down = value > 0; }},
    ConfKey{"seg6_require_hmac", kInt32Min, kInt32Max,
            [](fib::LinkConf& conf, std::int64_t value) {
              conf.seg6_require_hmac = static_cast<std::int32_t>(value);
            }},
    ConfKey{"accept_dad", kInt32Min, kInt32Max,
            [](fib::LinkConf& conf, std::int64_t value) {
              conf.accept_dad = static_cast<std::int32_t>(value);
            }},
    ConfKey{"hop_limit", 1, 255,
            [](fib::LinkConf& conf, std::int64_t value) {
              conf.hop_limit = static_cast<std::uint32_t>(value);
            }},
    ConfKey{"accept_ra", kInt32Min, kInt32Max, nullptr},
    ConfKey{"accept_ra_defrtr", kInt32Min, kInt32Max, nullptr},
    ConfKey{"accept_ra_from_local", kInt32Min, kInt32Max, nullptr},
    ConfKey{"accept_ra_min_hop_limit", kInt32Min, kInt32Max, nullptr},
    ConfKey{"accept_ra_min_lft", kInt32Min, kInt32Max, nullptr},
    ConfKey{"accept_ra_mtu", kInt32Min, kInt32Max, nullptr},
    ConfKey{"accept_ra_pinfo", kInt32Min, kInt32Max, nullptr},
    ConfKey{"accept_ra_rt_info_max_plen", kInt32Min, kInt32Max, nullptr},
    ConfKey{"accept_ra_rt_info_min_plen", kInt32Min, kInt32Max, nullptr},
    ConfKey{"accept_ra_rtr_pref", kInt32Min, kInt32Max, nullptr},
    ConfKey{"accept_source_route", kInt32Min, kInt32Max, nullptr},
    ConfKey{"accept_untracked_na", 0, 2, nullptr},
    ConfKey{"autoconf", kInt32Min, kInt32Max, nullptr},
    ConfKey{"dad_transmits", kInt32Min, kInt32Max, nullptr},
    ConfKey{"disable_policy", kInt32Min, kInt32Max, nullptr},
    ConfKey{"drop_unsolicited_na", kInt32Min, kInt32Max, nullptr},
    ConfKey{"enhanced_dad", kInt32Min, kInt32Max, nullptr},
    ConfKey{"force_mld_version", kInt32Min, kInt32Max, nullptr},
    ConfKey{"force_tllao", kInt32Min, kInt32Max, nullptr},
    ConfKey{"max_addresses", kInt32Min, kInt32Max, nullptr},
    ConfKey{"mldv1_unsolicited_report_interval", kInt32Min, kInt32Max, nullptr},
    ConfKey{"mldv2_unsolicited_report_interval", kInt32Min, kInt32Max, nullptr},
    ConfKey{"ndisc_evict_nocarrier", 0, 1, nullptr},
    ConfKey{"ndisc_notify", kInt32Min, kInt32Max, nullptr},
    ConfKey{"ndisc_tclass", 0, 255, nullptr},
    ConfKey{"optimistic_dad", kInt32Min, kInt32Max, nullptr},
    ConfKey{"router_probe_interval", kInt32Min, kInt32Max, nullptr},
    ConfKey{"router_solicitation_delay", kInt32Min, kInt32Max, nullptr},
    ConfKey{"router_solicitation_interval", kInt32Min, kInt32Max, nullptr},
    ConfKey{"router_solicitation_max_interval", kInt32Min, kInt32Max, nullptr},
    ConfKey{"router_solicitations", -1, kInt32Max, nullptr},
    ConfKey{"suppress_frag_ndisc", kInt32Min, kInt32Max, nullptr},
    ConfKey{"temp_prefered_lft", kInt32Min, kInt32Max, nullptr},
    ConfKey{"temp_valid_lft", kInt32Min, kInt32Max, nullptr},
    ConfKey{"use_optimistic", kInt32Min, kInt32Max, nullptr},
    ConfKey{"use_tempaddr", kInt32Min, kInt32Max, nullptr},
};

#undef SIDESTEP_CONF_FLAG

enum class Where : std::uint8_t { kAll, kDefault, kDevice };

/// `conf.WHERE.KEY` taken apart.
struct ConfTarget {
  Where where = Where::kDevice;
  IfIndex device{};
  std::string_view key;
};

// A device's name may contain dots; the key is behind the last one.
std::optional<ConfTarget> conf_target(const State& state, std::string_view key) {
  key.remove_prefix(kConfPrefix.size());
  const auto dot = key.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  ConfTarget target;
  target.key = key.substr(dot + 1);
  const std::string_view name = key.substr(0, dot);
  if (name == "all") {
    target.where = Where::kAll;
  } else if (name == "default") {
    target.where = Where::kDefault;
  } else {
    const fib::Link* link = state.links().find(name);
    // Below the minimum MTU a device has no IPv6, and no entries here.
    if (link == nullptr || !has_ipv6(*link)) return std::nullopt;
    target.device = link->index;
  }
  return target;
}

fib::LinkConf& conf_of(State& state, const ConfTarget& target) {
  switch (target.where) {
    case Where::kAll:
      return state.edit_sysctls().all;
    case Where::kDefault:
      return state.edit_sysctls().defaults;
    default:
      return state.edit_links().find(target.device)->conf;
  }
}

std::vector<IfIndex> every_device(const State& state) {
  std::vector<IfIndex> devices;
  for (const auto& [index, link] : state.links().all()) devices.push_back(index);
  return devices;
}

void write_forwarding(State& state, const ConfTarget& target, bool value) {
  if (target.where == Where::kDevice) {
    set_forwarding(state, target.device, value);
    return;
  }
  state.edit_sysctls().defaults.forwarding = value;
  if (target.where == Where::kDefault) return;
  state.edit_sysctls().all.forwarding = value;
  for (const IfIndex device : every_device(state)) set_forwarding(state, device, value);
}

void write_force_forwarding(State& state, const ConfTarget& target, bool value) {
  conf_of(state, target).force_forwarding = value;
  if (target.where != Where::kAll) return;
  for (const IfIndex device : every_device(state))
    state.edit_links().find(device)->conf.force_forwarding = value;
}

// Shares of rings stay as they are until the next event on the ring, as in the kernel, unless that is switched off.
void write_ignore_linkdown(State& state, const ConfTarget& target, bool value) {
  conf_of(state, target).ignore_routes_with_linkdown = value;
  if (target.where == Where::kAll) {
    state.edit_sysctls().defaults.ignore_routes_with_linkdown = value;
    for (const IfIndex device : every_device(state)) {
      state.edit_links().find(device)->conf.ignore_routes_with_linkdown = value;
    }
  }
  if (state.sysctls().stale_multipath_shares) return;
  state.for_each_table([](fib::Table& table) { table.rebalance(); });
}

void disable_on_device(State& state, IfIndex device, bool disable) {
  fib::Link& link = *state.edit_links().find(device);
  if (link.conf.disable_ipv6 == disable) return;
  link.conf.disable_ipv6 = disable;
  if (disable) {
    device_went_down(state, device, false);
  } else if (link.up) {
    device_came_up(state, device);
  }
}

void write_disable_ipv6(State& state, const ConfTarget& target, bool value) {
  if (target.where == Where::kDevice) {
    disable_on_device(state, target.device, value);
    return;
  }
  state.edit_sysctls().defaults.disable_ipv6 = value;
  if (target.where == Where::kDefault) return;
  state.edit_sysctls().all.disable_ipv6 = value;
  for (const IfIndex device : every_device(state)) disable_on_device(state, device, value);
}

void write_addr_gen_mode(State& state, const ConfTarget& target, std::uint8_t value) {
  conf_of(state, target).addr_gen_mode = value;
  if (target.where == Where::kDefault) return;
  if (target.where == Where::kDevice) {
    generate_link_local(state, target.device);
    return;
  }
  state.edit_sysctls().defaults.addr_gen_mode = value;
  for (const IfIndex device : every_device(state)) {
    state.edit_links().find(device)->conf.addr_gen_mode = value;
    generate_link_local(state, device);
  }
}

Result<void> write_mtu(State& state, const SysctlChange& change, const ConfTarget& target,
                       std::int64_t value) {
  constexpr std::int64_t kMinimumMtu = 1280;
  std::int64_t most = kInt32Max;
  if (target.where == Where::kDevice) most = state.links().find(target.device)->mtu;
  if (value < kMinimumMtu || value > most) return invalid_value(change);
  conf_of(state, target).mtu = static_cast<std::uint32_t>(value);
  return {};
}

Result<void> write_conf(State& state, const SysctlChange& change) {
  constexpr std::int64_t kAddrGenModeMost = 3;
  const auto target = conf_target(state, change.key);
  if (!target) return unknown_key(change);
  const auto value = parse_number(change.value);
  if (!value || *value < kInt32Min || *value > kInt32Max) return invalid_value(change);
  const bool flag = *value != 0;
  if (target->key == "forwarding") {
    write_forwarding(state, *target, flag);
  } else if (target->key == "force_forwarding") {
    if (*value < 0 || *value > 1) return invalid_value(change);
    write_force_forwarding(state, *target, flag);
  } else if (target->key == "ignore_routes_with_linkdown") {
    write_ignore_linkdown(state, *target, flag);
  } else if (target->key == "disable_ipv6") {
    write_disable_ipv6(state, *target, flag);
  } else if (target->key == "addr_gen_mode") {
    if (*value < 0 || *value > kAddrGenModeMost) return invalid_value(change);
    write_addr_gen_mode(state, *target, static_cast<std::uint8_t>(*value));
  } else if (target->key == "mtu") {
    return write_mtu(state, change, *target, *value);
  } else {
    for (const ConfKey& key : kConfKeys) {
      if (key.name != target->key) continue;
      if (*value < key.least || *value > key.most) return invalid_value(change);
      if (key.set != nullptr) key.set(conf_of(state, *target), *value);
      return {};
    }
    return unknown_key(change);
  }
  return {};
}

// A key of the whole router.
struct RouterKey {
  std::string_view name;
  std::int64_t least;
  std::int64_t most;
  void (*set)(fib::Sysctls& sysctls, std::int64_t value);  ///< nullptr: accepted without effect
};

#define SIDESTEP_ROUTER_FLAG(field) \
  [](fib::Sysctls& sysctls, std::int64_t value) { sysctls.field = value != 0; }
#define SIDESTEP_ROUTER_NUMBER(field)                            \
  [](fib::Sysctls& sysctls, std::int64_t value) {                \
    sysctls.field = static_cast<decltype(sysctls.field)>(value); \
  }

constexpr std::array kRouterKeys{
    RouterKey{"net.ipv6.icmp.ratelimit", 0, kInt32Max, SIDESTEP_ROUTER_NUMBER(icmp_ratelimit_ms)},
    RouterKey{"net.ipv6.icmp.error_anycast_as_unicast", 0, 1,
              SIDESTEP_ROUTER_FLAG(icmp_error_anycast_as_unicast)},
    RouterKey{"net.ipv6.icmp.echo_ignore_all", 0, 255, SIDESTEP_ROUTER_FLAG(icmp_echo_ignore_all)},
    RouterKey{"net.ipv6.icmp.echo_ignore_multicast", 0, 255,
              SIDESTEP_ROUTER_FLAG(icmp_echo_ignore_multicast)},
    RouterKey{"net.ipv6.icmp.echo_ignore_anycast", 0, 255,
              SIDESTEP_ROUTER_FLAG(icmp_echo_ignore_anycast)},
    RouterKey{"net.ipv6.anycast_src_echo_reply", 0, 255,
              SIDESTEP_ROUTER_FLAG(anycast_src_echo_reply)},
    RouterKey{"net.ipv4.icmp_msgs_per_sec", 0, kInt32Max,
              SIDESTEP_ROUTER_NUMBER(icmp_msgs_per_sec)},
    RouterKey{"net.ipv4.icmp_msgs_burst", 0, kInt32Max, SIDESTEP_ROUTER_NUMBER(icmp_msgs_burst)},
    RouterKey{"net.ipv6.fib_multipath_hash_policy", 0, 3,
              SIDESTEP_ROUTER_NUMBER(fib_multipath_hash_policy)},
    RouterKey{"net.ipv6.fib_multipath_hash_fields", 1, 0xfff,
              SIDESTEP_ROUTER_NUMBER(fib_multipath_hash_fields)},
    RouterKey{"sidestep.exceptions_defeat_suppression", 0, 1,
              SIDESTEP_ROUTER_FLAG(exceptions_defeat_suppression)},
    RouterKey{"sidestep.stale_multipath_shares", 0, 1,
              SIDESTEP_ROUTER_FLAG(stale_multipath_shares)},
    RouterKey{"net.ipv6.max_hbh_opts_number", kInt32Min, kInt32Max,
              SIDESTEP_ROUTER_NUMBER(max_hbh_opts_number)},
    RouterKey{"net.ipv6.max_hbh_length", kInt32Min, kInt32Max,
              SIDESTEP_ROUTER_NUMBER(max_hbh_length)},
    RouterKey{"net.ipv6.max_dst_opts_number", kInt32Min, kInt32Max,
              SIDESTEP_ROUTER_NUMBER(max_dst_opts_number)},
    RouterKey{"net.ipv6.max_dst_opts_length", kInt32Min, kInt32Max,
              SIDESTEP_ROUTER_NUMBER(max_dst_opts_length)},
    RouterKey{"net.ipv6.seg6_flowlabel", kInt32Min, kInt32Max,
              SIDESTEP_ROUTER_NUMBER(seg6_flowlabel)},
    RouterKey{"net.ipv6.bindv6only", 0, 255, nullptr},
    RouterKey{"net.ipv6.auto_flowlabels", 0, 3, SIDESTEP_ROUTER_NUMBER(auto_flowlabels)},
    RouterKey{"net.ipv6.flowlabel_consistency", 0, 255, nullptr},
    RouterKey{"net.ipv6.flowlabel_state_ranges", 0, 255, nullptr},
    RouterKey{"net.ipv6.flowlabel_reflect", 0, 7, nullptr},
    RouterKey{"net.ipv6.idgen_delay", 0, kInt32Max, nullptr},
    RouterKey{"net.ipv6.idgen_retries", 0, kInt32Max, nullptr},
    RouterKey{"net.ipv6.ip_nonlocal_bind", 0, 255, nullptr},
    RouterKey{"net.ipv6.route.skip_notify_on_dev_down", 0, 1, nullptr},
    RouterKey{"net.ipv4.nexthop_compat_mode", 0, 1, nullptr},
    RouterKey{"net.ipv4.ip_forward", kInt32Min, kInt32Max, nullptr},
};

#undef SIDESTEP_ROUTER_FLAG
#undef SIDESTEP_ROUTER_NUMBER

}  // namespace

Result<void> apply_change(State& state, const SysctlChange& change, TimeNs) {
  if (change.key.starts_with(kConfPrefix)) return write_conf(state, change);
  if (change.key == "net.ipv6.icmp.ratemask") {
    state.edit_sysctls().icmp_ratemask = change.value;
    return {};
  }
  for (const RouterKey& key : kRouterKeys) {
    if (key.name != change.key) continue;
    const auto value = parse_number(change.value);
    if (!value || *value < key.least || *value > key.most) return invalid_value(change);
    if (key.set != nullptr) key.set(state.edit_sysctls(), *value);
    return {};
  }
  return unknown_key(change);
}

}  // namespace sidestep::lookup
