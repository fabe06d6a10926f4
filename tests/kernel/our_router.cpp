// SPDX-License-Identifier: Apache-2.0
#include "kernel/our_router.hpp"

#include <sidestep/fib/table.hpp>
#include <sidestep/rcu/rcu.hpp>

#include <variant>

#include <fmt/format.h>

#include "config/config.hpp"

namespace sidestep::kernel {
namespace {

lookup::NeighborHealth health_of(const void* context, IfIndex device,
                                 const net::Ipv6Address& address) {
  const auto* entry = static_cast<const neighbor::Table*>(context)->find(device, address);
  if (entry == nullptr) return lookup::NeighborHealth::kUnknown;
  if (entry->is_valid()) return lookup::NeighborHealth::kValid;
  return entry->state == neighbor::State::kFailed ? lookup::NeighborHealth::kFailed
                                                  : lookup::NeighborHealth::kIncomplete;
}

void register_reader() { static thread_local rcu::Reader reader; }

/// Applies one command and gives the errno.
struct Applier {
  lookup::Fib& fib;
  neighbor::Table& neighbors;
  srv6::Settings& srv6;

  int operator()(const lookup::Change& change) const {
    return error_of(config::apply_change({fib, neighbors, srv6}, change));
  }
  int operator()(const config::NeighborChange& change) const {
    const fib::Link* link = fib.links().find(change.device);
    if (link == nullptr) return ENODEV;
    neighbor::Neighbor entry = change.neighbor;
    entry.device = link->index;
    return error_of(change.remove ? neighbors.erase(entry.device, entry.address)
                                  : neighbors.insert(entry, change.replace));
  }
  int operator()(const config::TunnelSourceChange& change) const {
    srv6.tunnel_source = change.source;
    return 0;
  }
  int operator()(const config::HmacKeyChange& change) const {
    srv6.hmac_secrets.insert_or_assign(change.key.id,
                                       srv6::HmacSecret(change.key.algorithm, change.key.secret));
    return 0;
  }
  int operator()(const config::KeptLine&) const { return 0; }

  static int error_of(const Result<void>& result) { return result ? 0 : result.error().code; }
};

QueryHop hop_of(const fib::Nexthop& hop, const fib::Links& links) {
  return {.device = links.name(hop.device), .gateway = hop.gateway, .weight = hop.weight};
}

/// The ring of a route that is in a table: all ECMP-capable routes of its prefix and metric; else the route's own hops.
void collect_hops(const lookup::Fib& fib, const fib::Route& route, OurAnswer& ours) {
  const fib::Links& links = fib.links();
  const fib::Table* table = fib.find_table(route->table);
  const fib::RouteSet* set =
      table == nullptr ? nullptr : table->get(route->destination, route->source);
  if (set != nullptr && route.is_ecmp_capable()) {
    for (const auto& slot : set->slots) {
      if (!slot.route->is_ecmp_capable() || (*slot.route)->metric != route->metric) continue;
      ours.answer.hops.push_back(hop_of(slot.route->hop(0), links));
      if (slot.upper_bound >= 0) ours.usable.push_back(ours.answer.hops.back());
    }
    return;
  }
  for (std::size_t i = 0; i < route.hop_count(); ++i) {
    ours.answer.hops.push_back(hop_of(route.hop(i), links));
    ours.usable.push_back(ours.answer.hops.back());
  }
}

}  // namespace

OurRouter::OurRouter() : fib_(lookup::NeighborOracle{&neighbors_, health_of}) { register_reader(); }

std::vector<LineOutcome> OurRouter::apply(std::string_view text) {
  std::vector<LineOutcome> outcomes;
  const auto commands = config::parse(text, "configuration");
  if (!commands) {
    for (const auto& diagnostic : commands.error()) {
      fmt::print(stderr, "{}\n", diagnostic.to_string());
      outcomes.push_back({diagnostic.line, diagnostic.read, -1});
    }
    return outcomes;
  }
  const Applier applier{fib_, neighbors_, srv6_};
  for (const auto& command : *commands) {
    outcomes.push_back({command.line, command.text, std::visit(applier, command.action)});
  }
  return outcomes;
}

lookup::Flow flow_of(const Query& query, const fib::Links& links) {
  const auto index_of = [&](const std::string& name) {
    if (name.empty()) return IfIndex{};
    const fib::Link* link = links.find(name);
    return link == nullptr ? IfIndex{0xffffffff} : link->index;
  };
  lookup::Flow flow;
  flow.destination = query.destination;
  flow.source = query.source.value_or(net::Ipv6Address{});
  flow.has_source = query.source && !query.source->is_unspecified();
  flow.iif = query.iif.empty() ? kLoopbackIndex : index_of(query.iif);
  flow.oif = index_of(query.oif);
  flow.mark = query.mark;
  flow.traffic_class = query.tos;
  flow.flow_label = query.flow_label;
  flow.protocol = query.ipproto;
  flow.source_port = query.sport;
  flow.destination_port = query.dport;
  // Without one, the kernel takes the caller's for output and the invalid one for input.
  flow.uid = query.uid           ? query.uid
             : query.iif.empty() ? std::optional<std::uint32_t>(0)
                                 : std::nullopt;
  return flow;
}

OurAnswer OurRouter::ask(const Query& query, std::uint32_t multipath_hash, TimeNs now) const {
  OurAnswer ours;
  const rcu::ReadSection section;
  lookup::Flow flow = flow_of(query, fib_.links());
  flow.multipath_hash = multipath_hash;
  flow.now = now;
  const lookup::Answer found = query.iif.empty() ? fib_.output(flow) : fib_.input(flow);
  ours.answer.error = found.error();
  const fib::Route* route = found.route();
  if (ours.answer.error != 0) return ours;
  if (route == nullptr) {
    ours.answer.error = -1;  // a usable answer without a route: never right here
    return ours;
  }
  ours.answer.table = found.table.value;
  ours.answer.destination = (*route)->destination;
  ours.answer.source = (*route)->source;
  ours.answer.type = static_cast<std::uint8_t>((*route)->type);
  ours.answer.protocol = (*route)->protocol;
  ours.answer.metric = (*route)->metric;
  ours.answer.nexthop_id = (*route)->object == nullptr ? 0 : (*route)->object->id.value;
  collect_hops(fib_, *route, ours);
  ours.answer.chosen.device = fib_.links().name(found.dst->device);
  if (found.dst->has_gateway) ours.answer.chosen.gateway = found.dst->gateway;
  ours.answer.mtu = found.dst->mtu;
  return ours;
}

}  // namespace sidestep::kernel
