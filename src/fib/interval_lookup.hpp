// SPDX-License-Identifier: Apache-2.0
// Lookups in an interval trie, one by one and in batches. See interval_trie.cpp for what the references mean.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <sidestep/net/address.hpp>

#include "fib/interval_pools.hpp"

namespace sidestep::fib {

enum class TrieTag : std::uint8_t { kLeaf, kDirect, kSearch, kDeeper };
inline constexpr unsigned kTriePayloadShift = 6;
inline constexpr TrieRef kTrieIndexBits = (1U << kTriePayloadShift) - 1;
inline constexpr TrieRef kTrieTopBit = 1U << 31;
inline constexpr unsigned kTrieTopBits = 16;
inline constexpr unsigned kTrieChunkBits = 32;
static_assert(LinePool::kLineBytes == std::size_t{1} << kTriePayloadShift);

constexpr bool has_index(TrieRef ref) { return (ref & kTrieIndexBits) != 0; }
constexpr bool has_top_bit(TrieRef ref) { return (ref & kTrieTopBit) != 0; }
constexpr TrieTag trie_tag_of(TrieRef ref) {
  return static_cast<TrieTag>(((ref >> 31) << 1) | (has_index(ref) ? 1U : 0U));
}
/// Bits of the chunk that index an array; 0 for a search node and a leaf.
constexpr unsigned trie_index_bits_of(TrieRef ref) { return ref & kTrieIndexBits; }
/// Line, or number of a leaf.
constexpr std::uint32_t trie_payload_of(TrieRef ref) {
  return (ref & ~kTrieTopBit) >> kTriePayloadShift;
}

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

  /// The line that a reference names (a leaf: some line).
  [[nodiscard]] const std::byte* line(TrieRef ref) const noexcept {
    return lines + (ref & ~(kTrieTopBit | kTrieIndexBits));
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
  [[nodiscard]] static TrieRef load(const std::byte* place) noexcept {
    return reinterpret_cast<const std::atomic<TrieRef>*>(place)->load(std::memory_order_acquire);
  }
};

/// How many separators are below `key`: the index of its reference. Example: starts 10, 20; key 9 → 0, key 10 → 1, key 25 → 2.
[[nodiscard]] inline unsigned rank_of(const SearchNode& node, std::uint32_t key) noexcept {
  const auto biased = static_cast<std::int32_t>(key ^ 0x8000'0000U);
  unsigned count = 0;
  for (const std::int32_t separator : node.separators) count += biased > separator ? 1U : 0U;
  return count;
}

/// The rest of a lookup that stands at `ref` in the chunk at `position`, of whose bits arrays have used those that are
/// shifted out of `rest`.
inline LeafId finish_lookup(const TrieView& view, TrieRef ref, const net::Ipv6Address& address,
                            unsigned position, std::uint32_t chunk, std::uint32_t rest) noexcept {
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

/// One lookup, with the shortest wait that the processor's instructions allow.
[[nodiscard]] LeafId lookup_one(const TrieView& view, const net::Ipv6Address& address) noexcept;

/// Many lookups at once: their loads overlap, and search nodes are compared with the widest vectors that the processor has.
/// @param first   the first address; the next one is `stride` bytes behind, and so on
void lookup_many(const TrieView& view, const net::Ipv6Address* first, std::size_t stride,
                 LeafId* leaves, std::size_t count) noexcept;

}  // namespace sidestep::fib
