// SPDX-License-Identifier: Apache-2.0
// Longest-prefix match at the speed of memory: which prefix of a set owns an address.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <sidestep/net/address.hpp>
#include <sidestep/net/prefix.hpp>

#include "fib/interval_lookup.hpp"
#include "fib/interval_pools.hpp"

namespace sidestep::fib {

/// A set of prefixes that answers which of them is the longest that covers an address. See interval_trie.cpp.
///
/// The trie knows prefixes, not routes: with each it keeps a word that means something to its owner.
///
/// Thread:   one writer (insert, erase); any number of readers inside read sections. An id that was erased is given
///           out again only after a grace period, so a reader may index the owner's array with it until its section ends.
/// Cost:     lookup: two or three loads, then one or two cache lines for most addresses of a real table; nothing is written
class IntervalTrie {
 public:
  /// A trie with pools of its own.
  IntervalTrie();
  /// A trie in pools that it shares with others of the same writer.
  explicit IntervalTrie(std::shared_ptr<TriePools> pools);
  ~IntervalTrie();  ///< no reader may use the trie any more; shared pools: release() was called before
  IntervalTrie(const IntervalTrie&) = delete;
  IntervalTrie& operator=(const IntervalTrie&) = delete;

  struct Inserted {
    LeafId leaf = kRootLeaf;
    bool fresh = false;  ///< false: the prefix was there already
  };
  /// Adds a prefix with its word. Readers see it at once for some of its addresses and a moment later for all.
  /// Cost: a lookup and the rebuilding of at most two buckets of up to 64 intervals; a short prefix also pays a store for
  ///       each interval that it takes over.
  Inserted insert(const net::Prefix& prefix, LeafValue value = 0);
  /// Fills an empty trie; the same as inserting one by one, and faster. Of equal prefixes the first one counts.
  /// @param prefixes  in any order
  /// @param values    parallel to prefixes, or empty: all 0
  /// @return          the number of each prefix, in the order given
  std::vector<LeafId> build_from(std::span<const net::Prefix> prefixes,
                                 std::span<const LeafValue> values = {});
  /// Takes a prefix out; its addresses go back to the next shorter one. False when it is not there, or is ::/0.
  bool erase(const net::Prefix& prefix);
  /// The number of exactly this prefix, or kRootLeaf for ::/0 and for one that is not there.
  [[nodiscard]] LeafId find(const net::Prefix& prefix) const noexcept;

  /// Gives everything back to shared pools, once no new reader can find the trie: readers that are in it may finish.
  void release();

  /// The longest prefix that covers `address`.
  [[nodiscard]] LeafId lookup(const net::Ipv6Address& address) const noexcept {
    return lookup_one(view(), address);
  }
  /// The same for many. Equal sizes, asserted.
  void lookup_batch(std::span<const net::Ipv6Address> addresses,
                    std::span<LeafId> leaves) const noexcept;
  /// The same for addresses that lie in larger records: `stride` bytes from one to the next.
  void lookup_batch(const net::Ipv6Address* first, std::size_t stride,
                    std::span<LeafId> leaves) const noexcept;

  /// The word of a prefix; of ::/0 the trie's own.
  [[nodiscard]] LeafValue value(LeafId leaf) const noexcept {
    // Acquire pairs with the release in set_value(), and with the one that published the leaf.
    return leaf == kRootLeaf ? root_value_.load(std::memory_order_acquire)
                             : values_[leaf].load(std::memory_order_acquire);
  }
  /// Fetches the word's cache line.
  void prefetch_value(LeafId leaf) const noexcept { __builtin_prefetch(&values_[leaf]); }
  /// Writer. Readers that look up later see the new word.
  void set_value(LeafId leaf, LeafValue value) noexcept {
    (leaf == kRootLeaf ? root_value_ : values_[leaf]).store(value, std::memory_order_release);
  }

  /// The next shorter prefix that covers this one. Writer, or a reader on a leaf that it has just found.
  [[nodiscard]] LeafId parent(LeafId leaf) const noexcept {
    return pools_->leaves[leaf].parent.load(std::memory_order_relaxed);
  }
  [[nodiscard]] const net::Prefix& prefix(LeafId leaf) const noexcept {
    return pools_->leaves[leaf].prefix;
  }

  struct Size {
    std::size_t prefixes = 0;
    std::size_t lookup_bytes =
        0;  ///< what lookups read: index, direct nodes, search nodes (shared pools: of all tries)
    std::size_t leaf_bytes = 0;     ///< what updates read beside: prefixes and their parents
    std::size_t waiting_bytes = 0;  ///< retired, waiting for readers
  };
  [[nodiscard]] Size size() const noexcept;

 private:
  using Ref = TrieRef;

  struct Interval {
    std::uint32_t start;
    Ref ref;
    bool operator==(const Interval&) const = default;
  };
  using Intervals = std::vector<Interval>;
  // An interval of whole addresses, for building.
  struct WideInterval {
    net::Ipv6Address start;
    LeafId leaf;
  };
  struct Edit;
  struct Region;
  class BucketIntervals;

  [[nodiscard]] TrieView view() const noexcept { return {top_.base(), pools_->lines.line(0)}; }
  [[nodiscard]] SearchNode& node(Ref ref) const noexcept {
    return *reinterpret_cast<SearchNode*>(pools_->lines.line(trie_payload_of(ref)));
  }
  [[nodiscard]] std::atomic<Ref>* array(Ref ref) const noexcept {
    return reinterpret_cast<std::atomic<Ref>*>(pools_->lines.line(trie_payload_of(ref)));
  }
  LeafId allocate_leaf(const net::Prefix& prefix, LeafId parent, LeafValue value);
  void apply(const net::Prefix& prefix, LeafId from, LeafId to);
  Ref edit(Ref ref, const Region& region, const Edit& edit);
  void rewrite(std::span<const Interval> before, std::uint32_t high, const Edit& edit,
               BucketIntervals& after);
  bool edit_line(SearchNode& above, const Region& region, const Edit& edit);
  Ref edit_bucket(Ref ref, const Region& region, const Edit& edit);
  Ref edit_direct(Ref ref, const Region& region, const Edit& edit);
  Ref edit_deeper(Ref owner, const Edit& edit);
  Ref reshape(Ref ref, const Region& region);
  Ref replace_owner(Ref ref, const Edit& edit);
  void replace_owners_below(Ref ref, const Edit& edit);
  void adopt(LeafId owner, const Edit& edit);

  Ref build(std::span<const Interval> intervals, const Region& region);
  void build_top(std::span<const WideInterval> intervals);
  Ref build_chunk(std::span<const WideInterval> intervals, LeafId before, unsigned position);
  Ref build_search(std::span<const Interval> intervals);
  Ref build_search_node(std::span<const Interval> intervals);
  Ref build_direct(std::span<const Interval> intervals, const Region& region, unsigned index_bits);
  [[nodiscard]] Ref make_deeper(Ref chunk, const Region& region);
  template <typename Out>
  void collect(Ref ref, std::uint32_t start, const Region& region, Out& out) const;
  void dispose(Ref ref);
  void release_below(Ref ref, std::vector<LeafId>& leaves);

  std::shared_ptr<TriePools> pools_;
  Reservation<std::atomic<Ref>> top_;  // by the first 16 bits; untouched pages cost nothing
  std::atomic<LeafValue>* values_;     // the pools', here to save lookups a step
  std::atomic<LeafValue> root_value_{0};
  std::size_t prefix_count_ = 1;
};

}  // namespace sidestep::fib
