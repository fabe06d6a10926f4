// SPDX-License-Identifier: Apache-2.0
#include "bench/update_stream.hpp"

#include <algorithm>

#include <utility>

#include "bench/bits.hpp"

namespace sidestep::bench {
namespace {

net::Prefix take_out(std::vector<net::Prefix>& prefixes, std::size_t index) {
  std::swap(prefixes[index], prefixes.back());
  const net::Prefix prefix = prefixes.back();
  prefixes.pop_back();
  return prefix;
}

}  // namespace

UpdateStream::UpdateStream(std::span<const net::Prefix> start, std::uint64_t seed)
    : random_(seed), present_(start.begin(), start.end()), known_(start.begin(), start.end()) {}

net::Prefix UpdateStream::draw_new() {
  while (true) {
    const auto& around = present_[random_.below(present_.size())];
    const unsigned lowest = around.length() + 1U;
    if (lowest > 128) continue;
    const bool beyond_64 = random_.below(2) == 0;
    const unsigned first = beyond_64 ? std::max(lowest, 65U) : lowest;
    const unsigned last = beyond_64 ? 128 : std::max(lowest, 64U);
    const auto length = static_cast<std::uint8_t>(first + random_.below(last - first + 1));
    const Number bits = (Number{random_.next()} << 64) | random_.next();
    const net::Prefix prefix(
        to_address(to_number(around.address()) | (bits & host_mask(around.length()))), length);
    if (known_.insert(prefix).second) return prefix;
  }
}

Update UpdateStream::next() {
  if (random_.below(1000) == 0) {
    default_is_there_ = !default_is_there_;
    return {net::Prefix{}, default_is_there_};
  }
  if (random_.below(2) == 0 && present_.size() > 1) {
    gone_.push_back(take_out(present_, random_.below(present_.size())));
    return {gone_.back(), false};
  }
  const bool returns = !gone_.empty() && random_.below(16) != 0;
  present_.push_back(returns ? take_out(gone_, random_.below(gone_.size())) : draw_new());
  return {present_.back(), true};
}

std::vector<Update> UpdateStream::take(std::size_t count) {
  std::vector<Update> updates(count);
  for (auto& update : updates) update = next();
  return updates;
}

}  // namespace sidestep::bench
