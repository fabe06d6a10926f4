// SPDX-License-Identifier: Apache-2.0
#include "bench/keys.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "bench/bits.hpp"
#include "bench/random.hpp"

namespace sidestep::bench {
namespace {

net::Ipv6Address inside(const net::Prefix& prefix, Random& random) {
  return to_address(to_number(prefix.address()) |
                    (random_bits(random) & host_mask(prefix.length())));
}

/// Draws ranks 0 … size - 1 with probability proportional to 1 / (rank + 1), by halving the cumulated sums.
class Zipf {
 public:
  explicit Zipf(std::size_t size) : sums_(size) {
    double sum = 0;
    for (std::size_t i = 0; i < size; ++i) sums_[i] = sum += 1.0 / static_cast<double>(i + 1);
  }
  std::size_t draw(Random& random) const {
    const double at = random.fraction() * sums_.back();
    const auto found = std::upper_bound(sums_.begin(), sums_.end(), at);
    return std::min(static_cast<std::size_t>(found - sums_.begin()), sums_.size() - 1);
  }

 private:
  std::vector<double> sums_;
};

/// Prefixes in random order: which of them are hot must have nothing to do with where they are.
std::vector<std::uint32_t> shuffled(std::size_t size, Random& random) {
  std::vector<std::uint32_t> order(size);
  std::iota(order.begin(), order.end(), 0U);
  for (std::size_t i = size; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

}  // namespace

const char* letter_of(KeyKind kind) noexcept {
  switch (kind) {
    case KeyKind::kPrefixes:
      return "a";
    case KeyKind::kUniform:
      return "b";
    case KeyKind::kZipf:
      return "c";
  }
  return "";
}

const char* words_of(KeyKind kind) noexcept {
  switch (kind) {
    case KeyKind::kPrefixes:
      return "random prefix, random host bits";
    case KeyKind::kUniform:
      return "uniform in 2000::/3";
    case KeyKind::kZipf:
      return "Zipf over the prefixes";
  }
  return "";
}

HugeArray<net::Ipv6Address> make_keys(KeyKind kind, std::span<const net::Prefix> prefixes,
                                      std::size_t count, std::uint64_t seed) {
  Random random(seed);
  HugeArray<net::Ipv6Address> keys(count);
  if (kind == KeyKind::kUniform) {
    const Number top = Number{1} << 125;
    for (auto& key : keys.span()) key = to_address(top | (random_bits(random) >> 3));
    return keys;
  }
  if (kind == KeyKind::kPrefixes) {
    for (auto& key : keys.span()) key = inside(prefixes[random.below(prefixes.size())], random);
    return keys;
  }
  const auto order = shuffled(prefixes.size(), random);
  const Zipf zipf(prefixes.size());
  for (auto& key : keys.span()) key = inside(prefixes[order[zipf.draw(random)]], random);
  return keys;
}

}  // namespace sidestep::bench
