// SPDX-License-Identifier: Apache-2.0
// Gateway validation.
//
// A gateway must be a neighbor: the table that the route goes to, or else the rules, must lead to it by a route that is not
// a reject and has no gateway itself. The lookups here are the kernel's variant without destinations: rules are walked without
// their suppressors, a throw is a result like any other, and missing carrier does not matter in the route's own table.
#include "lookup/gateway.hpp"

#include <cerrno>

#include "lookup/walk.hpp"

namespace sidestep::lookup {
namespace {

Flow flow_toward(const GatewayRequest& request) {
  Flow flow;
  flow.destination = request.gateway;
  flow.has_source = false;
  flow.oif = request.device;
  return flow;
}

// What a table has for the gateway, with the choice among equal hops unless the device is given.
Selection find_in_table(const Snapshot& snapshot, const fib::Table& table, const Flow& flow,
                        Strictness strictness) {
  const HopQuery query{snapshot, flow.oif, strictness, flow.now};
  const fib::RouteSet* where = nullptr;
  Silent silent;
  const Selection selection = scan_table(query, table, flow, where, silent);
  if (!selection) return {};
  return select_path(query, *where, selection, flow, static_cast<bool>(flow.oif)).selection;
}

Selection find_by_rules(const Snapshot& snapshot, const Flow& flow, Strictness strictness) {
  if (!snapshot.rules->custom()) {
    const Selection local = find_in_table(snapshot, *snapshot.local_table, flow, strictness);
    return local ? local : find_in_table(snapshot, *snapshot.main_table, flow, strictness);
  }
  const auto rules = snapshot.rules->rules();
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const rules::CompiledRule* rule = &rules[i];
    if (!rule->matches(flow)) continue;
    if (rule->action() == rules::Action::kGoto && rule->goto_index()) {
      i = *rule->goto_index() - 1;  // the loop steps onto the target
      continue;
    }
    if (dst_of_action(rule->action()) != nullptr) return {};
    if (rule->action() != rules::Action::kToTable) continue;
    const fib::Table* table = snapshot.find_table(rule->table(flow));
    if (table == nullptr) continue;
    if (const Selection selection = find_in_table(snapshot, *table, flow, strictness))
      return selection;
  }
  return {};
}

bool is_reject(const Selection& selection) {
  switch (selection.route->dst(selection.hop)->input) {
    case fib::DstInput::kUnreachable:
    case fib::DstInput::kProhibit:
    case fib::DstInput::kBlackhole:
      return true;
    default:
      return false;
  }
}

bool is_neighbor_route(const Selection& selection) {
  return selection && !is_reject(selection) && !selection.route->hop(selection.hop).gateway;
}

IfIndex device_of(const Selection& selection) { return selection.route->hop(selection.hop).device; }

Selection find_own_table(const Snapshot& snapshot, const GatewayRequest& request, TableId id,
                         bool strict) {
  const fib::Table* table = snapshot.find_table(id);
  if (table == nullptr) return {};
  Flow flow = flow_toward(request);
  if (request.preferred_source) {
    flow.source = *request.preferred_source;
    flow.has_source = true;
  }
  return find_in_table(snapshot, *table, flow,
                       Strictness{.interface = strict, .ignore_linkstate = true});
}

Result<IfIndex> resolve(const State& state, const GatewayRequest& request) {
  const Snapshot& snapshot = state.current();
  Selection found;
  if (request.table.value != 0) {
    found = find_own_table(snapshot, request, request.table, true);
    const bool other_device = found && request.device && device_of(found) != request.device;
    if (!is_neighbor_route(found) || other_device) found = {};
  }
  if (!found) {
    found = find_by_rules(snapshot, flow_toward(request), Strictness{.interface = true});
    if (!is_neighbor_route(found)) return failure(EHOSTUNREACH, "No route to host");
  }
  if (request.device && device_of(found) != request.device)
    return failure(EHOSTUNREACH, "No route to host");
  return device_of(found);
}

// An onlink gateway is believed, unless the device's own table (main, or its VRF's) clearly has it elsewhere.
Result<IfIndex> check_onlink(const State& state, const GatewayRequest& request) {
  const fib::Link* vrf = state.links().vrf_of(request.device);
  const TableId table = vrf == nullptr ? kTableMain : *vrf->vrf_table;
  const Selection found = find_own_table(state.current(), request, table, false);
  if (found && !is_reject(found)) {
    const fib::RouteFields& fields = found.route->fields();
    const bool contradicts =
        fields.type != fib::RouteType::kUnicast || device_of(found) != request.device;
    if (!fields.destination.address().is_unspecified() && contradicts) {
      return failure(EINVAL, "Nexthop has invalid gateway or device mismatch");
    }
  }
  return request.device;
}

}  // namespace

bool is_own_address(const fib::Links& links, const net::Ipv6Address& address, IfIndex device,
                    bool count_tentative) {
  const fib::Link* vrf = links.vrf_of(device);  // addresses of other VRFs do not count
  const bool any_device = !device || (!address.is_link_local() && !address.is_loopback());
  for (const auto& [index, link] : links.all()) {
    if ((!any_device && index != device) || links.vrf_of(index) != vrf) continue;
    for (const auto& own : link.addresses) {
      if (own.address == address && (count_tentative || !own.tentative)) return true;
    }
  }
  return false;
}

Result<IfIndex> check_gateway(const State& state, const GatewayRequest& request) {
  const net::Ipv6Address& gateway = request.gateway;
  const bool link_local = gateway.is_link_local();
  const auto is_ours = [&](IfIndex device) {
    return is_own_address(state.links(), gateway, device, true);
  };
  if (request.device && is_ours(request.device))
    return failure(EINVAL, "Gateway can not be a local address");
  IfIndex device = request.device;
  if (!link_local) {
    if (gateway.is_multicast() || gateway.is_unspecified())
      return failure(EINVAL, "Invalid gateway address");
    const auto found = request.onlink ? check_onlink(state, request) : resolve(state, request);
    if (!found) return found;
    device = *found;
  }
  if (!device) return failure(EINVAL, "Egress device not specified");
  if (device == kLoopbackIndex) {
    return failure(EINVAL, "Egress device can not be loopback device for this route");
  }
  if (!request.device && is_ours(device))
    return failure(EINVAL, "Gateway can not be a local address");
  return device;
}

}  // namespace sidestep::lookup
