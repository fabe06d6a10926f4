// SPDX-License-Identifier: Apache-2.0
// Longest-prefix match on intervals.
//
// The 128 bits of an address are cut into a first part of 16 bits and chunks of 32 (positions 16, 48, 80; the last, at
// 112, has 16 bits and is padded). The first part indexes an array. Within a chunk the prefixes cut the line 0..2^32-1
// into intervals, each owned by the longest prefix that covers it, and a lookup finds the interval of its key:
//
//   reference        meaning
//   leaf  id         this interval is owned by prefix number `id`
//   direct k, base   index an array of 2^k references by the chunk's next k bits
//   search node      fifteen separators and sixteen references: count the separators that are not above the key
//   deeper k, base   some prefix goes on behind this chunk: a direct node over the next chunk
//
// A run of at most kBucketMax intervals is a bucket: one search node, or one over several. Where there are more, a
// direct node spreads them, four to an entry, and buckets (or further direct nodes) hang below. Most addresses of a real
// table meet the first array, one or two direct nodes and one or two search nodes.
//
// A prefix that is put in takes over, inside its range, the intervals of the next shorter prefix, and one that is taken
// out gives them back; both are the same edit with `from` and `to` exchanged. The owner of an interval knows its next
// shorter prefix (parent), so an edit needs no other structure. Intervals that change hands whole are changed by one
// store; a bucket that gains or loses a boundary is built again and replaces the old one by one store, and the old one
// waits for a grace period. Each address therefore goes from the old owner to the new one once, and no reader waits.
#include "fib/interval_trie.hpp"

#include <bit>
#include <cmath>

#include <sidestep/assert.hpp>

#include "fib/interval_rank.hpp"

namespace sidestep::fib {
namespace {

constexpr std::uint32_t kBias = 0x8000'0000;
constexpr unsigned kTopBits = 16;
constexpr unsigned kChunkBits = 32;
constexpr std::size_t kTopCount = std::size_t{1} << kTopBits;
constexpr std::size_t kFanOut = 16;

// Bounds that decide the shape, measured on a real table: see docs/perf.md.
constexpr std::size_t kBucketMax = 64;      // intervals; more become a direct node
constexpr std::size_t kBucketMin = 24;      // a direct node with fewer becomes a bucket again
constexpr double kIntervalsPerEntry = 4.0;  // of a new direct node
constexpr std::size_t kIntervalsPerEntryMax = 16;  // a direct node with more is spread anew

constexpr std::size_t kNodesMax = std::size_t{1} << 23;
constexpr std::size_t kDirectMax = std::size_t{1} << 26;
constexpr std::size_t kLeavesMax = std::size_t{1} << 24;

enum class Tag : std::uint32_t { kLeaf = 0, kDirect = 1, kSearch = 2, kDeeper = 3 };
constexpr unsigned kTagShift = 30;
constexpr std::uint32_t kPayload = (1U << kTagShift) - 1;
constexpr unsigned kIndexBitsShift = 26;  // direct and deeper: four bits of (k - 1), then the base
constexpr std::uint32_t kBaseMask = (1U << kIndexBitsShift) - 1;

constexpr Tag tag_of(std::uint32_t ref) { return static_cast<Tag>(ref >> kTagShift); }
constexpr std::uint32_t make_ref(Tag tag, std::uint32_t payload) {
  return (static_cast<std::uint32_t>(tag) << kTagShift) | payload;
}
constexpr unsigned index_bits_of(std::uint32_t ref) { return ((ref >> kIndexBitsShift) & 15U) + 1; }
constexpr std::uint32_t base_of(std::uint32_t ref) { return ref & kBaseMask; }
constexpr std::uint32_t direct_ref(Tag tag, unsigned index_bits, std::uint32_t base) {
  return make_ref(tag, ((index_bits - 1) << kIndexBitsShift) | base);
}

std::uint32_t top_of(const net::Ipv6Address& address) {
  return (std::uint32_t{address.bytes[0]} << 8) | address.bytes[1];
}

// The chunk at a bit position; the last one has 16 bits, at the top.
std::uint32_t chunk_of(const net::Ipv6Address& address, unsigned position) {
  std::uint32_t chunk = 0;
  const std::size_t size = position == 112 ? 2 : 4;
  for (std::size_t i = 0; i < 4; ++i) {
    chunk = (chunk << 8) | (i < size ? address.bytes[position / 8 + i] : 0U);
  }
  return chunk;
}

unsigned suggested_index_bits(std::size_t intervals, unsigned region_bits) {
  const auto wanted = std::lround(std::log2(static_cast<double>(intervals) / kIntervalsPerEntry));
  const auto limit = std::min(DirectPool::kOrderMax, region_bits);
  return std::clamp(static_cast<unsigned>(std::max(wanted, 0L)),
                    std::min(DirectPool::kOrderMin, limit), limit);
}

}  // namespace

// A stretch of a chunk that one reference answers for.
struct IntervalTrie::Region {
  std::uint32_t low = 0;
  unsigned bits = kChunkBits;
  unsigned position = kTopBits;

  [[nodiscard]] std::uint32_t high() const {
    return bits == kChunkBits ? ~std::uint32_t{0} : low + ((1U << bits) - 1);
  }
  [[nodiscard]] Region part(std::uint32_t index, unsigned index_bits) const {
    const unsigned part_bits = bits - index_bits;
    return {low + (index << part_bits), part_bits, position};
  }
};

// A prefix that changes hands, seen from one chunk.
struct IntervalTrie::Edit {
  const net::Prefix* prefix;
  LeafId from;
  LeafId to;
  unsigned position = kTopBits;
  std::uint32_t first = 0;  // chunk values that the prefix covers
  std::uint32_t last = ~std::uint32_t{0};
  bool deeper = false;  // the prefix covers only a part of the one value first == last
  mutable std::int64_t boundaries_added = 0;

  [[nodiscard]] Edit at(unsigned chunk_position) const {
    Edit edit{.prefix = prefix, .from = from, .to = to, .position = chunk_position};
    if (prefix->length() <= chunk_position) return edit;
    edit.first = chunk_of(prefix->address(), chunk_position);
    const unsigned bits = prefix->length() - chunk_position;
    edit.deeper = bits > kChunkBits;
    edit.last = bits >= kChunkBits ? edit.first : edit.first | (~std::uint32_t{0} >> bits);
    return edit;
  }
  [[nodiscard]] bool covers(const Region& region) const {
    return !deeper && first <= region.low && region.high() <= last;
  }
};

IntervalTrie::IntervalTrie()
    : nodes_(kNodesMax),
      direct_(kDirectMax),
      leaves_(kLeavesMax),
      top_(std::make_unique<std::atomic<Ref>[]>(kTopCount)) {
  const auto root = allocate_leaf(net::Prefix(), kRootLeaf);
  SIDESTEP_ASSERT(root == kRootLeaf);
}

IntervalTrie::~IntervalTrie() = default;

LeafId IntervalTrie::allocate_leaf(const net::Prefix& prefix, LeafId parent) {
  const auto leaf = leaves_.allocate();
  leaves_[leaf].prefix = prefix;
  leaves_[leaf].parent.store(
      parent, std::memory_order_relaxed);  // published with the first reference to the leaf
  return leaf;
}

// ---- Lookup

IntervalTrie::Ref IntervalTrie::step(const SearchNode& node, std::uint32_t key) noexcept {
  // Acquire pairs with the release stores of edit(): what the reference names was complete before.
  return node.refs[count_not_above(node.separators, key)].load(std::memory_order_acquire);
}

LeafId IntervalTrie::lookup(const net::Ipv6Address& address) const noexcept {
  return finish(top_[top_of(address)].load(std::memory_order_acquire), address, kTopBits);
}

LeafId IntervalTrie::finish(Ref ref, const net::Ipv6Address& address,
                            unsigned position) const noexcept {
  std::uint32_t chunk = chunk_of(address, position);
  std::uint32_t rest = chunk;  // the bits of the chunk that no direct node has used yet
  for (;;) {
    switch (tag_of(ref)) {
      case Tag::kLeaf:
        return ref;
      case Tag::kSearch: {
        const SearchNode& node = nodes_[ref & kPayload];
        __builtin_prefetch(&node.refs);
        ref = step(node, chunk);
        break;
      }
      case Tag::kDeeper:
        position += kChunkBits;
        chunk = chunk_of(address, position);
        rest = chunk;
        [[fallthrough]];
      case Tag::kDirect: {
        const unsigned index_bits = index_bits_of(ref);
        ref = direct_[base_of(ref) + (rest >> (kChunkBits - index_bits))].load(
            std::memory_order_acquire);
        rest <<= index_bits;
        break;
      }
    }
  }
}

void IntervalTrie::lookup_batch(std::span<const net::Ipv6Address> addresses,
                                std::span<LeafId> leaves) const noexcept {
  SIDESTEP_ASSERT(addresses.size() == leaves.size());
  for (std::size_t i = 0; i < addresses.size(); ++i) leaves[i] = lookup(addresses[i]);
}

LeafId IntervalTrie::find(const net::Prefix& prefix) const noexcept {
  LeafId leaf = lookup(prefix.address());
  while (leaves_[leaf].prefix.length() > prefix.length()) leaf = parent(leaf);
  return leaves_[leaf].prefix == prefix ? leaf : kRootLeaf;
}

// ---- Update

IntervalTrie::Inserted IntervalTrie::insert(const net::Prefix& prefix) {
  LeafId above = lookup(prefix.address());
  while (leaves_[above].prefix.length() > prefix.length()) above = parent(above);
  if (leaves_[above].prefix.length() == prefix.length()) return {above, false};
  const LeafId leaf = allocate_leaf(prefix, above);
  apply(prefix, above, leaf);
  ++prefix_count_;
  return {leaf, true};
}

bool IntervalTrie::erase(const net::Prefix& prefix) {
  const LeafId leaf = find(prefix);
  if (leaf == kRootLeaf) return false;
  const net::Prefix range = leaves_[leaf].prefix;
  apply(range, leaf, parent(leaf));
  leaves_.retire(leaf);
  --prefix_count_;
  return true;
}

void IntervalTrie::apply(const net::Prefix& prefix, LeafId from, LeafId to) {
  const Edit edit = Edit{.prefix = &prefix, .from = from, .to = to}.at(kTopBits);
  const std::uint32_t first = top_of(prefix.address());
  const std::uint32_t span = prefix.length() >= kTopBits ? 1 : 1U << (kTopBits - prefix.length());
  for (std::uint32_t top = first; top < first + span; ++top) {
    const Ref before = top_[top].load(std::memory_order_relaxed);  // we are the only writer
    const Ref after = this->edit(before, Region{}, edit);
    if (after != before)
      top_[top].store(after, std::memory_order_release);  // pairs with the acquire in lookup()
  }
}

// What takes the place of `ref`, which answers for `region`, when the edit has been made below it.
IntervalTrie::Ref IntervalTrie::edit(Ref ref, const Region& region, const Edit& edit) {
  if (edit.covers(region)) {
    if (tag_of(ref) == Tag::kLeaf) return replace_owner(ref, edit);
    replace_owners_below(ref, edit);
    return ref;
  }
  return tag_of(ref) == Tag::kDirect ? edit_direct(ref, region, edit)
                                     : edit_bucket(ref, region, edit);
}

IntervalTrie::Ref IntervalTrie::replace_owner(Ref ref, const Edit& edit) {
  adopt(ref, edit);
  return ref == edit.from ? edit.to : ref;
}

// The topmost prefix between `owner` and `from` gets `to` as its next shorter one.
void IntervalTrie::adopt(LeafId owner, const Edit& edit) {
  LeafId leaf = owner;
  while (leaf != edit.from && leaf != edit.to) {
    const LeafId above = parent(leaf);
    if (above == edit.from)
      leaves_[leaf].parent.store(edit.to, std::memory_order_relaxed);  // writers and tests read it
    leaf = above;
  }
}

// The whole of what is below changes hands: no boundary moves, so each reference is changed where it stands.
void IntervalTrie::replace_owners_below(Ref ref, const Edit& edit) {
  const auto replace_in = [&](std::atomic<Ref>& place) {
    const Ref below = place.load(std::memory_order_relaxed);
    if (tag_of(below) != Tag::kLeaf) return replace_owners_below(below, edit);
    const Ref owner = replace_owner(below, edit);
    if (owner != below)
      place.store(owner,
                  std::memory_order_release);  // pairs with the acquire in step() and finish()
  };
  if (tag_of(ref) == Tag::kSearch) {
    auto& refs = nodes_[ref & kPayload].refs;
    for (std::size_t i = 0; i < kFanOut; ++i) {
      // Unused places repeat the last reference; below it the work is done once.
      const Ref below = refs[i].load(std::memory_order_relaxed);
      const bool repeated = i != 0 && tag_of(below) != Tag::kLeaf &&
                            below == refs[i - 1].load(std::memory_order_relaxed);
      if (!repeated) replace_in(refs[i]);
    }
    return;
  }
  const std::uint32_t base = base_of(ref);
  for (std::uint32_t i = 0; i < 1U << index_bits_of(ref); ++i) replace_in(direct_[base + i]);
}

IntervalTrie::Ref IntervalTrie::edit_bucket(Ref ref, const Region& region, const Edit& edit) {
  Intervals before;
  collect(ref, region.low, region, before);
  Intervals after;
  const auto put = [&after](std::uint32_t start, Ref owner) {
    if (after.empty() || after.back().ref != owner) after.push_back({start, owner});
  };
  for (std::size_t i = 0; i < before.size(); ++i) {
    const std::uint32_t start = before[i].start;
    const std::uint32_t end = i + 1 < before.size() ? before[i + 1].start - 1 : region.high();
    const Ref owner = before[i].ref;
    if (end < edit.first || edit.last < start) {
      put(start, owner);
      continue;
    }
    if (start < edit.first) put(start, owner);
    Ref taken = owner;
    if (edit.deeper) {
      taken = edit_deeper(owner, edit);
    } else if (tag_of(owner) == Tag::kLeaf) {
      taken = replace_owner(owner, edit);
    } else {
      replace_owners_below(owner, edit);
    }
    put(std::max(start, edit.first), taken);
    if (edit.last < end) put(edit.last + 1, owner);
  }
  if (after == before) return ref;
  edit.boundaries_added +=
      static_cast<std::int64_t>(after.size()) - static_cast<std::int64_t>(before.size());
  const Ref built = build(after, region);
  dispose(ref);
  return built;
}

IntervalTrie::Ref IntervalTrie::edit_direct(Ref ref, const Region& region, const Edit& edit) {
  const unsigned index_bits = index_bits_of(ref);
  const std::uint32_t base = base_of(ref);
  const unsigned part_bits = region.bits - index_bits;
  const std::uint32_t first = (std::max(edit.first, region.low) - region.low) >> part_bits;
  const std::uint32_t last = (std::min(edit.last, region.high()) - region.low) >> part_bits;
  const auto added_before = edit.boundaries_added;
  for (std::uint32_t i = first; i <= last; ++i) {
    auto& place = direct_[base + i];
    const Ref before = place.load(std::memory_order_relaxed);
    const Ref after = this->edit(before, region.part(i, index_bits), edit);
    if (after != before)
      place.store(after, std::memory_order_release);  // pairs with the acquire in finish()
  }
  auto& shape = direct_shapes_[base];
  shape.boundaries += edit.boundaries_added - added_before;
  ++shape.edits;
  const auto entries = std::size_t{1} << index_bits;
  const bool crowded =
      shape.boundaries > static_cast<std::int64_t>(entries * kIntervalsPerEntryMax) &&
      index_bits < std::min(DirectPool::kOrderMax, region.bits);
  if (!crowded && shape.edits < entries) return ref;
  shape.edits = 0;
  return reshape(ref, region);
}

// Looks at how full a direct node has become and spreads it anew where another width fits better.
IntervalTrie::Ref IntervalTrie::reshape(Ref ref, const Region& region) {
  Intervals intervals;
  collect(ref, region.low, region, intervals);
  const unsigned wanted = suggested_index_bits(intervals.size(), region.bits);
  const unsigned present = index_bits_of(ref);
  const bool fits =
      intervals.size() >= kBucketMin && wanted + 1 >= present && wanted <= present + 1;
  if (fits) return ref;
  const Ref built = build(intervals, region);
  dispose(ref);
  return built;
}

// `owner` answers for one value of a chunk, of which the prefix covers a part: the edit goes on in the next chunk.
IntervalTrie::Ref IntervalTrie::edit_deeper(Ref owner, const Edit& edit) {
  const Edit below = edit.at(edit.position + kChunkBits);
  const Region region{.low = 0, .bits = kChunkBits, .position = below.position};
  const bool was_deeper = tag_of(owner) == Tag::kDeeper;
  const Ref root =
      was_deeper ? direct_ref(Tag::kDirect, index_bits_of(owner), base_of(owner)) : owner;
  const Ref edited = this->edit(root, region, below);
  Intervals intervals;
  collect(edited, 0, region, intervals);
  if (intervals.size() == 1 && tag_of(intervals[0].ref) == Tag::kLeaf) {
    dispose(edited);
    return intervals[0].ref;
  }
  Ref direct = edited;
  if (tag_of(edited) !=
      Tag::
          kDirect) {  // few intervals: a narrow direct node all the same, so that `deeper` names one
    direct = build_direct(intervals, region, DirectPool::kOrderMin);
    dispose(edited);
  }
  return direct_ref(Tag::kDeeper, index_bits_of(direct), base_of(direct));
}

// ---- Building and taking apart

// The intervals below a reference, neighbors with one owner merged.
void IntervalTrie::collect(Ref ref, std::uint32_t start, const Region& region,
                           Intervals& out) const {
  switch (tag_of(ref)) {
    case Tag::kLeaf:
    case Tag::kDeeper:
      if (out.empty() || out.back().ref != ref) out.push_back({start, ref});
      return;
    case Tag::kSearch: {
      const SearchNode& node = nodes_[ref & kPayload];
      Ref previous = node.refs[0].load(std::memory_order_relaxed);
      collect(previous, start, region, out);
      for (std::size_t i = 1; i < kFanOut; ++i) {
        const Ref below = node.refs[i].load(std::memory_order_relaxed);
        if (below == previous) continue;  // unused places repeat the last reference
        collect(below, static_cast<std::uint32_t>(node.separators[i - 1]) ^ kBias, region, out);
        previous = below;
      }
      return;
    }
    case Tag::kDirect: {
      const unsigned index_bits = index_bits_of(ref);
      for (std::uint32_t i = 0; i < 1U << index_bits; ++i) {
        const Region part = region.part(i, index_bits);
        collect(direct_[base_of(ref) + i].load(std::memory_order_relaxed), part.low, part, out);
      }
      return;
    }
  }
}

IntervalTrie::Ref IntervalTrie::build(std::span<const Interval> intervals, const Region& region) {
  if (intervals.size() == 1) return intervals[0].ref;
  if (intervals.size() <= kBucketMax || region.bits < DirectPool::kOrderMin)
    return build_search(intervals);
  return build_direct(intervals, region, suggested_index_bits(intervals.size(), region.bits));
}

// One search node, or as few levels of evenly filled ones as it takes.
IntervalTrie::Ref IntervalTrie::build_search(std::span<const Interval> intervals) {
  Intervals level(intervals.begin(), intervals.end());
  while (level.size() > 1) {
    Intervals above;
    const std::size_t node_count = (level.size() + kFanOut - 1) / kFanOut;
    std::size_t taken = 0;
    for (std::size_t n = 0; n < node_count; ++n) {
      const std::size_t count = (level.size() - taken) / (node_count - n);
      above.push_back(
          {level[taken].start, build_search_node(std::span(level).subspan(taken, count))});
      taken += count;
    }
    level.swap(above);
  }
  return level[0].ref;
}

IntervalTrie::Ref IntervalTrie::build_search_node(std::span<const Interval> intervals) {
  if (intervals.size() == 1) return intervals[0].ref;
  const auto index = nodes_.allocate();
  SearchNode& node = nodes_[index];
  for (std::size_t i = 0; i < kFanOut; ++i) {
    const auto& interval = intervals[std::min(i, intervals.size() - 1)];
    // Relaxed: published with the release store of the reference to this node.
    node.refs[i].store(interval.ref, std::memory_order_relaxed);
    const bool used = i + 1 < intervals.size();
    node.separators[i] =
        used ? static_cast<std::int32_t>(intervals[i + 1].start ^ kBias) : kSeparatorUnused;
  }
  return make_ref(Tag::kSearch, index);
}

IntervalTrie::Ref IntervalTrie::build_direct(std::span<const Interval> intervals,
                                             const Region& region, unsigned index_bits) {
  const std::uint32_t base = direct_.allocate(index_bits);
  std::int64_t boundaries = 0;
  std::size_t at = 0;  // the interval that holds the start of the part
  Intervals part_intervals;
  for (std::uint32_t i = 0; i < 1U << index_bits; ++i) {
    const Region part = region.part(i, index_bits);
    while (at + 1 < intervals.size() && intervals[at + 1].start <= part.low) ++at;
    part_intervals.assign(1, {part.low, intervals[at].ref});
    for (std::size_t next = at + 1; next < intervals.size() && intervals[next].start <= part.high();
         ++next) {
      part_intervals.push_back(intervals[next]);
    }
    boundaries += static_cast<std::int64_t>(part_intervals.size()) - 1;
    direct_[base + i].store(build(part_intervals, part),
                            std::memory_order_relaxed);  // published with the node
  }
  direct_shapes_[base] = {.boundaries = boundaries, .edits = 0};
  return direct_ref(Tag::kDirect, index_bits, base);
}

// Gives back the nodes of this chunk below a reference. What hangs deeper has been taken over.
void IntervalTrie::dispose(Ref ref) {
  if (tag_of(ref) == Tag::kSearch) {
    const auto& refs = nodes_[ref & kPayload].refs;
    Ref previous = refs[0].load(std::memory_order_relaxed);
    dispose(previous);
    for (std::size_t i = 1; i < kFanOut; ++i) {
      const Ref below = refs[i].load(std::memory_order_relaxed);
      if (below != previous) dispose(below);
      previous = below;
    }
    nodes_.retire(ref & kPayload);
  } else if (tag_of(ref) == Tag::kDirect) {
    const std::uint32_t base = base_of(ref);
    for (std::uint32_t i = 0; i < 1U << index_bits_of(ref); ++i) {
      dispose(direct_[base + i].load(std::memory_order_relaxed));
    }
    direct_shapes_.erase(base);
    direct_.retire(base, index_bits_of(ref));
  }
}

IntervalTrie::Size IntervalTrie::size() const noexcept {
  return {
      .prefixes = prefix_count_,
      .lookup_bytes = kTopCount * sizeof(Ref) + nodes_.used_bytes() + direct_.used_bytes(),
      .leaf_bytes = leaves_.used_bytes(),
      .waiting_bytes = nodes_.waiting_bytes() + direct_.waiting_bytes() + leaves_.waiting_bytes()};
}

}  // namespace sidestep::fib
