// SPDX-License-Identifier: Apache-2.0
// Lookups in an interval trie, one by one and in batches. See interval_trie.cpp for what the references mean.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <sidestep/net/address.hpp>
#include <sidestep/net/wire.hpp>

#include "fib/interval_pools.hpp"

namespace sidestep::fib {

enum class TrieTag : std::uint8_t { kLeaf, kDirect, kSearch, kDeeper };
inline constexpr unsigned kTriePayloadShift = 6;
inline constexpr TrieRef kTrieIndexBits = (1U << kTriePayloadShift) - 1;
inline constexpr TrieRef kTrieLeafBit = 1U << 31;
inline constexpr TrieRef kTrieDeeperBit = 1U << 30;
inline constexpr TrieRef kTriePayload = ~(kTrieLeafBit | kTrieDeeperBit | kTrieIndexBits);
inline constexpr unsigned kTrieTopBits = 16;
inline constexpr unsigned kTrieChunkBits = 32;
static_assert(LinePool::kLineBytes == std::size_t{1} << kTriePayloadShift);
static_assert(kTriePayloadShift + LinePool::kLineBits == 30);

constexpr bool has_index(TrieRef ref) { return (ref & kTrieIndexBits) != 0; }
constexpr bool is_leaf(TrieRef ref) { return (ref & kTrieLeafBit) != 0; }
constexpr bool is_deeper(TrieRef ref) { return (ref & kTrieDeeperBit) != 0; }
constexpr TrieTag trie_tag_of(TrieRef ref) {
  if (is_leaf(ref)) return TrieTag::kLeaf;
  if (is_deeper(ref)) return TrieTag::kDeeper;
  return has_index(ref) ? TrieTag::kDirect : TrieTag::kSearch;
}
/// Bits of the chunk that index an array; 0 for a search node and a leaf.
constexpr unsigned trie_index_bits_of(TrieRef ref) { return ref & kTrieIndexBits; }
/// Line, or number of a leaf.
constexpr std::uint32_t trie_payload_of(TrieRef ref) {
  return (ref & kTriePayload) >> kTriePayloadShift;
}
constexpr TrieRef trie_leaf_ref(LeafId leaf) { return kTrieLeafBit | (leaf << kTriePayloadShift); }

/// The chunk of an address at a bit position; the last one has 16 bits, at the top.
inline std::uint32_t trie_chunk_of(const net::Ipv6Address& address, unsigned position) noexcept {
  std::uint32_t chunk = 0;
  std::memcpy(&chunk, address.bytes.data() + position / 8, position == 112 ? 2 : 4);
  return std::endian::native == std::endian::little ? std::byteswap(chunk) : chunk;
}

/// What a lookup reads of a trie and its pools. Acquire loads pair with the release stores of updates: what a reference
/// names was complete before.
struct TrieView {
  const std::atomic<TrieRef>* top;
  const std::byte* lines;

  /// What the first array holds, with a leaf in place of zero.
  [[nodiscard]] TrieRef top_ref(std::size_t index) const noexcept {
    const TrieRef ref = top[index].load(std::memory_order_acquire);
    return ref != 0 ? ref : trie_leaf_ref(kRootLeaf);
  }
  /// The line that a reference names; of a leaf, line 0.
  [[nodiscard]] const std::byte* line(TrieRef ref) const noexcept {
    return lines + (ref & kTriePayload & ~leaf_mask(ref));
  }
  [[nodiscard]] const SearchNode& node(TrieRef ref) const noexcept {
    return *reinterpret_cast<const SearchNode*>(line(ref));
  }
  /// Where a reference leads whose array is indexed by the top bits of `rest`; moves `rest` on. A search node's own line.
  [[nodiscard]] const std::byte* place(TrieRef ref, std::uint32_t& rest) const noexcept {
    const std::uint64_t shifted = std::uint64_t{rest} << (ref & kTrieIndexBits);
    rest = static_cast<std::uint32_t>(shifted);
    return line(ref) + (shifted >> 32) * sizeof(TrieRef);
  }
  /// All ones for a leaf, else zero.
  [[nodiscard]] static TrieRef leaf_mask(TrieRef ref) noexcept {
    return static_cast<TrieRef>(static_cast<std::int32_t>(ref) >> 31);
  }
  [[nodiscard]] static TrieRef load(const std::byte* place) noexcept {
    return reinterpret_cast<const std::atomic<TrieRef>*>(place)->load(std::memory_order_acquire);
  }
};

/// How many separators are below `key`: the index of its reference. Example: starts 10, 20; key 9 → 0, key 10 → 1, key 25 → 2.
///
/// In vectors that every processor has, so that it can be inlined anywhere.
[[nodiscard]] inline std::size_t rank_of(const SearchNode& node, std::uint32_t key) noexcept {
  using Lanes [[gnu::vector_size(16)]] = std::int32_t;
  const auto* const words = reinterpret_cast<const std::byte*>(&node);
  Lanes first;
  Lanes second;
  std::memcpy(&first, words, sizeof first);  // the node itself and three separators
  std::memcpy(&second, words + sizeof first, sizeof second);
  const std::int32_t biased = SearchNode::biased(key);
  const Lanes wanted = {biased, biased, biased, biased};
  // A comparison that holds is −1.
  Lanes below = ((wanted > first) & Lanes{0, -1, -1, -1}) + (wanted > second);
  below += __builtin_shufflevector(below, below, 2, 3, 0, 1);
  return static_cast<std::size_t>(-(below[0] + below[1]));
}

/// The rest of a lookup that stands at `ref` in the chunk at `position`, of whose bits arrays have used those that are
/// shifted out of `rest`.
[[gnu::noinline]] inline LeafId finish_lookup(const TrieView& view, TrieRef ref,
                                              const net::Ipv6Address& address, unsigned position,
                                              std::uint32_t chunk, std::uint32_t rest) noexcept {
  for (;;) {
    switch (trie_tag_of(ref)) {
      case TrieTag::kLeaf:
        return trie_payload_of(ref);
      case TrieTag::kSearch: {
        const SearchNode& node = view.node(ref);
        ref = node.refs[rank_of(node, chunk)].load(std::memory_order_acquire);
        break;
      }
      case TrieTag::kDeeper:
        position += kTrieChunkBits;
        chunk = rest = trie_chunk_of(address, position);
        [[fallthrough]];
      case TrieTag::kDirect:
        ref = TrieView::load(view.place(ref, rest));
        break;
    }
  }
}

// Steps that leave a leaf as it is, without a branch: which references are leaves cannot be predicted. A leaf is sent to
// line 0, whose words are zero but for separators that no key is above, and put together with what it finds there.

/// One array of this chunk. A search node stays as well, by its first word.
[[nodiscard]] inline TrieRef trie_direct_step(const TrieView& view, TrieRef ref,
                                              std::uint32_t& rest) noexcept {
  return TrieView::load(view.place(ref, rest)) | (ref & TrieView::leaf_mask(ref));
}

/// One search node.
[[nodiscard]] inline TrieRef trie_search_step(const TrieView& view, TrieRef ref,
                                              std::uint32_t chunk) noexcept {
  const SearchNode& node = view.node(ref);
  return node.refs[rank_of(node, chunk)].load(std::memory_order_acquire) |
         (ref & TrieView::leaf_mask(ref));
}

/// One lookup: up to three arrays and two search nodes, nearly every address, without a branch in between, so that the
/// processor can be busy with the next lookup while this one waits for memory.
[[nodiscard]] inline LeafId lookup_one(const TrieView& view,
                                       const net::Ipv6Address& address) noexcept {
  const std::uint64_t high = net::load_be64(address.bytes.data());
  const auto chunk = static_cast<std::uint32_t>(high >> 16);
  std::uint32_t rest = chunk;
  const TrieRef top = view.top[high >> 48].load(std::memory_order_acquire);
  if (top == 0) return kRootLeaf;
  const TrieRef first = trie_direct_step(view, top, rest);
  const TrieRef second = trie_direct_step(view, first, rest);
  const TrieRef third = trie_direct_step(view, second, rest);
  // Whoever goes deeper has taken a wrong turn behind that.
  const TrieRef deeper = (top | first | second | third) & kTrieDeeperBit;
  if ((deeper | (third & kTrieIndexBits)) == 0) {
    TrieRef ref = trie_search_step(view, third, chunk);
    if (!is_deeper(ref)) {
      ref = trie_search_step(view, ref, chunk);
      if (is_leaf(ref)) return trie_payload_of(ref);
    }
  }
  return finish_lookup(view, top, address, kTrieTopBits, chunk, chunk);
}

/// Many lookups at once: their loads overlap, and search nodes are compared with the widest vectors that the processor has.
/// @param first   the first address; the next one is `stride` bytes behind, and so on
void lookup_many(const TrieView& view, const net::Ipv6Address* first, std::size_t stride,
                 LeafId* leaves, std::size_t count) noexcept;

}  // namespace sidestep::fib
