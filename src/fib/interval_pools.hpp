// SPDX-License-Identifier: Apache-2.0
// The memory that all interval tries of a router share.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <sidestep/net/prefix.hpp>

#include "fib/index_pool.hpp"

namespace sidestep::fib {

/// Number of a prefix in an IntervalTrie. 0 is ::/0, which is always there.
using LeafId = std::uint32_t;
inline constexpr LeafId kRootLeaf = 0;

/// What the owner of a trie keeps for a prefix: a word, replaced by one store.
using LeafValue = std::uintptr_t;

/// A reference of a trie (interval_trie.cpp). From the top: a bit "leaf", a bit "deeper", 24 bits of payload (a line of the
/// pool, or a leaf's number), six bits k.
///
///   leaf  deeper  k   meaning
///   1     0       0   leaf
///   0     0       0   search node
///   0     0     > 0   direct: an array indexed by k bits of the chunk
///   0     1     > 0   deeper: the same, indexed by the next chunk
///
/// So the payload is an offset in bytes when the other bits are masked out, and k is a shift count as it stands. Zero, what
/// untouched memory holds, stands in the first array for the root leaf.
using TrieRef = std::uint32_t;

/// One cache line: seven separators and eight references. A separator is the largest key below it, biased by 2^31 so that a
/// signed compare orders keys. It never changes once published; references do, one store each.
///
/// The first word is the reference to the node itself: whoever takes the node for an array of one entry comes back to it.
struct alignas(64) SearchNode {
  static constexpr std::size_t kFanOut = 8;
  /// Fills the places behind the last separator: no key is greater.
  static constexpr std::int32_t kUnused = 0x7fff'ffff;
  TrieRef self;
  std::array<std::int32_t, kFanOut - 1> separators;
  std::array<std::atomic<TrieRef>, kFanOut> refs;

  [[nodiscard]] static constexpr std::int32_t biased(std::uint32_t key) noexcept {
    return static_cast<std::int32_t>(key ^ 0x8000'0000U);
  }
  [[nodiscard]] static constexpr std::int32_t separator(std::uint32_t start) noexcept {
    return biased(start - 1);
  }
  [[nodiscard]] static constexpr std::uint32_t start_of(std::int32_t separator) noexcept {
    return (static_cast<std::uint32_t>(separator) ^ 0x8000'0000U) + 1;
  }
};
static_assert(sizeof(SearchNode) == LinePool::kLineBytes);

/// A prefix, for updates: which one it is, and the next shorter one.
struct TrieLeaf {
  net::Prefix prefix;
  std::atomic<LeafId> parent{kRootLeaf};
};

/// How full a direct node is, for updates.
struct DirectShape {
  std::int32_t boundaries = 0;       ///< between intervals, inside its entries
  std::int32_t boundaries_seen = 0;  ///< when it was looked at
  std::uint32_t edits = 0;           ///< since then
};

/// Pools for any number of tries, so that a small trie costs little and freed memory serves them all.
///
/// Thread: writer; readers index what they found in a trie
struct TriePools {
  TriePools();

  LinePool lines;  // search nodes and arrays of references
  IndexPool<TrieLeaf> leaves;
  Reservation<std::atomic<LeafValue>>
      values;                       // by LeafId; apart from the leaves, which lookups do not read
  Reservation<DirectShape> shapes;  // by first line; of lines that are no direct node, nothing
};

}  // namespace sidestep::fib
