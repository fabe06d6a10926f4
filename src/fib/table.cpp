// SPDX-License-Identifier: Apache-2.0
// A routing table.
//
// Data structure: a path-compressed binary trie over destination prefixes (trie.hpp). A node points to an immutable
// RouteSet, the prefix's routes in metric order, and, where source-specific routes exist, to a trie of the same kind over
// source prefixes. The structure is the kernel's, because the order in which a lookup tries prefixes follows from it,
// and that order has a quirk worth keeping: a prefix that has source-specific routes of which none covers the packet's
// source hides its own sourceless routes from the first descent, but not from the climb that follows when a candidate
// turned out unusable. At ::/0 the quirk does not apply.
//
// Changes: one writer. Each change works out new slots from the old ones (route_set.hpp), builds what is missing off to
// the side and becomes visible by one pointer store: a set in its node, a finished node in its parent, a finished source
// trie in its node, or null in place of the last source-specific set together with its whole trie. So a reader sees a
// prefix before or after a change, never half of it. What was displaced is retired afterwards: sets and nodes through a
// grace period, routes through Route::retire(), which also waits for their owners.
//
// Readers hold no lock and retry nothing. A walk keeps no parent pointers: climbing is a new descent that stops above
// the node it stands on. Nodes therefore never learn about their parents, and a reader that stands on a node that has been
// unlinked meanwhile finds its way from the root again. The price is a descent for each further candidate; a lookup
// that is content with its first candidate, nearly every one, does not pay it.
//
// Limits: recursion depth of for_each is bounded by 2 · 129 nodes. A set is copied whole at each change of its prefix.
#include <sidestep/fib/table.hpp>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <sidestep/assert.hpp>

#include "fib/route_set.hpp"
#include "fib/trie.hpp"

namespace sidestep::fib {
namespace {

constexpr unsigned kAnyLength = net::Prefix::kMaxLength + 1;
constexpr net::Prefix kEverything;

// The destination node's set, or the one of a source prefix in its subtree.
const TrieNode* node_of_pair(const TrieNode& root, const net::Prefix& destination,
                             const net::Prefix& source) {
  const TrieNode* node = exact(root, destination);
  if (node == nullptr || source.length() == 0) return node;
  const TrieNode* subtree = node->subtree.read();
  return subtree == nullptr ? nullptr : exact(*subtree, source);
}

// The leaf under the root is all there is in the source trie.
bool is_last_of_subtree(const TrieNode& subtree, const TrieNode& leaf) {
  const TrieNode* zero = subtree.child[0].peek();
  const TrieNode* one = subtree.child[1].peek();
  if ((zero != nullptr) == (one != nullptr) || (zero != nullptr ? zero : one) != &leaf)
    return false;
  return leaf.child[0].peek() == nullptr && leaf.child[1].peek() == nullptr;
}

TrieNode* make_leaf(const net::Prefix& prefix, OwnedRouteSet* set) {
  auto* leaf = new TrieNode(prefix);
  leaf->set.publish(set);
  return leaf;
}

TrieNode* make_subtree(const net::Prefix& source, OwnedRouteSet* set) {
  auto* subtree = new TrieNode(kEverything);
  attach(*subtree, make_leaf(source, set));
  return subtree;
}

// The functions from here to remove_source_specific() give back the set that they displaced, for the caller to retire.

// Publishes a set in a trie, under a new node if need be.
OwnedRouteSet* put(TrieNode& root, const net::Prefix& prefix, OwnedRouteSet* set) {
  if (TrieNode* node = exact(root, prefix)) {
    OwnedRouteSet* old = node->set.peek();
    node->set.publish(set);
    return old;
  }
  attach(root, make_leaf(prefix, set));
  return nullptr;
}

OwnedRouteSet* put_source_specific(TrieNode& root, const net::Prefix& destination,
                                   const net::Prefix& source, OwnedRouteSet* set) {
  TrieNode* node = exact(root, destination);
  if (node == nullptr) {
    node = new TrieNode(destination);
    node->subtree.publish(make_subtree(source, set));
    attach(root, node);
  } else if (TrieNode* subtree = node->subtree.peek()) {
    return put(*subtree, source, set);
  } else {
    node->subtree.publish(make_subtree(source, set));
  }
  return nullptr;
}

OwnedRouteSet* remove(TrieNode& root, const net::Prefix& prefix) {
  TrieNode* node = exact(root, prefix);
  OwnedRouteSet* old = node->set.peek();
  node->set.publish(nullptr);
  prune(root, prefix);
  return old;
}

OwnedRouteSet* remove_source_specific(TrieNode& root, const net::Prefix& destination,
                                      const net::Prefix& source) {
  TrieNode* node = exact(root, destination);
  TrieNode* subtree = node->subtree.peek();
  if (!is_last_of_subtree(*subtree, *exact(*subtree, source))) return remove(*subtree, source);
  // One store takes away the route and the trie. In two, a reader between them would find a subtree in which nothing
  // matches, and skip the prefix's sourceless routes, which neither the old nor the new table tells it to do.
  node->subtree.publish(nullptr);
  retire_trie(subtree);
  prune(root, destination);
  return nullptr;
}

void visit_destinations(const TrieNode* node,
                        const std::function<void(const net::Prefix&)>& visit) {
  if (node == nullptr) return;
  if (node->set.peek() != nullptr || node->subtree.peek() != nullptr) visit(node->prefix);
  for (const auto& child : node->child) visit_destinations(child.peek(), visit);
}

void visit_trie(const TrieNode* node, const std::function<void(const RouteSet&)>& visit) {
  if (node == nullptr) return;
  visit_trie(node->subtree.read(), visit);
  for (const auto& child : node->child) visit_trie(child.read(), visit);
  if (const RouteSet* set = node->set.read()) visit(*set);
}

// A route may take another's place in a set if it belongs into the same set at the same position.
bool is_substitute(const Route& route, const Route& other) {
  return route->destination == other->destination && route->source == other->source &&
         route->metric == other->metric;
}

void retire_all(const std::vector<const Route*>& routes) {
  for (const Route* route : routes)
    const_cast<Route*>(route)->retire();  // published as const, owned by the table
}

}  // namespace

Table::Table(TableId id) : id_(id), root_(new TrieNode(kEverything)) {}

Table::~Table() {
  for_each([](const RouteSet& set) {
    for (const RouteSlot& slot : set.slots) const_cast<Route*>(slot.route)->retire();
  });
  retire_trie(root_);
}

void Table::store(const net::Prefix& destination, const net::Prefix& source,
                  std::vector<RouteSlot> slots) {
  const RouteSet* before = get(destination, source);
  const std::size_t count_before = before == nullptr ? 0 : before->slots.size();
  const std::size_t count = slots.size();
  const bool source_specific = source.length() != 0;
  // Unsigned wrap-around makes one addition of a difference of either sign.
  route_count_.fetch_add(count - count_before, std::memory_order_relaxed);
  if (source_specific)
    source_specific_count_.fetch_add(count - count_before, std::memory_order_relaxed);
  if (count == 0 && count_before == 0) return;
  OwnedRouteSet* displaced = nullptr;
  if (count == 0) {
    displaced = source_specific ? remove_source_specific(*root_, destination, source)
                                : remove(*root_, destination);
  } else {
    auto* set = new OwnedRouteSet(std::move(slots));
    displaced = source_specific ? put_source_specific(*root_, destination, source, set)
                                : put(*root_, destination, set);
  }
  if (changed_) changed_(destination);
  retire_set(displaced);
}

Result<const Route*> Table::insert(Route* route, InsertFlags flags) {
  SIDESTEP_ASSERT(route != nullptr);
  const net::Prefix destination = route->fields().destination;
  const net::Prefix source = route->fields().source;
  const RouteSet* set = get(destination, source);
  const Slots before = set == nullptr ? Slots{} : set->slots;
  Insertion planned = plan_insert(before, route, flags);
  if (planned.changed) {
    if (planned.error.code == 0) refresh_shares(planned.slots, before, usable_);
    store(destination, source, std::move(planned.slots));
    retire_all(planned.displaced);
  }
  if (planned.error.code == 0) return route;
  route->retire();
  return std::unexpected(std::move(planned.error));
}

Result<std::size_t> Table::erase(const net::Prefix& destination, const net::Prefix& source,
                                 const RouteMatch& match) {
  // A source prefix asked for where there are no source-specific routes at all is overlooked by the kernel, which then
  // deletes a sourceless route.
  const TrieNode* node = exact(std::as_const(*root_), destination);
  const bool overlooked = node != nullptr && node->subtree.peek() == nullptr;
  const net::Prefix from = overlooked ? kEverything : source;
  const RouteSet* set = get(destination, from);
  const auto doomed = set == nullptr ? std::vector<std::size_t>{} : plan_erase(set->slots, match);
  if (doomed.empty()) return failure(ESRCH, "No such process");
  const Slots before = set->slots;
  Slots after;
  std::vector<const Route*> displaced;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const bool gone = std::find(doomed.begin(), doomed.end(), i) != doomed.end();
    if (gone) displaced.push_back(before[i].route);
    if (!gone) after.push_back(before[i]);
  }
  refresh_shares(after, before, usable_);
  store(destination, from, std::move(after));
  retire_all(displaced);
  return displaced.size();
}

void Table::update(const std::function<SlotFate(RouteSlot&)>& change) {
  // All sets first, changes after: a change may unlink the very nodes that a traversal stands on. The sets stay
  // readable, since each is displaced only when its own turn comes.
  std::vector<const RouteSet*> sets;
  for_each([&](const RouteSet& set) { sets.push_back(&set); });
  for (const RouteSet* set : sets) update_set(*set, change);
}

void Table::update(const net::Prefix& destination, const net::Prefix& source,
                   const std::function<SlotFate(RouteSlot&)>& change) {
  if (const RouteSet* set = get(destination, source)) update_set(*set, change);
}

void Table::rebalance() {
  std::vector<const RouteSet*> sets;
  for_each([&](const RouteSet& set) { sets.push_back(&set); });
  for (const RouteSet* set : sets) {
    // As if nothing had been there before, so that every ring is dealt anew.
    Slots after = set->slots;
    refresh_shares(after, {}, usable_);
    const bool same =
        std::ranges::equal(after, set->slots, {}, &RouteSlot::upper_bound, &RouteSlot::upper_bound);
    if (same) continue;
    const RouteFields& fields = after.front().route->fields();
    store(net::Prefix(fields.destination), net::Prefix(fields.source), std::move(after));
  }
}

void Table::update_set(const RouteSet& set, const std::function<SlotFate(RouteSlot&)>& change) {
  const Slots before = set.slots;
  const net::Prefix destination = before.front().route->fields().destination;
  const net::Prefix source = before.front().route->fields().source;
  Slots after;
  std::vector<const Route*> displaced;
  bool changed = false;
  for (const RouteSlot& was : before) {
    RouteSlot slot = was;
    const bool gone = change(slot) == SlotFate::kRemove;
    if (gone || slot.route != was.route) displaced.push_back(was.route);
    changed = changed || gone || slot.route != was.route || slot.dead != was.dead ||
              slot.linkdown != was.linkdown;
    if (gone) continue;
    SIDESTEP_ASSERT(is_substitute(*slot.route, *was.route));
    after.push_back(slot);
  }
  if (!changed) return;
  refresh_shares(after, before, usable_);
  store(destination, source, std::move(after));
  retire_all(displaced);
}

void Table::set_share_predicate(std::function<bool(const RouteSlot&)> usable) {
  usable_ = std::move(usable);
}

void Table::set_observer(std::function<void(const net::Prefix&)> changed) {
  changed_ = std::move(changed);
}

FirstCandidate Table::first_candidate(const net::Prefix& destination) const noexcept {
  const Sighting found = deepest(*root_, destination.address(), destination.length() + 1U);
  if (!found) return {};
  if (found.subtree != nullptr) return {.source_specific = true};
  return {.set = found.set};
}

bool Table::has(const net::Prefix& destination) const noexcept {
  const TrieNode* node = exact(std::as_const(*root_), destination);
  return node != nullptr && (node->set.read() != nullptr || node->subtree.read() != nullptr);
}

void Table::for_each_inside(const net::Prefix& range,
                            const std::function<void(const net::Prefix&)>& visit) const {
  const TrieNode* node = root_;
  while (node != nullptr && node->prefix.length() < range.length() && node->prefix.covers(range))
    node = node->child[node->branch(range.address())].peek();
  if (node != nullptr && range.covers(node->prefix)) visit_destinations(node, visit);
}

const RouteSet* Table::get(const net::Prefix& destination,
                           const net::Prefix& source) const noexcept {
  const TrieNode* node = node_of_pair(*root_, destination, source);
  return node == nullptr ? nullptr : node->set.read();
}

void Table::for_each(const std::function<void(const RouteSet&)>& visit) const {
  visit_trie(root_, visit);
}

Table::Walk::Walk(const Table& table, const net::Ipv6Address& destination,
                  const net::Ipv6Address& source) noexcept
    : root_(table.root_), destination_(destination), source_(source) {}

const RouteSet* Table::Walk::next() noexcept {
  if (!started_) {
    started_ = true;
    return first();
  }
  return node_ == nullptr ? nullptr : climb();
}

const RouteSet* Table::Walk::first() noexcept {
  unsigned below = kAnyLength;
  while (const Sighting found = deepest(*root_, destination_, below)) {
    node_ = found.node;
    // With a subtree in which no source matches, the node's own routes are passed over here.
    const RouteSet* set =
        found.subtree != nullptr ? source_specific(*found.subtree, kAnyLength) : found.set;
    if (set != nullptr) return set;
    below = found.node->prefix.length();
  }
  node_ = root_;
  return root_->set.read();
}

const RouteSet* Table::Walk::climb() noexcept {
  if (source_node_ != nullptr) {
    const unsigned below = source_node_->prefix.length();
    source_node_ = nullptr;
    const TrieNode* subtree = node_->subtree.read();
    const RouteSet* set = subtree != nullptr ? source_specific(*subtree, below) : nullptr;
    if (set == nullptr) set = node_->set.read();
    if (set != nullptr) return set;
  }
  while (const Sighting found = deepest(*root_, destination_, node_->prefix.length())) {
    node_ = found.node;
    const RouteSet* set =
        found.subtree != nullptr ? source_specific(*found.subtree, kAnyLength) : nullptr;
    if (set == nullptr) set = found.set;
    if (set != nullptr) return set;
  }
  node_ = nullptr;
  return nullptr;
}

const RouteSet* Table::Walk::source_specific(const TrieNode& subtree, unsigned below) noexcept {
  const Sighting found = deepest(subtree, source_, below);
  source_node_ = found.node;
  return found.set;
}

}  // namespace sidestep::fib
