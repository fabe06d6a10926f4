// SPDX-License-Identifier: Apache-2.0
// Devices, their addresses and their sysctls, as routing sees them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sidestep/net/address.hpp>
#include <sidestep/net/ids.hpp>
#include <sidestep/net/prefix.hpp>

namespace sidestep::fib {

/// net.ipv6.conf.DEVICE.*: the keys that matter to forwarding, with the kernel's defaults.
struct LinkConf {
  bool disable_ipv6 = false;
  bool forwarding = false;
  bool force_forwarding = false;
  bool accept_redirects = true;
  bool ignore_routes_with_linkdown = false;
  bool seg6_enabled = false;
  std::int32_t seg6_require_hmac = 0;
  std::uint32_t hop_limit = 64;
  std::uint32_t mtu = 0;  ///< IPv6 MTU in bytes; 0: the device's
  bool drop_unicast_in_l2_multicast = false;
  bool proxy_ndp = false;
  bool keep_addr_on_down = false;
  bool use_oif_addrs_only = false;
  std::uint8_t addr_gen_mode = 0;  ///< 0: EUI-64, 1: none
  std::int32_t accept_dad =
      1;  ///< below 1 here and in `all` (there 0): addresses work at once, also without carrier
  bool operator==(const LinkConf&) const = default;
};

/// An address of a device.
struct InterfaceAddress {
  net::Ipv6Address address{};
  std::uint8_t prefix_length = 128;
  std::optional<net::Ipv6Address> peer{};
  bool deprecated = false;  ///< preferred_lft 0
  bool no_prefix_route = false;
  bool home = false;
  bool tentative =
      false;  ///< waits for the device to be up with carrier; duplicate detection itself takes no time
  std::uint32_t metric = 0;  ///< of the prefix route; 0: 256
  bool operator==(const InterfaceAddress&) const = default;
};

/// A device.
struct Link {
  IfIndex index{};
  std::string name{};
  std::string kind{};  ///< `type` as written; only `vrf` means something
  net::MacAddress mac{};
  std::uint32_t mtu = 1500;  ///< bytes
  bool up = false;           ///< administratively
  bool carrier = true;
  std::uint32_t group = 0;
  IfIndex master{};
  std::optional<TableId> vrf_table{};
  LinkConf conf{};
  std::vector<InterfaceAddress> addresses{};  ///< in the kernel's order

  [[nodiscard]] bool is_loopback() const noexcept { return index == kLoopbackIndex; }
  /// The MTU that IPv6 uses on this device, bytes.
  [[nodiscard]] std::uint32_t ipv6_mtu() const noexcept {
    return conf.mtu != 0 && conf.mtu < mtu ? conf.mtu : mtu;
  }
};

/// Sysctls of the whole router, with the kernel's defaults.
struct Sysctls {
  LinkConf all{};       ///< net.ipv6.conf.all.*: what a lookup asks `all` for
  LinkConf defaults{};  ///< net.ipv6.conf.default.*: what a new device starts with
  std::uint32_t icmp_ratelimit_ms =
      1000;  ///< net.ipv6.icmp.ratelimit (the running kernel: 100 with HZ=100? asked by the oracle)
  bool icmp_error_anycast_as_unicast = false;
  std::string icmp_ratemask = "0-1,3-127";
  bool icmp_echo_ignore_all = false;
  bool icmp_echo_ignore_multicast = false;
  bool icmp_echo_ignore_anycast = false;
  bool anycast_src_echo_reply = false;
  std::uint32_t icmp_msgs_per_sec = 1000;      ///< net.ipv4.icmp_msgs_per_sec
  std::uint32_t icmp_msgs_burst = 50;          ///< net.ipv4.icmp_msgs_burst
  std::uint8_t fib_multipath_hash_policy = 0;  ///< net.ipv6.fib_multipath_hash_policy, 0..3
  std::uint32_t fib_multipath_hash_fields = 7;
  /// sidestep.exceptions_defeat_suppression: suppress_prefixlength sees the /128 of an exception, as in the kernel, and not
  /// the length of the route that it overrides.
  bool exceptions_defeat_suppression = true;
  /// sidestep.stale_multipath_shares: writing ignore_routes_with_linkdown leaves the shares of multipath rings as they are until
  /// the next event on the ring, as in the kernel.
  bool stale_multipath_shares = true;
  std::int32_t max_hbh_opts_number = 8;  ///< net.ipv6.max_hbh_opts_number
  std::int32_t max_hbh_length = 0x7fffffff;
  std::int32_t max_dst_opts_number = 8;
  std::int32_t max_dst_opts_length = 0x7fffffff;
  std::int32_t seg6_flowlabel = 0;  ///< net.ipv6.seg6_flowlabel, -1..1
  std::uint8_t auto_flowlabels =
      1;  ///< net.ipv6.auto_flowlabels; 0: no flow label on what the router itself sends
  bool operator==(const Sysctls&) const = default;
};

/// All devices by index; small, copied whole at each change.
class Links {
 public:
  Links();  ///< with the loopback device `lo`, up, ::1/128
  [[nodiscard]] const Link* find(IfIndex index) const noexcept;
  [[nodiscard]] const Link* find(std::string_view name) const noexcept;
  [[nodiscard]] Link* find(IfIndex index) noexcept;
  [[nodiscard]] const std::map<IfIndex, Link>& all() const noexcept { return links_; }
  /// Adds a device under the next free index and returns it. The name must be new.
  Link& add(std::string name);
  void erase(IfIndex index);
  /// Name of a device, or `if<index>` when there is none.
  [[nodiscard]] std::string name(IfIndex index) const;
  /// The VRF that a device is, or is in; nullptr: none.
  [[nodiscard]] const Link* vrf_of(IfIndex device) const noexcept;
  /// The device that has this address, or nullptr.
  [[nodiscard]] const Link* owner_of(const net::Ipv6Address& address) const noexcept;

 private:
  std::map<IfIndex, Link> links_;
  std::uint32_t next_index_ = 1;
};

}  // namespace sidestep::fib
