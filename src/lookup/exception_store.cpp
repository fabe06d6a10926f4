// SPDX-License-Identifier: Apache-2.0
// The exceptions of a router. Where they are: a hop that has any points at a HopExceptions, in which readers look; a hop that never
// had one has a null pointer, so that the others pay one load. The hop is part of an immutable route (or nexthop object), hence the
// first exception of a hop publishes the route anew with the pointer set, and the collection that finds a hop empty publishes
// it without. All changes in between are inside HopExceptions.
//
// Whose they are: a route that is rewritten in place (another device MTU, a preferred source that went) keeps its entry_id and its
// exceptions; one that is replaced by a command, even by an equal one, is another entry and starts without. Exceptions are
// routes made from their entry and carry its id, which tells them apart when routes share a nexthop object.
#include "lookup/exception_store.hpp"

#include <algorithm>
#include <vector>

#include "lookup/nexthop_store.hpp"
#include "lookup/state.hpp"

namespace sidestep::lookup {

void ExceptionStore::attach(State& state, const Origin& origin, std::uint64_t entry_id,
                            std::shared_ptr<fib::HopExceptions> exceptions) {
  if (origin.object) {
    const auto at = state.nexthops().find(origin.object);
    if (at == state.nexthops().end()) return;
    fib::NexthopObject object = *at->second;
    object.hops.front().exceptions = std::move(exceptions);
    replace_nexthop(state, std::make_shared<const fib::NexthopObject>(std::move(object)));
    return;
  }
  fib::Table* table = state.find_table(origin.table);
  if (table == nullptr) return;
  table->update(origin.destination, origin.source, [&](fib::RouteSlot& slot) {
    if (slot.route->fields().entry_id != entry_id) return fib::SlotFate::kKeep;
    fib::RouteFields fields = slot.route->fields();
    fields.hop.exceptions = exceptions;
    slot.route = fib::Route::create(std::move(fields));
    return fib::SlotFate::kKeep;
  });
}

void ExceptionStore::add(State& state, const fib::Route& route, std::size_t hop,
                         fib::RouteFields exception) {
  Origin origin{.table = route->table,
                .destination = route->destination,
                .source = route->source,
                .object = {},
                .hop = route.hop(hop).exceptions};
  if (const auto& object = route->object; object != nullptr)
    origin.object = object->group ? object->members[hop] : object->id;
  const std::uint64_t entry_id = route->entry_id;
  if (origin.hop == nullptr) {
    origin.hop = std::make_shared<fib::HopExceptions>(state.seed());
    attach(state, origin, entry_id, origin.hop);  // the route is another one from here on
  }
  origin.hop->insert(fib::Route::create(std::move(exception)));
  const Key key{entry_id, origin.hop.get()};
  origins_.try_emplace(key, std::move(origin));
}

bool ExceptionStore::is_published(State& state, const Key& key, const Origin& origin) {
  const fib::Table* table = state.find_table(origin.table);
  const fib::RouteSet* set =
      table == nullptr ? nullptr : table->get(origin.destination, origin.source);
  if (set == nullptr) return false;
  return std::ranges::any_of(set->slots, [&](const fib::RouteSlot& slot) {
    const fib::Route& route = *slot.route;
    if (route->entry_id != key.first) return false;
    for (std::size_t i = 0; i < route.hop_count(); ++i) {
      if (route.hop(i).exceptions == origin.hop) return true;
    }
    return false;
  });
}

void ExceptionStore::drop_orphans(State& state) {
  std::erase_if(origins_, [&](const auto& entry) {
    const auto& [key, origin] = entry;
    if (is_published(state, key, origin)) return false;
    origin.hop->erase_if(
        [&](const fib::Route& exception) { return exception->entry_id == key.first; });
    return true;
  });
}

void ExceptionStore::collect(State& state, TimeNs now) {
  const NeighborOracle& neighbors = state.neighbors();
  const auto leads_astray = [&](const fib::Route& exception) {
    const fib::Nexthop& hop = exception.hop(0);
    return hop.gateway && neighbors.is_router != nullptr &&
           !neighbors.is_router(neighbors.context, hop.device, *hop.gateway);
  };
  for (auto& [key, origin] : origins_) {
    origin.hop->erase_if([&](const fib::Route& exception) {
      return exception.is_expired(now) || leads_astray(exception);
    });
  }
  // Shared by several entries, a hop is in the list once for each.
  std::vector<std::pair<Key, Origin>> empty;
  for (const auto& entry : origins_) {
    if (entry.second.hop->size() == 0) empty.emplace_back(entry);
  }
  for (const auto& [key, origin] : empty) {
    if (origins_.erase(key) != 0 && is_published(state, key, origin))
      attach(state, origin, key.first, nullptr);
  }
}

void ExceptionStore::erase_via(IfIndex device, const net::Ipv6Address& gateway) {
  for (auto& [key, origin] : origins_) {
    origin.hop->erase_if([&](const fib::Route& exception) {
      const fib::Nexthop& hop = exception.hop(0);
      return hop.gateway == gateway && (!device || hop.device == device);
    });
  }
}

void ExceptionStore::device_mtu_changed(State& state, IfIndex device, std::uint32_t before) {
  const std::uint32_t mtu = state.links().find(device)->mtu;
  for (auto& [key, origin] : origins_) {
    std::vector<fib::RouteFields> changed;
    origin.hop->for_each([&](const fib::Route& exception) {
      const bool follows = exception->mtu > mtu || (exception->mtu == before && before != mtu);
      if (exception->hop.device != device || exception->mtu_locked || !follows) return;
      changed.push_back(exception.fields());
      changed.back().mtu = mtu;
    });
    for (auto& fields : changed) origin.hop->insert(fib::Route::create(std::move(fields)));
  }
}

void ExceptionStore::clear() {
  for (auto& [key, origin] : origins_) origin.hop->erase_if([](const fib::Route&) { return true; });
}

}  // namespace sidestep::lookup
