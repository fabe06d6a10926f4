// SPDX-License-Identifier: Apache-2.0
//
// Prefixes are nested or disjoint, so in the order of (first address, length) a prefix comes right after those that cover
// it. One pass with a stack of the prefixes that are open at the current address yields the intervals: one starts where
// a prefix starts, and one where it ends and the next shorter one takes over again.
#include "bench/longest_match.hpp"

#include <algorithm>
#include <numeric>

namespace sidestep::bench {
namespace {

struct Open {
  Number last;
  Found found;
};

}  // namespace

void LongestMatch::start_interval(Number start, Found found) {
  if (!intervals_.empty() && intervals_.back().start == start) {
    intervals_.back().found =
        found;  // a longer prefix at the same address, or one right after another
  } else {
    intervals_.push_back({start, found});
  }
}

LongestMatch::LongestMatch(std::span<const net::Prefix> prefixes, unsigned longest) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < prefixes.size(); ++i) {
    if (prefixes[i].length() <= longest) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return prefixes[a] < prefixes[b]; });
  std::vector<Open> open;
  start_interval(0, kNothing);
  const auto close_until = [&](const Number* next) {
    while (!open.empty() && (next == nullptr || open.back().last < *next)) {
      const Number last = open.back().last;
      open.pop_back();
      if (last != ~Number{0}) {
        start_interval(last + 1, open.empty() ? kNothing : open.back().found);
      }
    }
  };
  for (const auto index : order) {
    const Number first = to_number(prefixes[index].address());
    close_until(&first);
    start_interval(first, index + 1);
    open.push_back({first | host_mask(prefixes[index].length()), index + 1});
  }
  close_until(nullptr);
  const auto same = [](const Interval& a, const Interval& b) { return a.found == b.found; };
  intervals_.erase(std::unique(intervals_.begin(), intervals_.end(), same), intervals_.end());
}

Found LongestMatch::find(const net::Ipv6Address& address) const noexcept {
  const auto after =
      std::upper_bound(intervals_.begin(), intervals_.end(), to_number(address),
                       [](Number number, const Interval& one) { return number < one.start; });
  return std::prev(after)->found;
}

}  // namespace sidestep::bench
