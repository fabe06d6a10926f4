// SPDX-License-Identifier: Apache-2.0
// The neighbor table: a hash table of singly linked chains that readers walk while one writer changes it.
//
//     map_ ──▶ Map { mask, buckets[0..mask] } ──▶ Node ──▶ Node ──▶ null
//
// Readers load three kinds of pointer, all with acquire: the map, a bucket's head, a node's successor. The writer
// stores each with release after what it points at is complete, so a reader sees a whole entry or none. An entry never
// changes: replacing it makes a new node with the old one's successor and puts it into the one pointer that named the
// old one. A node that was unlinked keeps its successor, so that a reader who stands on it walks on into the chain.
//
// When there are more entries than buckets the writer builds a map of twice the size from copies of all nodes, publishes
// it and retires the old one with all its nodes. Whoever still walks the old map sees the table as it was.
//
// Invariants: each key is in one chain at most once; an unlinked node or map is retired exactly once, and freed by
// liburcu after a grace period. There is no limit on entries but memory; the table never shrinks.
#include "neighbor/table.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <tuple>

#include <fmt/format.h>

#include <sidestep/assert.hpp>
#include <sidestep/rcu/rcu.hpp>

namespace sidestep::neighbor {
namespace {

constexpr std::size_t kBucketCountInitial = 16;

}  // namespace

struct Table::Key {
  IfIndex device;
  net::Ipv6Address address;
  bool proxy;

  [[nodiscard]] static Key of(const Neighbor& neighbor) noexcept {
    return {neighbor.device, neighbor.address, neighbor.proxy};
  }
  [[nodiscard]] bool names(const Neighbor& neighbor) const noexcept {
    return neighbor.address == address && neighbor.device == device && neighbor.proxy == proxy;
  }
  [[nodiscard]] std::size_t hash() const noexcept {
    // The multiplier spreads device numbers over all bits; the shift brings high bits to where the mask looks.
    const std::uint64_t mixed = (std::hash<net::Ipv6Address>{}(address) ^
                                 (std::uint64_t{device.value} << 1 | std::uint64_t{proxy})) *
                                0x9e3779b97f4a7c15U;
    return static_cast<std::size_t>(mixed >> 32);
  }
};

struct Table::Node : rcu::Retirable {
  Node(const Neighbor& entry, Node* successor) noexcept : neighbor(entry), next(successor) {
    destroy = [](Retirable* object) { delete static_cast<Node*>(object); };
  }
  const Neighbor neighbor;
  std::atomic<Node*> next;
};

struct Table::Map : rcu::Retirable {
  explicit Map(std::size_t bucket_count)
      : mask(bucket_count - 1), buckets(std::make_unique<std::atomic<Node*>[]>(bucket_count)) {
    destroy = [](Retirable* object) { delete static_cast<Map*>(object); };
  }
  Map(const Map&) = delete;
  Map& operator=(const Map&) = delete;
  ~Map() {
    for (std::size_t i = 0; i <= mask; ++i) {
      for (Node* node = buckets[i].load(std::memory_order_relaxed); node != nullptr;) {
        delete std::exchange(node, node->next.load(std::memory_order_relaxed));
      }
    }
  }

  /// The pointer that names the entry, or the null one at the end of its chain. Writer.
  [[nodiscard]] std::atomic<Node*>& slot(const Key& key) const noexcept {
    std::atomic<Node*>* slot = &buckets[key.hash() & mask];
    for (Node* node = slot->load(std::memory_order_relaxed); node != nullptr;
         node = slot->load(std::memory_order_relaxed)) {
      if (key.names(node->neighbor)) break;
      slot = &node->next;
    }
    return *slot;
  }

  std::size_t mask;
  std::unique_ptr<std::atomic<Node*>[]> buckets;
};

Table::Table() : map_(new Map(kBucketCountInitial)) {}

Table::~Table() { delete map_.load(std::memory_order_relaxed); }

const Neighbor* Table::lookup(const Key& key) const noexcept {
  SIDESTEP_DEBUG_ASSERT(rcu::ReadSection::current_epoch() != 0);
  // Pairs with the release in grow().
  const Map* map = map_.load(std::memory_order_acquire);
  // These pair with the releases in insert() and erase().
  const Node* node = map->buckets[key.hash() & map->mask].load(std::memory_order_acquire);
  while (node != nullptr && !key.names(node->neighbor))
    node = node->next.load(std::memory_order_acquire);
  return node == nullptr ? nullptr : &node->neighbor;
}

const Neighbor* Table::find(IfIndex device, const net::Ipv6Address& address) const noexcept {
  return lookup({device, address, false});
}

const Neighbor* Table::find_proxy(IfIndex device, const net::Ipv6Address& address) const noexcept {
  return lookup({device, address, true});
}

Result<void> Table::insert(const Neighbor& neighbor, bool replace) {
  std::atomic<Node*>& slot = map_.load(std::memory_order_relaxed)->slot(Key::of(neighbor));
  Node* old = slot.load(std::memory_order_relaxed);
  if (old != nullptr && !replace) {
    return failure(EEXIST,
                   fmt::format("neighbor {} exists on this device", neighbor.address.to_string()));
  }
  Node* successor = old == nullptr ? nullptr : old->next.load(std::memory_order_relaxed);
  // Pairs with the acquire in lookup(): the node is complete before it can be reached.
  slot.store(new Node(neighbor, successor), std::memory_order_release);
  if (old != nullptr) {
    rcu::retire(old);
    return {};
  }
  if (++size_ > map_.load(std::memory_order_relaxed)->mask + 1) grow();
  return {};
}

Result<void> Table::erase(IfIndex device, const net::Ipv6Address& address, bool proxy) {
  std::atomic<Node*>& slot = map_.load(std::memory_order_relaxed)->slot({device, address, proxy});
  Node* old = slot.load(std::memory_order_relaxed);
  if (old == nullptr) {
    return failure(ENOENT, fmt::format("no neighbor {} on this device", address.to_string()));
  }
  // Pairs with the acquire in lookup(): the successor was complete long before; release keeps the rule simple.
  slot.store(old->next.load(std::memory_order_relaxed), std::memory_order_release);
  rcu::retire(old);
  --size_;
  return {};
}

void Table::flush(IfIndex device, bool all) {
  for (const Neighbor& entry : this->all()) {
    const bool stays = !all && (entry.proxy || entry.state == State::kPermanent);
    if (entry.device != device || stays) continue;
    static_cast<void>(erase(entry.device, entry.address, entry.proxy));  // it is there
  }
}

void Table::grow() {
  Map* old = map_.load(std::memory_order_relaxed);
  auto map = std::make_unique<Map>((old->mask + 1) * 2);
  for (const Neighbor& neighbor : all()) {
    std::atomic<Node*>& head = map->buckets[Key::of(neighbor).hash() & map->mask];
    head.store(new Node(neighbor, head.load(std::memory_order_relaxed)), std::memory_order_relaxed);
  }
  // Pairs with the acquire of the map in lookup(): all chains are complete before the map can be reached.
  map_.store(map.release(), std::memory_order_release);
  rcu::retire(old);
}

std::vector<Neighbor> Table::all() const {
  std::vector<Neighbor> entries;
  entries.reserve(size_);
  const Map* map = map_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i <= map->mask; ++i) {
    const Node* node = map->buckets[i].load(std::memory_order_acquire);
    for (; node != nullptr; node = node->next.load(std::memory_order_acquire))
      entries.push_back(node->neighbor);
  }
  std::ranges::sort(entries, {},
                    [](const Neighbor& n) { return std::tuple(n.proxy, n.device, n.address); });
  return entries;
}

}  // namespace sidestep::neighbor
