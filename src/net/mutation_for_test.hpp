// SPDX-License-Identifier: Apache-2.0
// Packets for property tests: a corpus of every kind of chain, and mutations of it from a seed. A mutated packet is in a
// heap block of exactly its size, so that a sanitizer sees the first byte read beyond it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "net/bytes_for_test.hpp"

namespace sidestep::net::test {

[[nodiscard]] inline std::vector<Bytes> corpus() {
  const Bytes data = udp(1000, 2000, {1, 2, 3, 4});
  const Bytes last = srh({.segments_left = 1, .segments = {"2001:db8:9::9", "fc00::1"}});
  const Bytes used_up = srh({.next_header = 43, .segments_left = 0, .segments = {"fc00::1"}});
  const Bytes hmac = concat(Bytes{5, 38}, zeros(38));
  return {
      ipv6({.next_header = 17}, data),
      ipv6({.next_header = 59}),
      ipv6({.next_header = 58}, icmpv6(128, 0, 7, {1, 2, 3}, "2001:db8:a::2", "2001:db8:b::2")),
      ipv6({.next_header = 43}, last, data),
      ipv6({.next_header = 43},
           srh({.segments_left = 3, .segments = {"fc00::4", "fc00::3", "fc00::2", "fc00::1"}}),
           data),
      ipv6({.next_header = 43},
           srh({.segments_left = 1, .segments = {"fc00::2"}, .tlvs = {4, 6, 0, 0, 0, 0, 0, 0}}),
           data),
      ipv6({.next_header = 43},
           srh({.segments_left = 1, .segments = {"fc00::2"}, .tlvs = hmac, .flags = 8}), data),
      ipv6({.next_header = 43}, used_up, last, data),
      ipv6({.next_header = 43}, srh({.next_header = 41, .segments = {"fc00::1"}}), ipv6({}, data)),
      ipv6({.next_header = 0}, options(43, {5, 2, 0, 0, 0x1e, 3, 1, 2, 3}), last, data),
      ipv6({.next_header = 60}, options(60), options(43), last, data),
      ipv6({.next_header = 44}, fragment(43, 0, true), last, data),
      ipv6({.next_header = 44}, fragment(17, 1480, false), data),
      ipv6({.next_header = 51}, authentication(43), last, data),
      ipv6({.next_header = 0}, options(60), options(44), fragment(51, 0, false), authentication(43),
           used_up, last, data),
  };
}

/// One packet of the corpus with a few bytes changed, most of them where lengths, types and counts are, and sometimes cut.
class Mutator {
 public:
  explicit Mutator(std::uint32_t seed) : random_(seed), corpus_(corpus()) {}

  [[nodiscard]] Bytes next() {
    Bytes bytes = corpus_[below(corpus_.size())];
    for (std::size_t count = below(5); count > 0; --count) bytes[position(bytes.size())] = value();
    if (below(4) == 0) bytes.resize(below(bytes.size() + 1));
    bytes.shrink_to_fit();
    return bytes;
  }
  [[nodiscard]] std::size_t below(std::size_t bound) { return random_() % bound; }

 private:
  // Every header is at a multiple of 4 and has its type, length and counts in its first eight bytes.
  [[nodiscard]] std::size_t position(std::size_t size) {
    if (below(8) == 0) return kIpv6NextHeaderOffset;
    const std::size_t header = kIpv6HeaderSize + 8 * below(6);
    const std::size_t chosen = below(4) == 0 ? below(size) : header + below(8);
    return std::min(chosen, size - 1);
  }
  [[nodiscard]] std::uint8_t value() {
    static constexpr std::uint8_t kTelling[] = {0,  1,  2,  3,  4,  5,  8,   17,  41,  43,
                                                44, 50, 51, 58, 59, 60, 127, 128, 254, 255};
    return below(3) == 0 ? static_cast<std::uint8_t>(random_())
                         : kTelling[below(std::size(kTelling))];
  }
  std::mt19937 random_;
  std::vector<Bytes> corpus_;
};

}  // namespace sidestep::net::test
