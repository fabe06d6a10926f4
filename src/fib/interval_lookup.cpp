// SPDX-License-Identifier: Apache-2.0
// Batched lookup.
//
// A lookup is a chain of three to six dependent loads, and a processor that waits for one chain at a time waits most of its
// time. So a block of lookups advances together, one step each per round: a round computes where the next load of each goes
// and prefetches it, and by the time the round comes back the line is there. The first two steps (the array by 16 bits, the
// direct node under it) are the same for nearly all addresses, hence written out; after them the lookups that stand at a
// further array are kept in one list and those at a search node in another, and leave it with their leaf. The few that go on
// into another chunk of the address are finished one by one.
//
// The file is compiled once per vector extension (Highway), and the best one is chosen when the program runs.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fib/interval_lookup.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <type_traits>

#include "fib/interval_lookup.hpp"

HWY_BEFORE_NAMESPACE();
namespace sidestep::fib::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kBlock = 32;
using Whole = std::integral_constant<std::size_t, kBlock>;  // lets the compiler see the count

// As rank_of(), with the vectors of this target, on the whole first half of the node but its first word.
HWY_INLINE std::size_t rank_in(const SearchNode& node, std::int32_t biased_key) {
  const hn::CappedTag<std::int32_t, SearchNode::kFanOut> lanes;
  const auto* const words = reinterpret_cast<const std::int32_t*>(&node);
  const auto wanted = hn::Set(lanes, biased_key);
  std::size_t below = hn::CountTrue(
      lanes, hn::AndNot(hn::FirstN(lanes, 1), hn::Gt(wanted, hn::Load(lanes, words))));
  for (std::size_t i = hn::Lanes(lanes); i < SearchNode::kFanOut; i += hn::Lanes(lanes))
    below += hn::CountTrue(lanes, hn::Gt(wanted, hn::Load(lanes, words + i)));
  return below;
}

// What a block of lookups knows between two rounds; the reference that each stands at is in the place of its answer.
struct Block {
  std::uint32_t rest[kBlock];  // bits of the chunk that arrays have not used
  std::int32_t biased_chunk[kBlock];
  const std::byte* place[kBlock];  // where the next reference is
  std::uint8_t searching[kBlock];  // lookups that stand at a search node, or go deeper
  std::uint8_t indexing[kBlock];   // lookups that stand at a further array, or go deeper
};

// The leaf of a lookup that goes on in the next chunk.
HWY_INLINE TrieRef finish_deeper(const TrieView& view, TrieRef ref, const std::uint8_t* key) {
  net::Ipv6Address address;
  std::memcpy(address.bytes.data(), key, sizeof address.bytes);
  return trie_leaf_ref(finish_lookup(view, ref, address, kTrieTopBits, 0, 0));
}

template <typename Count>
HWY_INLINE void lookup_block(const TrieView view, const std::uint8_t* keys, std::size_t stride,
                             LeafId* refs, Count count) {
  Block block;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t high = net::load_be64(keys + i * stride);
    std::uint32_t rest = static_cast<std::uint32_t>(high >> 16);
    block.biased_chunk[i] = SearchNode::biased(rest);
    const std::atomic<TrieRef>* top = view.top + (high >> 48);
    const TrieRef ref = top->load(std::memory_order_acquire);
    const std::byte* place = reinterpret_cast<const std::byte*>(top);
    if (HWY_LIKELY(has_index(ref))) place = view.place(ref, rest);
    block.rest[i] = rest;
    block.place[i] = place;
    __builtin_prefetch(place);
  }
  std::size_t searching = 0;
  std::size_t indexing = 0;
  for (std::size_t i = 0; i < count; ++i) {
    TrieRef ref = TrieView::load(block.place[i]);
    if (HWY_UNLIKELY(ref == 0)) ref = trie_leaf_ref(kRootLeaf);
    const std::byte* place = view.place(ref, block.rest[i]);
    refs[i] = ref;
    block.place[i] = place;
    __builtin_prefetch(place);
    const bool index = has_index(ref);
    block.searching[searching] = static_cast<std::uint8_t>(i);
    searching += (index || is_leaf(ref)) ? 0U : 1U;
    block.indexing[indexing] = static_cast<std::uint8_t>(i);
    indexing += index ? 1U : 0U;
  }
  while (indexing != 0) {
    const std::size_t standing = indexing;
    indexing = 0;
    for (std::size_t a = 0; a < standing; ++a) {
      const std::size_t i = block.indexing[a];
      if (HWY_UNLIKELY(is_deeper(refs[i]))) {
        refs[i] = finish_deeper(view, refs[i], keys + i * stride);
        continue;
      }
      const TrieRef ref = TrieView::load(block.place[i]);
      refs[i] = ref;
      block.place[i] = view.place(ref, block.rest[i]);
      __builtin_prefetch(block.place[i]);
      const bool index = has_index(ref);
      block.searching[searching] = static_cast<std::uint8_t>(i);
      searching += (index || is_leaf(ref)) ? 0U : 1U;
      block.indexing[indexing] = static_cast<std::uint8_t>(i);
      indexing += index ? 1U : 0U;
    }
  }
  while (searching != 0) {
    const std::size_t standing = searching;
    searching = 0;
    for (std::size_t a = 0; a < standing; ++a) {
      const std::size_t i = block.searching[a];
      if (HWY_UNLIKELY(has_index(refs[i]))) {  // deeper
        refs[i] = finish_deeper(view, refs[i], keys + i * stride);
        continue;
      }
      const SearchNode& node = view.node(refs[i]);
      const TrieRef next =
          node.refs[rank_in(node, block.biased_chunk[i])].load(std::memory_order_acquire);
      refs[i] = next;
      __builtin_prefetch(view.line(next));
      block.searching[searching] = static_cast<std::uint8_t>(i);
      searching += is_leaf(next) ? 0U : 1U;
    }
  }
  for (std::size_t i = 0; i < count; ++i) refs[i] = trie_payload_of(refs[i]);  // all are leaves
}

}  // namespace

void lookup_many_here(const TrieView& view, const std::uint8_t* keys, std::size_t stride,
                      LeafId* leaves, std::size_t count) {
  std::size_t done = 0;
  for (; done + kBlock <= count; done += kBlock)
    lookup_block(view, keys + done * stride, stride, leaves + done, Whole{});
  if (done != count) lookup_block(view, keys + done * stride, stride, leaves + done, count - done);
}

}  // namespace sidestep::fib::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sidestep::fib {
HWY_EXPORT(lookup_many_here);

void lookup_many(const TrieView& view, const net::Ipv6Address* first, std::size_t stride,
                 LeafId* leaves, std::size_t count) noexcept {
  HWY_DYNAMIC_DISPATCH(lookup_many_here)
  (view, first->bytes.data(), stride, leaves, count);
}

}  // namespace sidestep::fib
#endif
