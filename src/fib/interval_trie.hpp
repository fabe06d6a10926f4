// SPDX-License-Identifier: Apache-2.0
// Longest-prefix match at the speed of memory: which prefix of a set owns an address.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include <sidestep/net/address.hpp>
#include <sidestep/net/prefix.hpp>

#include "fib/index_pool.hpp"

namespace sidestep::fib {

/// Number of a prefix in an IntervalTrie. 0 is ::/0, which is always there.
using LeafId = std::uint32_t;
inline constexpr LeafId kRootLeaf = 0;

/// A set of prefixes that answers which of them is the longest that covers an address. See interval_trie.cpp.
///
/// The trie knows prefixes and numbers, not routes: its owner keeps an array by LeafId.
///
/// Thread:   one writer (insert, erase); any number of readers inside read sections. An id that was erased is given
///           out again only after a grace period, so a reader may index the owner's array with it until its section ends.
/// Cost:     lookup: two loads, then one or two 128-byte nodes for most addresses of a real table; nothing is written
class IntervalTrie {
 public:
  IntervalTrie();
  ~IntervalTrie();  ///< no reader may use the trie any more
  IntervalTrie(const IntervalTrie&) = delete;
  IntervalTrie& operator=(const IntervalTrie&) = delete;

  struct Inserted {
    LeafId leaf = kRootLeaf;
    bool fresh = false;  ///< false: the prefix was there already
  };
  /// Adds a prefix. Readers see it at once for some of its addresses and a moment later for all.
  /// Cost: a lookup and the rebuilding of at most two buckets of up to 64 intervals; a short prefix also pays a store for
  ///       each interval that it takes over.
  Inserted insert(const net::Prefix& prefix);
  /// Takes a prefix out; its addresses go back to the next shorter one. False when it is not there, or is ::/0.
  bool erase(const net::Prefix& prefix);
  /// The number of exactly this prefix, or kRootLeaf for ::/0 and for one that is not there.
  [[nodiscard]] LeafId find(const net::Prefix& prefix) const noexcept;

  /// The longest prefix that covers `address`.
  [[nodiscard]] LeafId lookup(const net::Ipv6Address& address) const noexcept;
  /// The same for many. Equal sizes, asserted.
  void lookup_batch(std::span<const net::Ipv6Address> addresses,
                    std::span<LeafId> leaves) const noexcept;

  /// The next shorter prefix that covers this one. Writer, or a reader on a leaf that it has just found.
  [[nodiscard]] LeafId parent(LeafId leaf) const noexcept {
    return leaves_[leaf].parent.load(std::memory_order_relaxed);
  }
  [[nodiscard]] const net::Prefix& prefix(LeafId leaf) const noexcept {
    return leaves_[leaf].prefix;
  }

  struct Size {
    std::size_t prefixes = 0;
    std::size_t lookup_bytes = 0;   ///< what lookups read: index, direct nodes, search nodes
    std::size_t leaf_bytes = 0;     ///< what updates read beside: prefixes and their parents
    std::size_t waiting_bytes = 0;  ///< retired, waiting for readers
  };
  [[nodiscard]] Size size() const noexcept;

 private:
  // A reference: two bits of tag, then a payload. Zero is a reference to the root leaf.
  using Ref = std::uint32_t;

  // Fifteen separators and sixteen references. Separators are biased by 2^31 so that a signed compare orders them, and
  // never change once published; references do, one store each.
  struct alignas(128) SearchNode {
    std::array<std::int32_t, 16> separators;
    std::array<std::atomic<Ref>, 16> refs;
  };
  struct Leaf {
    net::Prefix prefix;
    std::atomic<LeafId> parent{kRootLeaf};
  };
  struct Interval {
    std::uint32_t start;
    Ref ref;
    bool operator==(const Interval&) const = default;
  };
  using Intervals = std::vector<Interval>;
  // How full a direct node is.
  struct DirectShape {
    std::int64_t boundaries = 0;  // between intervals, inside its entries
    std::size_t edits = 0;        // since it was looked at
  };
  struct Edit;
  struct Region;

  static Ref step(const SearchNode& node, std::uint32_t key) noexcept;
  [[nodiscard]] LeafId finish(Ref ref, const net::Ipv6Address& address,
                              unsigned position) const noexcept;

  LeafId allocate_leaf(const net::Prefix& prefix, LeafId parent);
  void apply(const net::Prefix& prefix, LeafId from, LeafId to);
  Ref edit(Ref ref, const Region& region, const Edit& edit);
  Ref edit_bucket(Ref ref, const Region& region, const Edit& edit);
  Ref edit_direct(Ref ref, const Region& region, const Edit& edit);
  Ref edit_deeper(Ref owner, const Edit& edit);
  Ref reshape(Ref ref, const Region& region);
  Ref replace_owner(Ref ref, const Edit& edit);
  void replace_owners_below(Ref ref, const Edit& edit);
  void adopt(LeafId owner, const Edit& edit);

  Ref build(std::span<const Interval> intervals, const Region& region);
  Ref build_search(std::span<const Interval> intervals);
  Ref build_search_node(std::span<const Interval> intervals);
  Ref build_direct(std::span<const Interval> intervals, const Region& region, unsigned index_bits);
  void collect(Ref ref, std::uint32_t start, const Region& region, Intervals& out) const;
  void dispose(Ref ref);

  IndexPool<SearchNode> nodes_;
  DirectPool direct_;
  IndexPool<Leaf> leaves_;
  std::unique_ptr<std::atomic<Ref>[]> top_;                       // by the first 16 bits
  std::unordered_map<std::uint32_t, DirectShape> direct_shapes_;  // by base; the writer's
  std::size_t prefix_count_ = 1;
};

}  // namespace sidestep::fib
