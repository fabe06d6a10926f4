// SPDX-License-Identifier: Apache-2.0
// Longest-prefix match on intervals.
//
// The 128 bits of an address are cut into a first part of 16 bits and chunks of 32 (positions 16, 48, 80; the last, at
// 112, has 16 bits and is padded). The first part indexes an array. Within a chunk the prefixes cut the line 0..2^32-1
// into intervals, each owned by the longest prefix that covers it, and a lookup finds the interval of its key:
//
//   reference        meaning
//   leaf  id         this interval is owned by prefix number `id`
//   direct k, line   index an array of 2^k references by the chunk's next k bits
//   search node      a cache line of seven separators and eight references: count the separators not above the key
//   deeper k, line   some prefix goes on behind this chunk: a direct node over the next chunk
//
// A run of a few intervals is a bucket: one search node, or one over several. Where there are more, a direct node spreads
// them, and buckets (or further direct nodes) hang below. How wide a direct node is follows from what each width would cost,
// in steps of lookups and in memory (best_shape()): memory beyond the nearest cache is what lookups wait for. Most addresses
// of a real table meet the first array, one to three direct nodes and at most two search nodes.
//
// A prefix that is put in takes over, inside its range, the intervals of the next shorter prefix, and one that is taken
// out gives them back; both are the same edit with `from` and `to` exchanged. The owner of an interval knows its next
// shorter prefix (parent), so an edit needs no other structure. Intervals that change hands whole are changed by one
// store; a bucket that gains or loses a boundary is built again and replaces the old one by one store, and the old one
// waits for a grace period. Each address therefore goes from the old owner to the new one once, and no reader waits.
#include "fib/interval_trie.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include <sidestep/assert.hpp>

#include "fib/interval_lookup.hpp"

namespace sidestep::fib {
namespace {

constexpr std::size_t kTopCount = std::size_t{1} << kTrieTopBits;
constexpr std::size_t kFanOut = SearchNode::kFanOut;

// Bounds that decide the shape, measured on a real table: see docs/bench.md.
constexpr std::size_t kBucketMax = 64;               // intervals; more become a direct node
constexpr std::size_t kBucketMost = kBucketMax + 4;  // while it is edited, before it becomes one
constexpr std::size_t kBucketMin = 12;     // a direct node with fewer becomes a bucket again
constexpr double kCostOfLine = 2.5;        // in steps of a lookup, one for each interval
constexpr double kWorthReshaping = 1.125;  // a shape that costs more is built anew
constexpr std::size_t kEditsPerEntry = 4;  // after which a direct node is looked at in any case

constexpr std::size_t kLinesMax = std::size_t{1} << LinePool::kLineBits;
constexpr std::size_t kLeavesMax = std::size_t{1} << 24;

using Tag = TrieTag;

constexpr Tag tag_of(TrieRef ref) { return trie_tag_of(ref); }
constexpr unsigned index_bits_of(TrieRef ref) { return trie_index_bits_of(ref); }
constexpr std::uint32_t line_of(TrieRef ref) { return trie_payload_of(ref); }
constexpr LeafId leaf_of(TrieRef ref) { return trie_payload_of(ref); }
constexpr TrieRef leaf_ref(LeafId leaf) { return trie_leaf_ref(leaf); }
constexpr TrieRef search_ref(std::uint32_t line) { return line << kTriePayloadShift; }
constexpr TrieRef direct_ref(unsigned index_bits, std::uint32_t line) {
  return (line << kTriePayloadShift) | index_bits;
}
// The same array, seen from outside its chunk, and back.
constexpr TrieRef deeper_of(TrieRef direct) { return direct | kTrieDeeperBit; }
constexpr TrieRef direct_of(TrieRef deeper) { return deeper & ~kTrieDeeperBit; }

// A line holds sixteen references, so an array has at least as many.
constexpr unsigned kIndexBitsMin = 4;
constexpr unsigned kIndexBitsMax = kIndexBitsMin + LinePool::kOrderMax;
constexpr unsigned order_of(unsigned index_bits) { return index_bits - kIndexBitsMin; }

std::uint32_t top_of(const net::Ipv6Address& address) {
  return (std::uint32_t{address.bytes[0]} << 8) | address.bytes[1];
}

// The first address behind a prefix; empty behind the last one of all.
std::optional<net::Ipv6Address> after_last_address(const net::Prefix& prefix) {
  net::Ipv6Address address = prefix.address();
  unsigned carry = 1;
  for (unsigned byte = 16; byte-- > 0 && carry != 0;) {
    const unsigned first_bit = byte * 8;
    if (first_bit >= prefix.length()) continue;  // host bits are zero, and stay so
    const unsigned bits = prefix.length() - first_bit;
    const unsigned unit = bits >= 8 ? 1U : 1U << (8 - bits);
    const unsigned sum = address.bytes[byte] + unit;
    address.bytes[byte] = static_cast<std::uint8_t>(sum);
    carry = sum >> 8;
  }
  if (carry != 0) return std::nullopt;
  return address;
}

// Whether all bits from `position` on are zero.
bool ends_with_zeros(const net::Ipv6Address& address, unsigned position) {
  for (std::size_t byte = position / 8; byte < address.bytes.size(); ++byte)
    if (address.bytes[byte] != 0) return false;
  return true;
}

// What a shape costs: steps of lookups, one lookup for each interval, and memory in the same currency.

double cost_of_lines(double lines) { return lines * kCostOfLine; }

// Nodes over nodes.
double cost_of_two_levels(std::size_t intervals) {
  const auto count = static_cast<double>(intervals);
  return 2 * count + cost_of_lines(1 + count / kFanOut);
}

// What hangs below one entry of an array; of what will be an array in its turn, an estimate.
double cost_below_entry(std::size_t intervals) {
  const auto count = static_cast<double>(intervals);
  if (intervals <= 1) return 0;
  if (intervals <= kFanOut) return count + cost_of_lines(1);
  if (intervals <= kBucketMax) return cost_of_two_levels(intervals);
  return 3.5 * count + cost_of_lines(count / 4);
}

template <typename Intervals>
double cost_of_array(const Intervals& intervals, std::uint32_t low, unsigned region_bits,
                     unsigned index_bits) {
  const unsigned part_bits = region_bits - index_bits;
  double cost = static_cast<double>(intervals.size()) +
                cost_of_lines(static_cast<double>(1U << (index_bits - kIndexBitsMin)));
  std::size_t first = 0;
  for (std::size_t i = 1; i <= intervals.size(); ++i) {
    const bool ends = i == intervals.size() || (intervals[i].start - low) >> part_bits !=
                                                   (intervals[first].start - low) >> part_bits;
    if (!ends) continue;
    // An interval that began before the entry has a part in it.
    const bool begun = ((intervals[first].start - low) & ((1U << part_bits) - 1)) != 0;
    cost += cost_below_entry(i - first + (begun ? 1 : 0));
    first = i;
  }
  return cost;
}

struct Shape {
  unsigned index_bits = 0;  // 0: a bucket
  double cost = 0;
};

// The cheapest shape for intervals that fill no single node.
template <typename Intervals>
Shape best_shape(const Intervals& intervals, std::uint32_t low, unsigned region_bits) {
  const std::size_t count = intervals.size();
  const unsigned limit = std::min(kIndexBitsMax, region_bits);
  Shape best{.cost = std::numeric_limits<double>::infinity()};
  if (count <= kFanOut) {
    best.cost = cost_below_entry(count);
  } else if (count <= kBucketMax) {
    best.cost = cost_of_two_levels(count);
  }
  for (unsigned bits = kIndexBitsMin; bits <= limit; ++bits) {
    if (cost_of_lines(static_cast<double>(1U << (bits - kIndexBitsMin))) > best.cost) break;
    const double cost = cost_of_array(intervals, low, region_bits, bits);
    if (cost < best.cost) best = {bits, cost};
  }
  return best;
}

}  // namespace

// The intervals of a bucket, which are few, while it is edited.
class IntervalTrie::BucketIntervals {
 public:
  void push_back(const Interval& interval) {
    SIDESTEP_ASSERT(count_ < items_.size());
    items_[count_++] = interval;
  }
  [[nodiscard]] const Interval& back() const { return items_[count_ - 1]; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] std::span<const Interval> span() const { return {items_.data(), count_}; }
  bool operator==(const BucketIntervals& other) const {
    return std::ranges::equal(span(), other.span());
  }

 private:
  std::array<Interval, kBucketMost> items_;
  std::size_t count_ = 0;
};

// A stretch of a chunk that one reference answers for.
struct IntervalTrie::Region {
  std::uint32_t low = 0;
  unsigned bits = kTrieChunkBits;
  unsigned position = kTrieTopBits;

  [[nodiscard]] std::uint32_t high() const {
    return bits == kTrieChunkBits ? ~std::uint32_t{0} : low + ((1U << bits) - 1);
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
  unsigned position = kTrieTopBits;
  std::uint32_t first = 0;  // chunk values that the prefix covers
  std::uint32_t last = ~std::uint32_t{0};
  bool deeper = false;  // the prefix covers only a part of the one value first == last
  mutable std::int64_t boundaries_added = 0;

  [[nodiscard]] Edit at(unsigned chunk_position) const {
    Edit edit{.prefix = prefix, .from = from, .to = to, .position = chunk_position};
    if (prefix->length() <= chunk_position) return edit;
    edit.first = trie_chunk_of(prefix->address(), chunk_position);
    const unsigned bits = prefix->length() - chunk_position;
    edit.deeper = bits > kTrieChunkBits;
    edit.last = bits >= kTrieChunkBits ? edit.first : edit.first | (~std::uint32_t{0} >> bits);
    return edit;
  }
  [[nodiscard]] bool covers(const Region& region) const {
    return !deeper && first <= region.low && region.high() <= last;
  }
};

TriePools::TriePools()
    : lines(kLinesMax), leaves(kLeavesMax), values(kLeavesMax), shapes(kLinesMax) {
  const auto root = leaves.allocate();
  SIDESTEP_ASSERT(root == kRootLeaf);  // one for all tries: ::/0 and no parent
  // Lookups that stand at no node look at line 0 all the same.
  const auto spare = lines.allocate(0);
  SIDESTEP_ASSERT(spare == 0);
  // Memory of a pool that was never given out is zero.
  auto* const node = new (lines.line(spare)) SearchNode;
  node->self = 0;
  node->separators.fill(SearchNode::kUnused);
}

IntervalTrie::IntervalTrie() : IntervalTrie(std::make_shared<TriePools>()) {}

IntervalTrie::IntervalTrie(std::shared_ptr<TriePools> pools)
    : pools_(std::move(pools)), top_(kTopCount), values_(pools_->values.base()) {}

IntervalTrie::~IntervalTrie() = default;

LeafId IntervalTrie::allocate_leaf(const net::Prefix& prefix, LeafId parent, LeafValue value) {
  const auto leaf = pools_->leaves.allocate();
  TrieLeaf& record = pools_->leaves[leaf];
  record.prefix = prefix;
  // Published with the first reference to the leaf, both.
  record.parent.store(parent, std::memory_order_relaxed);
  values_[leaf].store(value, std::memory_order_relaxed);
  return leaf;
}

// ---- Lookup

void IntervalTrie::lookup_batch(std::span<const net::Ipv6Address> addresses,
                                std::span<LeafId> leaves) const noexcept {
  SIDESTEP_ASSERT(addresses.size() == leaves.size());
  lookup_batch(addresses.data(), sizeof(net::Ipv6Address), leaves);
}

void IntervalTrie::lookup_batch(const net::Ipv6Address* first, std::size_t stride,
                                std::span<LeafId> leaves) const noexcept {
  lookup_many(view(), first, stride, leaves.data(), leaves.size());
}

LeafId IntervalTrie::find(const net::Prefix& wanted) const noexcept {
  LeafId leaf = lookup(wanted.address());
  while (prefix(leaf).length() > wanted.length()) leaf = parent(leaf);
  return prefix(leaf) == wanted ? leaf : kRootLeaf;
}

// ---- Update

IntervalTrie::Inserted IntervalTrie::insert(const net::Prefix& added, LeafValue value) {
  LeafId above = lookup(added.address());
  while (prefix(above).length() > added.length()) above = parent(above);
  if (prefix(above).length() == added.length()) return {above, false};
  const LeafId leaf = allocate_leaf(added, above, value);
  apply(added, above, leaf);
  ++prefix_count_;
  return {leaf, true};
}

bool IntervalTrie::erase(const net::Prefix& gone) {
  const LeafId leaf = find(gone);
  if (leaf == kRootLeaf) return false;
  apply(gone, leaf, parent(leaf));
  pools_->leaves.retire(leaf);
  --prefix_count_;
  return true;
}

void IntervalTrie::apply(const net::Prefix& prefix, LeafId from, LeafId to) {
  const Edit edit = Edit{.prefix = &prefix, .from = from, .to = to}.at(kTrieTopBits);
  const std::uint32_t first = top_of(prefix.address());
  const std::uint32_t span =
      prefix.length() >= kTrieTopBits ? 1 : 1U << (kTrieTopBits - prefix.length());
  for (std::uint32_t top = first; top < first + span; ++top) {
    const Ref before = view().top_ref(top);
    const Ref after = this->edit(before, Region{}, edit);
    if (after != before)
      top_.base()[top].store(after,
                             std::memory_order_release);  // pairs with the acquire in lookup()
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
  adopt(leaf_of(ref), edit);
  return leaf_of(ref) == edit.from ? leaf_ref(edit.to) : ref;
}

// The topmost prefix between `owner` and `from` gets `to` as its next shorter one.
void IntervalTrie::adopt(LeafId owner, const Edit& edit) {
  LeafId leaf = owner;
  while (leaf != edit.from && leaf != edit.to) {
    const LeafId above = parent(leaf);
    if (above == edit.from)
      pools_->leaves[leaf].parent.store(edit.to,
                                        std::memory_order_relaxed);  // writers and tests read it
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
    SearchNode& at = node(ref);
    for (std::size_t i = 0; i < kFanOut; ++i) {
      // Unused places repeat the last reference; below it the work is done once.
      const Ref below = at.refs[i].load(std::memory_order_relaxed);
      const bool repeated = i != 0 && tag_of(below) != Tag::kLeaf &&
                            below == at.refs[i - 1].load(std::memory_order_relaxed);
      if (!repeated) replace_in(at.refs[i]);
    }
    return;
  }
  std::atomic<Ref>* const entries = array(ref);
  for (std::uint32_t i = 0; i < 1U << index_bits_of(ref); ++i) replace_in(entries[i]);
}

// The intervals from `low` to `high` as they are after the edit.
void IntervalTrie::rewrite(std::span<const Interval> before, std::uint32_t high, const Edit& edit,
                           BucketIntervals& after) {
  const auto put = [&after](std::uint32_t start, Ref owner) {
    if (after.empty() || after.back().ref != owner) after.push_back({start, owner});
  };
  for (std::size_t i = 0; i < before.size(); ++i) {
    const std::uint32_t start = before[i].start;
    const std::uint32_t end = i + 1 < before.size() ? before[i + 1].start - 1 : high;
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
}

// In a bucket of several lines: an edit that stays inside one line, and fits in, makes only that line anew.
bool IntervalTrie::edit_line(SearchNode& above, const Region& region, const Edit& edit) {
  const std::size_t at = rank_of(above, edit.first);
  if (edit.first < region.low || at != rank_of(above, edit.last)) return false;
  const Ref line = above.refs[at].load(std::memory_order_relaxed);
  if (tag_of(line) != Tag::kSearch) return false;
  const std::uint32_t low = at == 0 ? region.low : SearchNode::start_of(above.separators[at - 1]);
  const std::uint32_t high = at + 1 == kFanOut || above.separators[at] == SearchNode::kUnused
                                 ? region.high()
                                 : SearchNode::start_of(above.separators[at]) - 1;
  BucketIntervals before;
  collect(line, low, region, before);
  // What goes deeper is done once and for all, so it is not begun where it might not fit.
  if (before.size() > kFanOut || (edit.deeper && before.size() + 2 > kFanOut)) return false;
  BucketIntervals after;
  rewrite(before.span(), high, edit, after);
  if (after.size() > kFanOut) return false;
  if (after == before) return true;
  edit.boundaries_added +=
      static_cast<std::int64_t>(after.size()) - static_cast<std::int64_t>(before.size());
  const Ref made = build_search_node(after.span());
  // The unused places behind the last line repeat it.
  for (std::size_t i = at; i < kFanOut && above.refs[i].load(std::memory_order_relaxed) == line;
       ++i)
    above.refs[i].store(made, std::memory_order_release);  // pairs with the acquire of lookups
  dispose(line);
  return true;
}

IntervalTrie::Ref IntervalTrie::edit_bucket(Ref ref, const Region& region, const Edit& edit) {
  if (tag_of(ref) == Tag::kSearch && edit_line(node(ref), region, edit)) return ref;
  BucketIntervals before;
  collect(ref, region.low, region, before);
  BucketIntervals after;
  rewrite(before.span(), region.high(), edit, after);
  if (after == before) return ref;
  edit.boundaries_added +=
      static_cast<std::int64_t>(after.size()) - static_cast<std::int64_t>(before.size());
  const Ref built = build(after.span(), region);
  dispose(ref);
  return built;
}

IntervalTrie::Ref IntervalTrie::edit_direct(Ref ref, const Region& region, const Edit& edit) {
  const unsigned index_bits = index_bits_of(ref);
  std::atomic<Ref>* const entries = array(ref);
  const unsigned part_bits = region.bits - index_bits;
  const std::uint32_t first = (std::max(edit.first, region.low) - region.low) >> part_bits;
  const std::uint32_t last = (std::min(edit.last, region.high()) - region.low) >> part_bits;
  const auto added_before = edit.boundaries_added;
  for (std::uint32_t i = first; i <= last; ++i) {
    auto& place = entries[i];
    const Ref before = place.load(std::memory_order_relaxed);
    const Ref after = this->edit(before, region.part(i, index_bits), edit);
    if (after != before)
      place.store(after, std::memory_order_release);  // pairs with the acquire in finish()
  }
  DirectShape& shape = pools_->shapes.base()[line_of(ref)];
  shape.boundaries += static_cast<std::int32_t>(edit.boundaries_added - added_before);
  ++shape.edits;
  const bool crowded = shape.boundaries > 2 * shape.boundaries_seen + 16;
  const bool drained = shape.boundaries < shape.boundaries_seen / 2;
  const auto entry_count = std::size_t{1} << index_bits;
  if (!crowded && !drained && shape.edits < kEditsPerEntry * entry_count) return ref;
  shape.edits = 0;
  shape.boundaries_seen = shape.boundaries;
  return reshape(ref, region);
}

// Looks at how full a direct node has become and builds it anew where another shape is clearly better.
IntervalTrie::Ref IntervalTrie::reshape(Ref ref, const Region& region) {
  Intervals intervals;
  collect(ref, region.low, region, intervals);
  const bool fits = intervals.size() >= kBucketMin &&
                    cost_of_array(intervals, region.low, region.bits, index_bits_of(ref)) <=
                        best_shape(intervals, region.low, region.bits).cost * kWorthReshaping;
  if (fits) return ref;
  const Ref built = build(intervals, region);
  dispose(ref);
  return built;
}

// `owner` answers for one value of a chunk, of which the prefix covers a part: the edit goes on in the next chunk.
IntervalTrie::Ref IntervalTrie::edit_deeper(Ref owner, const Edit& edit) {
  const Edit below = edit.at(edit.position + kTrieChunkBits);
  const Region region{.low = 0, .bits = kTrieChunkBits, .position = below.position};
  const bool was_deeper = tag_of(owner) == Tag::kDeeper;
  const Ref root = was_deeper ? direct_of(owner) : owner;
  const Ref edited = this->edit(root, region, below);
  Intervals intervals;
  collect(edited, 0, region, intervals);
  if (intervals.size() == 1 && tag_of(intervals[0].ref) == Tag::kLeaf) {
    dispose(edited);
    return intervals[0].ref;
  }
  return make_deeper(edited, region);
}

// Few intervals become a narrow direct node all the same, so that `deeper` names one.
IntervalTrie::Ref IntervalTrie::make_deeper(Ref chunk, const Region& region) {
  Ref direct = chunk;
  if (tag_of(chunk) != Tag::kDirect) {
    Intervals intervals;
    collect(chunk, 0, region, intervals);
    direct = build_direct(intervals, region, kIndexBitsMin);
    dispose(chunk);
  }
  return deeper_of(direct);
}

// ---- Building and taking apart

// The intervals below a reference, neighbors with one owner merged.
template <typename Out>
void IntervalTrie::collect(Ref ref, std::uint32_t start, const Region& region, Out& out) const {
  switch (tag_of(ref)) {
    case Tag::kLeaf:
    case Tag::kDeeper:
      if (out.empty() || out.back().ref != ref) out.push_back({start, ref});
      return;
    case Tag::kSearch: {
      const SearchNode& at = node(ref);
      Ref previous = at.refs[0].load(std::memory_order_relaxed);
      collect(previous, start, region, out);
      for (std::size_t i = 1; i < kFanOut; ++i) {
        const Ref below = at.refs[i].load(std::memory_order_relaxed);
        if (below == previous) continue;  // unused places repeat the last reference
        collect(below, SearchNode::start_of(at.separators[i - 1]), region, out);
        previous = below;
      }
      return;
    }
    case Tag::kDirect: {
      const unsigned index_bits = index_bits_of(ref);
      for (std::uint32_t i = 0; i < 1U << index_bits; ++i) {
        const Region part = region.part(i, index_bits);
        collect(array(ref)[i].load(std::memory_order_relaxed), part.low, part, out);
      }
      return;
    }
  }
}

// The whole of an empty trie: prefixes in order, and a stack of those that are open.
std::vector<LeafId> IntervalTrie::build_from(std::span<const net::Prefix> prefixes,
                                             std::span<const LeafValue> values) {
  SIDESTEP_ASSERT(prefix_count_ == 1 && (values.empty() || values.size() == prefixes.size()));
  std::vector<std::uint32_t> order(prefixes.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return prefixes[a] < prefixes[b]; });
  std::vector<LeafId> numbers(prefixes.size(), kRootLeaf);
  std::vector<WideInterval> intervals{{net::Ipv6Address{}, kRootLeaf}};
  std::vector<LeafId> open{kRootLeaf};
  const auto begin = [&](const net::Ipv6Address& start, LeafId leaf) {
    if (intervals.back().start == start) intervals.pop_back();
    if (intervals.empty() || intervals.back().leaf != leaf) intervals.push_back({start, leaf});
  };
  // Closes prefixes that do not cover `next`; nullptr: all of them.
  const auto close_before = [&](const net::Prefix* next) {
    while (open.size() > 1 && !(next != nullptr && prefix(open.back()).covers(*next))) {
      const auto behind = after_last_address(prefix(open.back()));
      open.pop_back();
      if (behind) begin(*behind, open.back());
    }
  };
  for (const std::uint32_t i : order) {
    close_before(&prefixes[i]);
    const bool repeated = prefix(open.back()) == prefixes[i];
    if (!repeated) {
      const LeafId leaf = allocate_leaf(prefixes[i], open.back(), values.empty() ? 0 : values[i]);
      open.push_back(leaf);
      begin(prefixes[i].address(), leaf);
      ++prefix_count_;
    } else if (prefixes[i].length() == 0 && !values.empty() && i == order.front()) {
      set_value(kRootLeaf, values[i]);
    }
    numbers[i] = open.back();
  }
  close_before(nullptr);
  build_top(intervals);
  return numbers;
}

void IntervalTrie::build_top(std::span<const WideInterval> intervals) {
  LeafId before = kRootLeaf;  // owner of the addresses below the first interval of a part
  std::size_t at = 0;
  for (std::size_t top = 0; top < kTopCount; ++top) {
    const std::size_t first = at;
    while (at < intervals.size() && top_of(intervals[at].start) == top) ++at;
    const auto part = intervals.subspan(first, at - first);
    const Ref ref = part.empty() ? leaf_ref(before) : build_chunk(part, before, kTrieTopBits);
    // Pairs with the acquire in lookup_one(); what is root already stays an untouched page.
    if (ref != leaf_ref(kRootLeaf)) top_.base()[top].store(ref, std::memory_order_release);
    if (!part.empty()) before = part.back().leaf;
  }
}

// Intervals that begin inside one value of all chunks before `position`.
IntervalTrie::Ref IntervalTrie::build_chunk(std::span<const WideInterval> wide, LeafId before,
                                            unsigned position) {
  Intervals intervals;
  const auto put = [&](std::uint32_t start, Ref ref) {
    if (!intervals.empty() && intervals.back().start == start) intervals.pop_back();
    if (intervals.empty() || intervals.back().ref != ref) intervals.push_back({start, ref});
  };
  put(0, leaf_ref(before));
  for (std::size_t at = 0; at < wide.size();) {
    const std::uint32_t chunk = trie_chunk_of(wide[at].start, position);
    const std::size_t first = at;
    while (at < wide.size() && trie_chunk_of(wide[at].start, position) == chunk) ++at;
    const auto part = wide.subspan(first, at - first);
    const bool whole =
        part.size() == 1 && ends_with_zeros(part[0].start, position + kTrieChunkBits);
    const LeafId last = part.back().leaf;
    if (whole) {
      put(chunk, leaf_ref(last));
    } else {
      const Region below{.low = 0, .bits = kTrieChunkBits, .position = position + kTrieChunkBits};
      put(chunk, make_deeper(build_chunk(part, before, below.position), below));
      if (chunk != ~std::uint32_t{0}) put(chunk + 1, leaf_ref(last));
    }
    before = last;
  }
  const Region region{.low = 0, .bits = kTrieChunkBits, .position = position};
  return build(intervals, region);
}

IntervalTrie::Ref IntervalTrie::build(std::span<const Interval> intervals, const Region& region) {
  if (intervals.size() <= kFanOut) return build_search_node(intervals);
  const Shape shape = best_shape(intervals, region.low, region.bits);
  return shape.index_bits == 0 ? build_search(intervals)
                               : build_direct(intervals, region, shape.index_bits);
}

// One search node over evenly filled ones of one line.
IntervalTrie::Ref IntervalTrie::build_search(std::span<const Interval> intervals) {
  SIDESTEP_ASSERT(intervals.size() <= kBucketMost);
  const std::size_t node_count = (intervals.size() + kFanOut - 1) / kFanOut;
  BucketIntervals above;
  std::size_t taken = 0;
  for (std::size_t n = 0; n < node_count; ++n) {
    const std::size_t count = (intervals.size() - taken) / (node_count - n);
    above.push_back({intervals[taken].start, build_search_node(intervals.subspan(taken, count))});
    taken += count;
  }
  return build_search_node(above.span());
}

IntervalTrie::Ref IntervalTrie::build_search_node(std::span<const Interval> intervals) {
  if (intervals.size() == 1) return intervals[0].ref;
  SIDESTEP_ASSERT(intervals.size() <= kFanOut);
  const auto line = pools_->lines.allocate(0);
  auto* const made = new (pools_->lines.line(line)) SearchNode;
  made->self = search_ref(line);
  for (std::size_t i = 0; i < kFanOut; ++i) {
    const auto& interval = intervals[std::min(i, intervals.size() - 1)];
    // Relaxed: published with the release store of the reference to this node.
    made->refs[i].store(interval.ref, std::memory_order_relaxed);
    if (i + 1 == kFanOut) break;
    const bool used = i + 1 < intervals.size();
    made->separators[i] =
        used ? SearchNode::separator(intervals[i + 1].start) : SearchNode::kUnused;
  }
  return search_ref(line);
}

IntervalTrie::Ref IntervalTrie::build_direct(std::span<const Interval> intervals,
                                             const Region& region, unsigned index_bits) {
  const std::uint32_t line = pools_->lines.allocate(order_of(index_bits));
  auto* const entries = reinterpret_cast<std::atomic<Ref>*>(pools_->lines.line(line));
  std::int32_t boundaries = 0;
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
    boundaries += static_cast<std::int32_t>(part_intervals.size()) - 1;
    new (entries + i) std::atomic<Ref>(build(part_intervals, part));  // published with the array
  }
  pools_->shapes.base()[line] = {.boundaries = boundaries, .boundaries_seen = boundaries};
  return direct_ref(index_bits, line);
}

// Gives back the nodes of this chunk below a reference. What hangs deeper has been taken over.
void IntervalTrie::dispose(Ref ref) {
  const auto dispose_node = [this](Ref below) {
    if (tag_of(below) == Tag::kSearch || tag_of(below) == Tag::kDirect) dispose(below);
  };
  if (tag_of(ref) == Tag::kSearch) {
    const SearchNode& at = node(ref);
    Ref previous = leaf_ref(kRootLeaf);
    for (std::size_t i = 0; i < kFanOut; ++i) {
      const Ref below = at.refs[i].load(std::memory_order_relaxed);
      if (below != previous) dispose_node(below);
      previous = below;
    }
    pools_->lines.retire(line_of(ref), 0);
  } else if (tag_of(ref) == Tag::kDirect) {
    const std::atomic<Ref>* entries = array(ref);
    for (std::uint32_t i = 0; i < 1U << index_bits_of(ref); ++i)
      dispose_node(entries[i].load(std::memory_order_relaxed));
    pools_->lines.retire(line_of(ref), order_of(index_bits_of(ref)));
  }
}

// Everything below a reference, also what hangs deeper.
void IntervalTrie::release_below(Ref ref, std::vector<LeafId>& leaves) {
  switch (tag_of(ref)) {
    case Tag::kLeaf:
      if (leaf_of(ref) != kRootLeaf) leaves.push_back(leaf_of(ref));
      return;
    case Tag::kSearch: {
      const SearchNode& at = node(ref);
      Ref previous = leaf_ref(kRootLeaf);
      for (std::size_t i = 0; i < kFanOut; ++i) {
        const Ref below = at.refs[i].load(std::memory_order_relaxed);
        if (below != previous) release_below(below, leaves);
        previous = below;
      }
      pools_->lines.retire(line_of(ref), 0);
      return;
    }
    case Tag::kDirect:
    case Tag::kDeeper:
      break;
  }
  std::atomic<Ref>* const entries = array(ref);
  for (std::uint32_t i = 0; i < 1U << index_bits_of(ref); ++i)
    release_below(entries[i].load(std::memory_order_relaxed), leaves);
  pools_->lines.retire(line_of(ref), order_of(index_bits_of(ref)));
}

void IntervalTrie::release() {
  if (prefix_count_ == 1) return;
  std::vector<LeafId> leaves;
  for (std::size_t top = 0; top < kTopCount; ++top) release_below(view().top_ref(top), leaves);
  // A leaf owns many intervals; a covered one may own none, and is found through those that it covers.
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (parent(leaves[i]) != kRootLeaf && (i == 0 || leaves[i] != leaves[i - 1]))
      leaves.push_back(parent(leaves[i]));
  }
  std::sort(leaves.begin(), leaves.end());
  leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
  for (const LeafId leaf : leaves) pools_->leaves.retire(leaf);
  prefix_count_ = 1;
}

IntervalTrie::Size IntervalTrie::size() const noexcept {
  return {.prefixes = prefix_count_,
          .lookup_bytes = kTopCount * sizeof(Ref) + pools_->lines.used_bytes(),
          .leaf_bytes = pools_->leaves.used_bytes(),
          .waiting_bytes = pools_->lines.waiting_bytes() + pools_->leaves.waiting_bytes()};
}

}  // namespace sidestep::fib
