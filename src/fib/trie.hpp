// SPDX-License-Identifier: Apache-2.0
// The path-compressed binary trie under a routing table, and under each prefix with source-specific routes.
#pragma once

#include <cstdint>
#include <vector>

#include <sidestep/fib/table.hpp>
#include <sidestep/net/prefix.hpp>
#include <sidestep/rcu/rcu.hpp>

#include "fib/published.hpp"

namespace sidestep::fib {

/// A RouteSet as the trie owns it.
///
/// Lifetime: made by the writer, published in one node, displaced, then retired. Its routes are not its own.
struct OwnedRouteSet : rcu::Retirable, RouteSet {
  explicit OwnedRouteSet(std::vector<RouteSlot> from);
  ~OwnedRouteSet();
  OwnedRouteSet(const OwnedRouteSet&) = delete;
  OwnedRouteSet& operator=(const OwnedRouteSet&) = delete;
};

/// A prefix of the trie.
///
///         ::/0                     A node other than a root is there because it has a set, a subtree or two
///        /    \                    children; one that lost its reason is spliced out and retired, so memory
///   2001::/16  fc00::/7            returns when routes go.
///    /     \       subtree → ::/0 of the source trie → …
///
/// Invariants: children are strictly longer and lie inside `prefix`, child[b] having bit b at prefix.length(). A source
/// trie's root has no set; it is linked only while the trie has one somewhere below.
///
/// Lifetime: made by the writer, published by one store, unlinked by one store, then retired. What an unlinked node still
///           points to was unlinked after it or not at all, so a reader that stands on it may go on.
struct TrieNode : rcu::Retirable {
  explicit TrieNode(const net::Prefix& at);
  ~TrieNode();
  TrieNode(const TrieNode&) = delete;
  TrieNode& operator=(const TrieNode&) = delete;

  /// Writer: which child a prefix or address below this node lies under.
  [[nodiscard]] unsigned branch(const net::Ipv6Address& address) const noexcept {
    return address.bit(prefix.length()) ? 1U : 0U;
  }

  const net::Prefix prefix;
  Published<TrieNode> child[2];
  Published<OwnedRouteSet> set;  ///< of a destination node: the sourceless routes; nullptr: none
  Published<TrieNode> subtree;   ///< of a destination node: root of its source trie; nullptr: none
};

/// Nodes and sets alive in the process, retired but unfreed ones included; for tests.
[[nodiscard]] std::uint64_t trie_live_count() noexcept;

// Readers.

/// A node with what it had when the reader looked, each pointer read once: a second look may see another change.
struct Sighting {
  const TrieNode* node = nullptr;
  const RouteSet* set = nullptr;
  const TrieNode* subtree = nullptr;
  [[nodiscard]] explicit operator bool() const noexcept { return node != nullptr; }
};

/// The longest node that covers `address`, is shorter than `below` bits and has a set or a subtree; empty: none.
/// Cost: one dependent load per node on the path, and one for its content
[[nodiscard]] Sighting deepest(const TrieNode& root, const net::Ipv6Address& address,
                               unsigned below) noexcept;
/// The node of exactly this prefix, or nullptr.
[[nodiscard]] const TrieNode* exact(const TrieNode& root, const net::Prefix& prefix) noexcept;

// Writer.

[[nodiscard]] TrieNode* exact(TrieNode& root, const net::Prefix& prefix) noexcept;
/// Publishes a complete node whose prefix is not in the trie yet.
void attach(TrieNode& root, TrieNode* node);
/// Splices out the node of this prefix if it has become useless, and its parent if that has become so in turn.
void prune(TrieNode& root, const net::Prefix& prefix);
/// Retires a node, or a set, that no new reader can reach.
void retire_node(TrieNode* node) noexcept;
void retire_set(OwnedRouteSet* set) noexcept;
/// Retires everything under an unlinked root, the root and its subtrees' sets included.
void retire_trie(TrieNode* root) noexcept;

}  // namespace sidestep::fib
