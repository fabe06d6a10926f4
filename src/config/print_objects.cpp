// SPDX-License-Identifier: Apache-2.0
// Nexthop objects, neighbors and devices.
#include <fmt/format.h>

#include "config/names.hpp"
#include "config/print.hpp"

namespace sidestep::config {
namespace {

using neighbor::Neighbor;
using neighbor::State;

std::string_view state_name(State state) {
  switch (state) {
    case State::kNone:
      return "NONE";
    case State::kIncomplete:
      return "INCOMPLETE";
    case State::kReachable:
      return "REACHABLE";
    case State::kStale:
      return "STALE";
    case State::kDelay:
      return "DELAY";
    case State::kProbe:
      return "PROBE";
    case State::kFailed:
      return "FAILED";
    case State::kNoArp:
      return "NOARP";
    case State::kPermanent:
      return "PERMANENT";
  }
  return "";
}

std::string group_text(const fib::NexthopObject& object) {
  std::string out = "group ";
  for (std::size_t i = 0; i < object.members.size(); ++i) {
    if (i != 0) out += '/';
    out += std::to_string(object.members[i].value);
    const auto weight = i < object.hops.size() ? object.hops[i].weight : std::uint16_t{1};
    if (weight != 1) out += fmt::format(",{}", weight);
  }
  out += ' ';
  if (object.resilient) {
    out += fmt::format(
        "type resilient buckets {} idle_timer {} unbalanced_timer {} unbalanced_time 0 ",
        object.buckets, object.idle_timer_s, object.unbalanced_timer_s);
  }
  return out;
}

std::string single_text(const fib::NexthopObject& object, const fib::Links& links) {
  if (object.blackhole) return "blackhole ";
  if (object.hops.empty()) return "";
  const fib::Nexthop& hop = object.hops.front();
  std::string out;
  if (hop.encap != nullptr && !std::holds_alternative<std::monostate>(*hop.encap)) {
    out += print_encap(*hop.encap, links) + " ";
  }
  if (hop.gateway) out += fmt::format("via {} ", hop.gateway->to_string());
  if (hop.device) out += fmt::format("dev {} ", links.name(hop.device));
  return out + "scope link ";
}

std::string flags_text(const fib::Link& link) {
  std::string out = link.is_loopback() ? "LOOPBACK" : "BROADCAST,MULTICAST";
  if (link.up) out += ",UP";
  if (link.up && link.carrier) out += ",LOWER_UP";
  return link.up && !link.carrier ? "NO-CARRIER," + out : out;
}

std::string address_text(const fib::InterfaceAddress& address) {
  std::string out = fmt::format("    inet6 {}", address.address.to_string());
  if (address.peer) out += " peer " + address.peer->to_string();
  const bool local = address.address.is_loopback();
  const std::string_view scope = local                             ? "host"
                                 : address.address.is_link_local() ? "link"
                                                                   : "global";
  out += fmt::format("/{} scope {}", address.prefix_length, scope);
  if (address.deprecated) out += " deprecated";
  if (address.home) out += " home";
  if (address.tentative) out += " tentative";
  if (address.no_prefix_route) out += " noprefixroute";
  return out + " \n";
}

}  // namespace

std::string print_nexthops(const lookup::Fib& fib) {
  std::string out;
  for (const auto& object : fib.nexthops()) {
    out += fmt::format("id {} ", object->id.value);
    out += object->group ? group_text(*object) : single_text(*object, fib.links());
    if (object->protocol != 0) out += fmt::format("proto {} ", protocol_name(object->protocol));
    const bool onlink = !object->group && !object->hops.empty() && object->hops.front().onlink;
    if (onlink) out += "onlink ";
    if (object->fdb) out += "fdb";
    out += '\n';
  }
  return out;
}

// As ip does without `nud all`, entries that say nothing about resolution are left out, and so are proxies.
std::string print_neighbors(const neighbor::Table& neighbors, const fib::Links& links) {
  std::string out;
  for (const Neighbor& neighbor : neighbors.all()) {
    if (neighbor.proxy || neighbor.state == State::kNone || neighbor.state == State::kNoArp)
      continue;
    out += fmt::format("{} dev {} ", neighbor.address.to_string(), links.name(neighbor.device));
    if (neighbor.has_mac) out += fmt::format("lladdr {} ", neighbor.mac.to_string());
    if (neighbor.router) out += "router ";
    out += fmt::format("{} \n", state_name(neighbor.state));
  }
  return out;
}

std::string print_links(const fib::Links& links) {
  std::string out;
  for (const auto& [index, link] : links.all()) {
    out += fmt::format("{}: {}: <{}> mtu {}", index.value, link.name, flags_text(link), link.mtu);
    if (link.master) out += " master " + links.name(link.master);
    out += fmt::format(" state {} group {}\n",
                       !link.up       ? "DOWN"
                       : link.carrier ? "UP"
                                      : "LOWERLAYERDOWN",
                       group_name(link.group));
    out += fmt::format("    link/{} {}", link.is_loopback() ? "loopback" : "ether",
                       link.mac.to_string());
    if (link.vrf_table) out += fmt::format(" vrf table {}", table_name(*link.vrf_table));
    out += '\n';
    for (const auto& address : link.addresses) out += address_text(address);
  }
  return out;
}

}  // namespace sidestep::config
