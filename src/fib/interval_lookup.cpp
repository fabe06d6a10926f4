// SPDX-License-Identifier: Apache-2.0
// Batched lookup.
//
// A lookup is a chain of three to five dependent loads, and a processor that waits for one chain at a time waits most of
// its time. So a block of lookups advances together, one step each per round: a round computes where the next load of each
// goes and prefetches it, and by the time the round comes back the line is there. The first two steps (the array by 16 bits,
// the direct node under it) are the same for nearly all addresses, hence written out; after them the lookups that stand
// at a search node are kept in a list, and leave it with their leaf. The few that go on into another chunk of the address
// are finished one by one.
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

// As rank_of(), with the vectors of this target.
HWY_INLINE std::size_t rank_in(const SearchNode& node, std::int32_t biased_key) {
  const hn::CappedTag<std::int32_t, SearchNode::kFanOut> lanes;
  const auto wanted = hn::Set(lanes, biased_key);
  std::size_t below = 0;
  for (std::size_t i = 0; i < SearchNode::kFanOut; i += hn::Lanes(lanes))
    below += hn::CountTrue(lanes, hn::Gt(wanted, hn::Load(lanes, node.separators.data() + i)));
  return below;
}

HWY_INLINE std::uint64_t first_half_of(const std::uint8_t* key) {
  std::uint64_t high;
  std::memcpy(&high, key, sizeof high);
  if constexpr (std::endian::native == std::endian::little) high = std::byteswap(high);
  return high;
}

HWY_INLINE std::int32_t biased(std::uint32_t chunk) {
  return static_cast<std::int32_t>(chunk ^ 0x8000'0000U);
}

// `taken` or `ref`, chosen without a branch: which of the two it is cannot be predicted.
HWY_INLINE TrieRef choose(bool take, TrieRef taken, TrieRef ref) {
  const TrieRef mask = TrieRef{0} - static_cast<TrieRef>(take);
  return ref ^ ((ref ^ taken) & mask);
}

// One search node, where `ref` names one.
HWY_INLINE TrieRef search_step(const TrieView& view, TrieRef ref, std::int32_t biased_chunk) {
  const bool search = trie_tag_of(ref) == TrieTag::kSearch;
  const SearchNode& node = view.node(choose(search, ref, 0));
  const TrieRef next = node.refs[rank_in(node, biased_chunk)].load(std::memory_order_acquire);
  return choose(search, next, ref);
}

// What a block of lookups knows between two rounds; the reference that each stands at is in the place of its answer.
struct Block {
  std::uint32_t rest[kBlock];  // bits of the chunk that arrays have not used
  std::int32_t biased_chunk[kBlock];
  const std::byte* place[kBlock];  // where the next reference is
  std::uint8_t searching[kBlock];  // lookups that stand at a search node, or go deeper
  std::uint8_t indexing[kBlock];   // lookups that stand at a second array
};

template <typename Count>
HWY_INLINE void lookup_block(const TrieView view, const std::uint8_t* keys, std::size_t stride,
                             LeafId* refs, Count count) {
  Block block;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t high = first_half_of(keys + i * stride);
    std::uint32_t rest = static_cast<std::uint32_t>(high >> 16);
    block.biased_chunk[i] = biased(rest);
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
    const TrieRef ref = TrieView::load(block.place[i]);
    const std::byte* place = view.place(ref, block.rest[i]);
    refs[i] = ref;
    block.place[i] = place;
    __builtin_prefetch(place);
    block.searching[searching] = static_cast<std::uint8_t>(i);
    searching += ref >> 31;
    block.indexing[indexing] = static_cast<std::uint8_t>(i);
    indexing += has_index(ref) ? 1U : 0U;
  }
  for (std::size_t a = 0; a < indexing; ++a) {
    const std::size_t i = block.indexing[a];
    if (HWY_UNLIKELY(has_top_bit(refs[i]))) continue;  // deeper, and in the other list already
    TrieRef ref = TrieView::load(block.place[i]);
    while (HWY_UNLIKELY(trie_tag_of(ref) == TrieTag::kDirect))
      ref = TrieView::load(view.place(ref, block.rest[i]));
    refs[i] = ref;
    __builtin_prefetch(view.line(ref));
    block.searching[searching] = static_cast<std::uint8_t>(i);
    searching += ref >> 31;
  }
  while (searching != 0) {
    const std::size_t standing = searching;
    searching = 0;
    for (std::size_t a = 0; a < standing; ++a) {
      const std::size_t i = block.searching[a];
      const TrieRef ref = refs[i];
      if (HWY_UNLIKELY(has_index(ref))) {  // deeper
        net::Ipv6Address address;
        std::memcpy(address.bytes.data(), keys + i * stride, sizeof address.bytes);
        refs[i] = finish_lookup(view, ref, address, kTrieTopBits, 0, 0) << kTriePayloadShift;
        continue;
      }
      const SearchNode& node = view.node(ref);
      const TrieRef next =
          node.refs[rank_in(node, block.biased_chunk[i])].load(std::memory_order_acquire);
      refs[i] = next;
      __builtin_prefetch(view.line(next));
      block.searching[searching] = static_cast<std::uint8_t>(i);
      searching += next >> 31;
    }
  }
  for (std::size_t i = 0; i < count; ++i) refs[i] >>= kTriePayloadShift;  // all are leaves
}

}  // namespace

void lookup_many_here(const TrieView& view, const std::uint8_t* keys, std::size_t stride,
                      LeafId* leaves, std::size_t count) {
  std::size_t done = 0;
  for (; done + kBlock <= count; done += kBlock)
    lookup_block(view, keys + done * stride, stride, leaves + done, Whole{});
  if (done != count) lookup_block(view, keys + done * stride, stride, leaves + done, count - done);
}

// One array, perhaps a second one, at most two search nodes: nearly every address, without a branch in between.
LeafId lookup_one_here(const TrieView& shared, const net::Ipv6Address& address) {
  const TrieView view = shared;
  const std::uint64_t high = first_half_of(address.bytes.data());
  const auto chunk = static_cast<std::uint32_t>(high >> 16);
  std::uint32_t rest = chunk;
  TrieRef ref = view.top[high >> 48].load(std::memory_order_acquire);
  if (HWY_LIKELY(has_index(ref))) {
    ref = TrieView::load(view.place(ref, rest));
    const bool direct = trie_tag_of(ref) == TrieTag::kDirect;
    ref = choose(direct, TrieView::load(view.place(choose(direct, ref, 0), rest)), ref);
    ref = search_step(view, ref, biased(chunk));
    ref = search_step(view, ref, biased(chunk));
  }
  if (HWY_LIKELY(trie_tag_of(ref) == TrieTag::kLeaf)) return trie_payload_of(ref);
  return finish_lookup(view, ref, address, kTrieTopBits, chunk, rest);
}

}  // namespace sidestep::fib::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sidestep::fib {
HWY_EXPORT(lookup_one_here);
HWY_EXPORT(lookup_many_here);

LeafId lookup_one(const TrieView& view, const net::Ipv6Address& address) noexcept {
  return HWY_DYNAMIC_DISPATCH(lookup_one_here)(view, address);
}

void lookup_many(const TrieView& view, const net::Ipv6Address* first, std::size_t stride,
                 LeafId* leaves, std::size_t count) noexcept {
  HWY_DYNAMIC_DISPATCH(lookup_many_here)
  (view, first->bytes.data(), stride, leaves, count);
}

}  // namespace sidestep::fib
#endif
