// SPDX-License-Identifier: Apache-2.0
//
// PlanB as published: the prefixes up to /64 become sorted interval boundaries on the upper 64 bits, and these an implicit
// 9-ary tree of nodes of 64 bytes, eight separators each, searched with a compare and a population count per level. No
// pointers are stored: the children of node i are 9 i + 1 … 9 i + 9. All levels but the last are full; a child number
// beyond the last node is a value. An update rebuilds everything.
//
// The layout is theirs, the code is ours and made as fast as we can: huge pages, several keys in flight with prefetches,
// and the number of keys chosen by a trial on this machine. What it leaves out, and we do not, is every prefix beyond /64.
#include "bench/peers/planb.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "bench/machine.hpp"

namespace sidestep::bench {
namespace {

struct Boundary {
  std::int64_t start;  // biased
  Found found;
};

std::vector<Boundary> boundaries_of(std::span<const net::Prefix> prefixes) {
  const LongestMatch match(prefixes, 64);
  std::vector<Boundary> boundaries;
  for (const auto& interval : match.intervals()) {
    const auto upper = static_cast<std::uint64_t>(interval.start >> 64);
    boundaries.push_back(
        {static_cast<std::int64_t>(upper ^ (std::uint64_t{1} << 63)), interval.found});
  }
  return boundaries;
}

/// Fills the tree in order: the values and separators that an in-order walk meets are the intervals from left to right.
class Filler {
 public:
  Filler(const std::vector<Boundary>& boundaries, std::uint32_t nodes,
         HugeArray<std::int64_t>& keys, HugeArray<std::uint32_t>& values)
      : boundaries_(boundaries), nodes_(nodes), keys_(keys), values_(values) {}

  void fill(std::uint32_t node) {
    if (node >= nodes_) {
      values_[node - nodes_] = boundaries_[at_].found;
      return;
    }
    for (std::uint32_t i = 0; i < 9; ++i) {
      fill(node * 9 + 1 + i);
      if (i == 8) break;
      const bool more = at_ + 1 < boundaries_.size();
      if (more) ++at_;
      keys_[node * std::size_t{8} + i] =
          more ? boundaries_[at_].start : std::numeric_limits<std::int64_t>::max();
    }
  }

 private:
  const std::vector<Boundary>& boundaries_;
  std::uint32_t nodes_;
  HugeArray<std::int64_t>& keys_;
  HugeArray<std::uint32_t>& values_;
  std::size_t at_ = 0;
};

/// Levels that are complete, the root among them.
std::uint32_t full_levels(std::uint32_t nodes) {
  std::uint32_t levels = 1;
  std::uint64_t until = 1;  // nodes of this level and those above
  for (std::uint64_t width = 9; until + width <= nodes; width *= 9) {
    until += width;
    ++levels;
  }
  return levels;
}

auto raw(Keys keys) { return reinterpret_cast<const std::uint8_t(*)[16]>(keys.data()); }

}  // namespace

Planb::Planb(std::span<const net::Prefix> prefixes, std::size_t burst, const PlanbKernel& kernel)
    : kernel_(&kernel), variant_(&kernel.variants[2]), buffer_(burst) {
  const auto boundaries = boundaries_of(prefixes);
  const std::size_t separators = boundaries.size() - 1;
  const auto nodes = static_cast<std::uint32_t>(std::max<std::size_t>((separators + 7) / 8, 1));
  keys_ = HugeArray<std::int64_t>(std::size_t{nodes} * 8);
  values_ = HugeArray<std::uint32_t>(std::size_t{nodes} * 8 + 1);
  Filler(boundaries, nodes, keys_, values_).fill(0);
  tree_ = {keys_.data(), values_.data(), nodes, full_levels(nodes)};
}

std::string Planb::name() const {
  return fmt::format("PlanB layout, {}, {}", kernel_->name, variant_->name);
}

void Planb::batched(Keys keys, std::span<Found> answers) {
  batched_pass(
      keys, answers, std::span(buffer_),
      [this](Keys burst, std::span<Found> found) {
        variant_->bulk(tree_, raw(burst), burst.size(), found.data());
      },
      [](Found found) { return found; });
}

void Planb::one_by_one(Keys keys, std::span<Found> answers) {
  if (answers.empty()) {
    keep(kernel_->sum(tree_, raw(keys), keys.size()));
  } else {
    kernel_->one_by_one(tree_, raw(keys), keys.size(), answers.data());
  }
}

void Planb::chain(Keys keys) { keep(kernel_->chain(tree_, raw(keys), keys.size())); }

void Planb::tune(Keys keys) {
  Rounds rounds;
  for (std::size_t i = 0; i < kernel_->variant_count; ++i) {
    rounds.add(keys.size(), [this, i, keys] {
      choose(i);
      batched(keys, {});
    });
  }
  const auto timings = rounds.run(5);
  const auto best =
      std::min_element(timings.begin(), timings.end(),
                       [](const Timing& a, const Timing& b) { return a.minimum < b.minimum; });
  choose(static_cast<std::size_t>(best - timings.begin()));
}

std::vector<const PlanbKernel*> planb_kernels() {
  std::vector<const PlanbKernel*> kernels;
#if defined(__x86_64__)
  if (has_avx512()) kernels.push_back(&kPlanbAvx512);
  if (has_avx2()) kernels.push_back(&kPlanbAvx2);
#endif
  kernels.push_back(&kPlanbScalar);
  return kernels;
}

}  // namespace sidestep::bench
