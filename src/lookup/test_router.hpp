// SPDX-License-Identifier: Apache-2.0
// A router for tests: short ways to say what a configuration line says.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <sidestep/fib/table.hpp>
#include <sidestep/lookup/explain.hpp>
#include <sidestep/lookup/fib.hpp>
#include <sidestep/rcu/rcu.hpp>

namespace sidestep::lookup {

inline net::Ipv6Address address(const char* text) { return net::Ipv6Address::parse(text).value(); }
inline net::Prefix prefix(const char* text) { return net::Prefix::parse(text).value(); }

/// Neighbors that a test says are failed, valid or incomplete; all others are unknown.
struct FakeNeighbors {
  std::map<net::Ipv6Address, NeighborHealth> health;
  static NeighborHealth ask(const void* context, IfIndex, const net::Ipv6Address& key) {
    const auto& known = static_cast<const FakeNeighbors*>(context)->health;
    const auto at = known.find(key);
    return at == known.end() ? NeighborHealth::kUnknown : at->second;
  }
};

/// One way out, in a route line's words.
struct Via {
  const char* via = nullptr;
  const char* dev = "";
  std::uint16_t weight = 1;
  bool onlink = false;
};

/// What a lookup said, kept beyond its read section.
struct Said {
  std::string device;
  std::string neighbor;
  int error = 0;
  fib::DstInput input{};
  TableId table{};
  std::string prefix;  ///< of the route; empty: a static destination
  std::uint32_t metric = 0;
  bool is_null = false;
};

class Router : public ::testing::Test {
 protected:
  Router() : fib({&neighbors, &FakeNeighbors::ask}) {}

  /// r-a and r-b, up, with 2001:db8:a::2/64 and 2001:db8:b::2/64; forwarding on.
  void make_two_links() {
    sysctl("net.ipv6.conf.all.forwarding", "1");
    link("r-a", "02:00:00:00:00:0a");
    link("r-b", "02:00:00:00:00:0b");
    addr("2001:db8:a::2", 64, "r-a");
    addr("2001:db8:b::2", 64, "r-b");
  }

  Result<void> apply(const Change& change) { return fib.apply(change, now); }
  /// Applies what must work.
  void must(const Change& change) {
    const auto result = apply(change);
    ASSERT_TRUE(result.has_value()) << result.error().message;
  }
  /// Applies what must be refused; `errno: words`.
  std::string refusal(const Change& change) {
    const auto result = apply(change);
    return result ? "accepted"
                  : std::to_string(result.error().code) + ": " + result.error().message;
  }

  void sysctl(const std::string& key, const std::string& value) { must(SysctlChange{key, value}); }
  void link(const char* name, const char* mac, bool up = true) {
    must(LinkChange{.name = name, .create = true, .mac = net::MacAddress::parse(mac), .up = up});
  }
  void set_up(const char* name, bool up) { must(LinkChange{.name = name, .up = up}); }
  void set_carrier(const char* name, bool carrier) {
    must(LinkChange{.name = name, .carrier = carrier});
  }
  static AddressChange addr_change(const char* text, std::uint8_t length, const char* device) {
    AddressChange change;
    change.device = device;
    change.address.address = address(text);
    change.address.prefix_length = length;
    return change;
  }
  void addr(const char* text, std::uint8_t length, const char* device) {
    must(addr_change(text, length, device));
  }
  void addr_del(const char* text, std::uint8_t length, const char* device) {
    AddressChange change = addr_change(text, length, device);
    change.remove = true;
    must(change);
  }

  static RouteChange route_change(RouteVerb verb, const char* destination,
                                  const std::vector<Via>& hops = {}) {
    RouteChange change;
    change.verb = verb;
    change.destination = prefix(destination);
    change.multipath = hops.size() > 1;
    for (const Via& hop : hops) {
      NexthopSpec spec;
      spec.device = hop.dev;
      if (hop.via != nullptr) spec.gateway = address(hop.via);
      spec.weight = hop.weight;
      spec.onlink = hop.onlink;
      change.hops.push_back(spec);
    }
    return change;
  }
  static RouteChange add(const char* destination, const std::vector<Via>& hops = {}) {
    return route_change(RouteVerb::kAdd, destination, hops);
  }
  static RouteChange append(const char* destination, const std::vector<Via>& hops = {}) {
    return route_change(RouteVerb::kAppend, destination, hops);
  }
  static RouteChange del(const char* destination, const std::vector<Via>& hops = {}) {
    return route_change(RouteVerb::kDelete, destination, hops);
  }
  static RouteChange with_metric(RouteChange change, std::uint32_t metric) {
    change.metric = metric;
    return change;
  }
  static RouteChange with_type(RouteChange change, fib::RouteType type) {
    change.type = type;
    return change;
  }
  static RouteChange with_source(RouteChange change, const char* source) {
    change.source = prefix(source);
    return change;
  }
  static RouteChange in_table(RouteChange change, std::uint32_t table) {
    change.table = TableId{table};
    return change;
  }
  static RouteChange with_object(RouteChange change, std::uint32_t id) {
    change.nexthop_id = NexthopId{id};
    return change;
  }

  static RuleChange rule(std::uint32_t preference, std::uint32_t table) {
    RuleChange change;
    change.preference_given = true;
    change.rule.preference = preference;
    change.table_given = table != 0;
    change.rule.table = TableId{table};
    return change;
  }
  static RuleChange rule_action(std::uint32_t preference, rules::Action action) {
    RuleChange change = rule(preference, 0);
    change.rule.action = action;
    change.action_given = true;
    return change;
  }
  static RuleChange rule_del(std::uint32_t preference) {
    RuleChange change = rule(preference, 0);
    change.remove = true;
    return change;
  }

  static NexthopChange nexthop(std::uint32_t id, Via hop, NexthopVerb verb = NexthopVerb::kAdd) {
    NexthopChange change;
    change.verb = verb;
    change.id = NexthopId{id};
    change.hop.device = hop.dev;
    change.hop.onlink = hop.onlink;
    if (hop.via != nullptr) change.hop.gateway = address(hop.via);
    return change;
  }
  static NexthopChange nexthop_blackhole(std::uint32_t id) {
    NexthopChange change;
    change.id = NexthopId{id};
    change.blackhole = true;
    return change;
  }
  static NexthopChange nexthop_group(std::uint32_t id,
                                     std::vector<std::pair<std::uint32_t, int>> members,
                                     NexthopVerb verb = NexthopVerb::kAdd) {
    NexthopChange change;
    change.verb = verb;
    change.id = NexthopId{id};
    for (const auto& [member, weight] : members) {
      change.group.push_back({NexthopId{member}, static_cast<std::uint16_t>(weight)});
    }
    return change;
  }
  static NexthopChange nexthop_del(std::uint32_t id) {
    NexthopChange change;
    change.verb = NexthopVerb::kDelete;
    change.id = NexthopId{id};
    return change;
  }

  [[nodiscard]] IfIndex index(const char* name) const {
    const fib::Link* link = fib.links().find(name);
    return link == nullptr ? IfIndex{} : link->index;
  }

  [[nodiscard]] Flow flow_to(const char* destination, const char* source = nullptr) const {
    Flow flow;
    flow.destination = address(destination);
    flow.has_source = source != nullptr;
    if (source != nullptr) flow.source = address(source);
    flow.now = now;
    return flow;
  }
  [[nodiscard]] Flow received(const char* destination, const char* iif,
                              const char* source = "2001:db8:ffff::1") const {
    Flow flow = flow_to(destination, source);
    flow.iif = index(iif);
    return flow;
  }
  [[nodiscard]] Flow sent(const char* destination, const char* oif = "",
                          const char* source = nullptr) const {
    Flow flow = flow_to(destination, source);
    flow.oif = index(oif);
    return flow;
  }

  [[nodiscard]] Said say(const Answer& answer) const {
    Said said;
    said.device = fib.links().name(answer.dst->device);
    said.neighbor = answer.neighbor_key.to_string();
    said.error = answer.error();
    said.input = answer.dst->input;
    said.table = answer.table;
    said.is_null = answer.dst.is(fib::null_dst());
    if (const fib::Route* route = answer.route()) {
      said.prefix = (*route)->destination.to_string();
      said.metric = (*route)->metric;
    }
    return said;
  }
  [[nodiscard]] Said input(const Flow& flow) const {
    rcu::ReadSection section;
    return say(fib.input(flow));
  }
  [[nodiscard]] Said output(const Flow& flow) const {
    rcu::ReadSection section;
    return say(fib.output(flow));
  }
  [[nodiscard]] Said table(std::uint32_t id, const Flow& flow) const {
    rcu::ReadSection section;
    return say(fib.table(TableId{id}, flow));
  }

  /// Routes of a table, one a line: `TYPE PREFIX [from S] [via G] dev D metric M [dead] [linkdown]`.
  [[nodiscard]] std::vector<std::string> routes(std::uint32_t id) const {
    rcu::ReadSection section;
    std::vector<std::string> lines;
    const fib::Table* table = fib.find_table(TableId{id});
    if (table == nullptr) return lines;
    table->for_each([&](const fib::RouteSet& set) {
      for (const auto& slot : set.slots) lines.push_back(line_of(slot));
    });
    return lines;
  }
  [[nodiscard]] bool has_route(std::uint32_t id, const std::string& line) const {
    const auto lines = routes(id);
    return std::find(lines.begin(), lines.end(), line) != lines.end();
  }

  rcu::Reader reader;
  FakeNeighbors neighbors;
  TimeNs now{};
  Fib fib;

 private:
  [[nodiscard]] std::string line_of(const fib::RouteSlot& slot) const {
    static const char* const kTypes[] = {"",          "",           "local ",     "broadcast ",
                                         "anycast ",  "multicast ", "blackhole ", "unreachable ",
                                         "prohibit ", "throw "};
    const fib::RouteFields& fields = slot.route->fields();
    std::string line =
        kTypes[static_cast<std::size_t>(fields.type)] + fields.destination.to_string();
    if (fields.source.length() != 0) line += " from " + fields.source.to_string();
    if (fields.object != nullptr) {
      line += " nhid " + std::to_string(fields.object->id.value);
    } else {
      if (fields.hop.gateway) line += " via " + fields.hop.gateway->to_string();
      line += " dev " + fib.links().name(fields.hop.device);
    }
    line += " metric " + std::to_string(fields.metric);
    if (fields.preferred_source) line += " src " + fields.preferred_source->to_string();
    if (slot.dead) line += " dead";
    if (slot.linkdown) line += " linkdown";
    return line;
  }
};

}  // namespace sidestep::lookup
