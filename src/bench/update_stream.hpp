// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

#include <sidestep/net/prefix.hpp>

#include "bench/random.hpp"

namespace sidestep::bench {

struct PrefixHash {
  std::size_t operator()(const net::Prefix& prefix) const noexcept {
    return std::hash<net::Ipv6Address>{}(prefix.address()) * 131 + prefix.length();
  }
};

/// One change of a set of prefixes.
struct Update {
  net::Prefix prefix;
  bool insert = false;
};

/// Random changes as a routing protocol makes them: prefixes of the table go and come back, now and then a new one appears
/// inside another, half of these beyond /64, and some changes are about ::/0. Erasing what is there and inserting what is not,
/// so that each change is work.
class UpdateStream {
 public:
  UpdateStream(std::span<const net::Prefix> start, std::uint64_t seed);
  Update next();
  std::vector<Update> take(std::size_t count);
  /// The set after all changes so far; ::/0, which is always there, left out.
  [[nodiscard]] const std::vector<net::Prefix>& present() const { return present_; }

 private:
  net::Prefix draw_new();
  Random random_;
  std::vector<net::Prefix> present_;
  std::vector<net::Prefix> gone_;
  std::unordered_set<net::Prefix, PrefixHash> known_;  // present or gone
  bool default_is_there_ = true;
};

}  // namespace sidestep::bench
