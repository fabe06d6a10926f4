// SPDX-License-Identifier: Apache-2.0
#include "fib/trie.hpp"

#include <algorithm>
#include <atomic>

#include <sidestep/assert.hpp>

namespace sidestep::fib {
namespace {

std::atomic<std::uint64_t> g_live_count{0};  // a statistic; orders nothing

TrieNode* only_child(const TrieNode& node) noexcept {
  TrieNode* zero = node.child[0].peek();
  return zero != nullptr ? zero : node.child[1].peek();
}

// A node without content earns its place only by joining two branches.
bool is_useless(const TrieNode& node) noexcept {
  const bool joins = node.child[0].peek() != nullptr && node.child[1].peek() != nullptr;
  return !joins && node.set.peek() == nullptr && node.subtree.peek() == nullptr;
}

// A node above two prefixes of which neither covers the other.
TrieNode* join(TrieNode* first, TrieNode* second) {
  const auto shared = net::common_prefix_length(first->prefix.address(), second->prefix.address());
  const auto length =
      std::min({shared, unsigned{first->prefix.length()}, unsigned{second->prefix.length()}});
  auto* fork =
      new TrieNode(net::Prefix(first->prefix.address(), static_cast<std::uint8_t>(length)));
  fork->child[fork->branch(first->prefix.address())].publish(first);
  fork->child[fork->branch(second->prefix.address())].publish(second);
  return fork;
}

// Replaces a useless node by its only child, or by nothing.
bool splice_out(Published<TrieNode>& link) {
  TrieNode* node = link.peek();
  if (!is_useless(*node)) return false;
  link.publish(only_child(*node));
  retire_node(node);
  return true;
}

}  // namespace

OwnedRouteSet::OwnedRouteSet(std::vector<RouteSlot> from) : RouteSet{std::move(from)} {
  destroy = [](rcu::Retirable* object) { delete static_cast<OwnedRouteSet*>(object); };
  g_live_count.fetch_add(1, std::memory_order_relaxed);
}

OwnedRouteSet::~OwnedRouteSet() { g_live_count.fetch_sub(1, std::memory_order_relaxed); }

TrieNode::TrieNode(const net::Prefix& at) : prefix(at) {
  destroy = [](rcu::Retirable* object) { delete static_cast<TrieNode*>(object); };
  g_live_count.fetch_add(1, std::memory_order_relaxed);
}

TrieNode::~TrieNode() { g_live_count.fetch_sub(1, std::memory_order_relaxed); }

std::uint64_t trie_live_count() noexcept { return g_live_count.load(std::memory_order_relaxed); }

Sighting deepest(const TrieNode& root, const net::Ipv6Address& address, unsigned below) noexcept {
  Sighting best;
  const TrieNode* node = &root;
  while (node != nullptr && node->prefix.length() < below && node->prefix.covers(address)) {
    const Sighting here{.node = node, .set = node->set.read(), .subtree = node->subtree.read()};
    if (here.set != nullptr || here.subtree != nullptr) best = here;
    if (node->prefix.length() == net::Prefix::kMaxLength) break;
    node = node->child[node->branch(address)].read();
  }
  return best;
}

const TrieNode* exact(const TrieNode& root, const net::Prefix& prefix) noexcept {
  const TrieNode* node = &root;
  while (node != nullptr && node->prefix.length() < prefix.length() &&
         node->prefix.covers(prefix)) {
    node = node->child[node->branch(prefix.address())].read();
  }
  return node != nullptr && node->prefix == prefix ? node : nullptr;
}

TrieNode* exact(TrieNode& root, const net::Prefix& prefix) noexcept {
  return const_cast<TrieNode*>(exact(static_cast<const TrieNode&>(root), prefix));
}

void attach(TrieNode& root, TrieNode* node) {
  const net::Prefix& prefix = node->prefix;
  Published<TrieNode>* link = &root.child[root.branch(prefix.address())];
  TrieNode* there = link->peek();
  while (there != nullptr && there->prefix.covers(prefix)) {
    SIDESTEP_ASSERT(there->prefix != prefix);
    link = &there->child[there->branch(prefix.address())];
    there = link->peek();
  }
  // Whatever goes above `there` points to it before it is published: readers lose sight of nothing.
  if (there == nullptr) {
    link->publish(node);
  } else if (prefix.covers(there->prefix)) {
    node->child[node->branch(there->prefix.address())].publish(there);
    link->publish(node);
  } else {
    link->publish(join(there, node));
  }
}

void prune(TrieNode& root, const net::Prefix& prefix) {
  if (prefix.length() == 0) return;  // a root stays
  Published<TrieNode>* above =
      nullptr;  // the link to the node whose link is `link`; none: that node is the root
  Published<TrieNode>* link = &root.child[root.branch(prefix.address())];
  while (link->peek()->prefix != prefix) {
    above = link;
    link = &above->peek()->child[above->peek()->branch(prefix.address())];
  }
  const bool had_children = only_child(*link->peek()) != nullptr;
  if (!splice_out(*link)) return;
  // Replacing a node by its child leaves its parent with as many children as before.
  if (!had_children && above != nullptr) splice_out(*above);
}

void retire_node(TrieNode* node) noexcept { rcu::retire(node); }

void retire_set(OwnedRouteSet* set) noexcept {
  if (set != nullptr) rcu::retire(set);
}

void retire_trie(TrieNode* root) noexcept {
  if (root == nullptr) return;
  for (const auto& child : root->child) retire_trie(child.peek());
  retire_trie(root->subtree.peek());
  retire_set(root->set.peek());
  retire_node(root);
}

}  // namespace sidestep::fib
