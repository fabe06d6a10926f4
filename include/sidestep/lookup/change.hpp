// SPDX-License-Identifier: Apache-2.0
// Changes that the control plane asks for: one value per configuration line or netlink message.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <sidestep/fib/link.hpp>
#include <sidestep/fib/route.hpp>
#include <sidestep/rules/flow.hpp>
#include <sidestep/rules/rule.hpp>

namespace sidestep::lookup {

/// `link add` (create) or `link set`. Empty fields stay as they are.
struct LinkChange {
  std::string name{};
  bool create = false;
  std::string kind{};
  std::optional<net::MacAddress> mac{};
  std::optional<std::uint32_t> mtu{};
  std::optional<bool> up{};
  std::optional<bool> carrier{};
  std::optional<std::uint32_t> group{};
  std::optional<std::string> master{};  ///< "": nomaster
  std::optional<TableId> vrf_table{};
  std::optional<std::uint8_t> addr_gen_mode{};
};
struct LinkDelete {
  std::string name{};
};

/// `address add|del`.
struct AddressChange {
  std::string device{};
  fib::InterfaceAddress address{};
  bool remove = false;
  bool replace = false;
};

/// Route verbs with iproute2's netlink flags.
enum class RouteVerb : std::uint8_t { kAdd, kAppend, kPrepend, kReplace, kChange, kDelete };

/// One way out as written; `device` by name, resolved when applied.
struct NexthopSpec {
  std::string device{};  ///< "": from the gateway
  std::optional<net::Ipv6Address> gateway{};
  std::uint16_t weight = 1;
  bool onlink = false;
  fib::Encap encap{};
  std::string encap_iif{};  ///< seg6local `iif`/`oif` by name
  std::string encap_oif{};
};

/// `route VERB …`.
struct RouteChange {
  RouteVerb verb = RouteVerb::kAdd;
  net::Prefix destination{};
  std::optional<net::Prefix> source{};
  std::optional<fib::RouteType> type{};    ///< empty: unicast; on delete: any
  std::optional<TableId> table{};          ///< empty: main, or local for type local/anycast/…
  std::optional<std::uint32_t> metric{};   ///< empty: 1024 (add), lowest (delete)
  std::optional<std::uint8_t> protocol{};  ///< empty: boot (add), any (delete)
  std::optional<fib::RouterPreference> preference{};
  std::optional<net::Ipv6Address> preferred_source{};
  std::uint32_t mtu = 0;
  bool mtu_locked = false;
  std::uint32_t hop_limit = 0;
  std::uint32_t advmss = 0;
  std::optional<std::uint32_t> expires_s{};
  std::vector<NexthopSpec> hops{};  ///< one: `via`/`dev`; several: `nexthop … nexthop …`
  bool multipath = false;           ///< written with `nexthop`
  NexthopId nexthop_id{};
  fib::KeptMetrics kept{};  ///< goes into the route as it is
};

/// `rule add|del`.
struct RuleChange {
  bool remove = false;
  rules::Rule rule{};
  bool preference_given = false;
  bool table_given = false;
  bool action_given =
      false;  ///< an action other than the default `table`; on delete: absent fields match anything
};

/// `nexthop add|replace|del`.
enum class NexthopVerb : std::uint8_t { kAdd, kReplace, kDelete };
struct NexthopMemberSpec {
  NexthopId id{};
  std::uint16_t weight = 1;
};
struct NexthopChange {
  NexthopVerb verb = NexthopVerb::kAdd;
  NexthopId id{};
  std::uint8_t protocol = 0;
  bool blackhole = false;
  NexthopSpec hop{};
  std::vector<NexthopMemberSpec> group{};
  /// A resilient group: what is not given stays when it is replaced; a new one needs a number of buckets.
  bool resilient = false;
  std::optional<std::uint32_t> buckets{};
  std::optional<std::uint32_t> idle_timer_s{};
  std::optional<std::uint32_t> unbalanced_timer_s{};
};

/// `sysctl -w KEY=VALUE`, key with dots. Unknown keys are refused by the configuration language, not here.
struct SysctlChange {
  std::string key{};
  std::string value{};
};

/// What was learned about the way to one destination, and the end of it.
enum class ExceptionVerb : std::uint8_t {
  kPathMtu,   ///< a Packet Too Big about a packet of `flow` (RFC 8201)
  kRedirect,  ///< a redirect about `flow.destination` that came by `flow.oif` (RFC 4861 section 8)
  kGatewayFailed,  ///< nobody answers for `gateway` on `flow.oif`, or it is a router no more
  kFlush,          ///< `ip -6 route flush cache`
};

/// An exception: what overrides the route of a flow for its destination alone. What the kernel ignores (an MTU below 1280 or not below
/// the present one, a redirect from somebody who is not the gateway, no route) changes nothing and is no error.
struct ExceptionChange {
  ExceptionVerb verb = ExceptionVerb::kPathMtu;
  /// Of the packet that was sent: the route that an output lookup finds for it is the one to be overridden.
  rules::Flow flow{};
  std::uint32_t mtu = 0;       ///< kPathMtu, bytes
  net::Ipv6Address router{};   ///< kRedirect: who sent it
  net::Ipv6Address gateway{};  ///< kRedirect: where to instead; the destination itself: on link
};

/// What time does: routes and exceptions whose time is over go. Due every 30 seconds (kernel: net.ipv6.route.gc_interval), and done by
/// apply() with any other change too when it is due.
struct CollectChange {};

using Change = std::variant<LinkChange, LinkDelete, AddressChange, RouteChange, RuleChange,
                            NexthopChange, SysctlChange, ExceptionChange, CollectChange>;

}  // namespace sidestep::lookup
