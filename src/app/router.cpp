// SPDX-License-Identifier: Apache-2.0
#include "app/router.hpp"

#include <cstdio>

#include <fmt/format.h>

#include "config/config.hpp"

namespace sidestep::app {
namespace {

/// What route selection asks about a neighbor; `context` is the neighbor table.
lookup::NeighborHealth health_of(const void* context, IfIndex device,
                                 const net::Ipv6Address& address) {
  const auto* neighbors = static_cast<const neighbor::Table*>(context);
  const neighbor::Neighbor* found = neighbors->find(device, address);
  if (found == nullptr) return lookup::NeighborHealth::kUnknown;
  if (found->is_valid()) return lookup::NeighborHealth::kValid;
  return found->state == neighbor::State::kFailed ? lookup::NeighborHealth::kFailed
                                                  : lookup::NeighborHealth::kIncomplete;
}

}  // namespace

Router::Router() : fib_(lookup::NeighborOracle{&neighbors_, health_of}) {}

bool Router::load(const std::string& path) {
  const auto mistakes = config::load_file(path, config::Target{fib_, neighbors_, srv6_});
  for (const auto& mistake : mistakes) fmt::print(stderr, "{}\n", mistake.to_string());
  return mistakes.empty();
}

void Router::learn(forward::Forwarder& forwarder) {
  for (const auto& [change, when] : forwarder.learned())
    static_cast<void>(fib_.apply(change, when));
  forwarder.clear_learned();
}

std::string Router::device_names() const {
  std::string names;
  for (const auto& [index, link] : links().all()) {
    if (!names.empty()) names += ", ";
    names += link.name;
  }
  return names;
}

}  // namespace sidestep::app
