// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <sidestep/net/address.hpp>
#include <sidestep/net/prefix.hpp>

#include "bench/bits.hpp"

namespace sidestep::bench {

/// What a lookup found: the index of the prefix plus one, or 0 for none.
using Found = std::uint32_t;
inline constexpr Found kNothing = 0;

/// The oracle: a set of prefixes as sorted, disjoint intervals, searched by halving. Shares no code with what it judges.
class LongestMatch {
 public:
  struct Interval {
    Number start;
    Found found;
  };

  /// @param longest  prefixes beyond this length are left out
  explicit LongestMatch(std::span<const net::Prefix> prefixes, unsigned longest = 128);
  [[nodiscard]] Found find(const net::Ipv6Address& address) const noexcept;
  /// Ascending; the first starts at 0; neighbors differ in what they found.
  [[nodiscard]] const std::vector<Interval>& intervals() const noexcept { return intervals_; }

 private:
  void start_interval(Number start, Found found);
  std::vector<Interval> intervals_;
};

}  // namespace sidestep::bench
