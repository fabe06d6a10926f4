// SPDX-License-Identifier: Apache-2.0
// Asking the kernel where a flow goes: RTM_GETROUTE, as `ip -6 route get` does, over one socket.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sidestep/net/address.hpp>
#include <sidestep/net/prefix.hpp>

#include "kernel/netns.hpp"

struct mnl_socket;

namespace sidestep::kernel {

/// A flow as RTM_GETROUTE takes it; devices by name.
struct Query {
  net::Ipv6Address destination{};
  std::optional<net::Ipv6Address> source;
  std::string iif;  ///< input lookup when given
  std::string oif;
  std::uint32_t mark = 0;
  std::uint8_t tos = 0;
  std::uint8_t ipproto = 0;  ///< 0, 6, 17 or 58
  std::uint16_t sport = 0;
  std::uint16_t dport = 0;
  std::uint32_t flow_label = 0;
  std::optional<std::uint32_t> uid;

  /// As the words of `route get`.
  [[nodiscard]] std::string to_string() const;
};

/// Reads a flow as `route get` writes it; empty when the address is none.
[[nodiscard]] std::optional<Query> parse_query(const std::string& text);

struct QueryHop {
  std::string device;
  std::optional<net::Ipv6Address> gateway;
  std::uint16_t weight = 1;
  bool operator==(const QueryHop&) const = default;
};

/// The kernel's answer.
struct QueryAnswer {
  int error = 0;  ///< errno of the lookup; then nothing else is set
  // Of the fib-match form: the entry of the table.
  std::uint32_t table = 0;
  net::Prefix destination;
  net::Prefix source;
  std::uint8_t type = 0;
  std::uint8_t protocol = 0;
  std::uint32_t metric = 0;
  std::uint32_t nexthop_id = 0;
  std::vector<QueryHop> hops;  ///< one, or all of a ring or group
  // Of the plain form: what this flow uses.
  QueryHop chosen;
  std::uint32_t mtu = 0;  ///< the metric, 0: none
  std::optional<net::Ipv6Address> preferred_source;

  [[nodiscard]] std::string to_string() const;
};

/// One socket to one namespace.
class RouteQuery {
 public:
  explicit RouteQuery(const Namespace& router);
  ~RouteQuery();
  RouteQuery(const RouteQuery&) = delete;
  RouteQuery& operator=(const RouteQuery&) = delete;

  /// Asks twice: for the matching entry and for the hop of this flow.
  [[nodiscard]] QueryAnswer ask(const Query& query);

 private:
  int request(const Query& query, bool fib_match, QueryAnswer& answer);
  unsigned index_of(const std::string& device);
  std::string name_of(unsigned index);
  std::vector<QueryHop> read_hops(const void* attribute);
  void read_route(const void* message, bool fib_match, QueryAnswer& answer);

  const Namespace& router_;
  mnl_socket* socket_ = nullptr;
  std::uint32_t sequence_ = 0;
  std::vector<std::pair<unsigned, std::string>> names_;
};

}  // namespace sidestep::kernel
