// SPDX-License-Identifier: Apache-2.0
// The Internet checksum. The sum is kept in 64 bits and folded at the end: no packet has words enough to lose a carry,
// and the loop has no branch per word.
#include <sidestep/net/checksum.hpp>

#include <sidestep/net/wire.hpp>

namespace sidestep::net {
namespace {

std::uint64_t sum_words(std::span<const std::uint8_t> bytes) noexcept {
  std::uint64_t sum = 0;
  std::size_t i = 0;
  for (; i + 2 <= bytes.size(); i += 2) sum += load_be16(bytes.data() + i);
  if (i < bytes.size()) sum += std::uint64_t{bytes[i]} << 8;
  return sum;
}

std::uint16_t fold(std::uint64_t sum) noexcept {
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(sum);
}

}  // namespace

std::uint16_t ones_complement_sum(std::span<const std::uint8_t> bytes,
                                  std::uint16_t initial) noexcept {
  return fold(sum_words(bytes) + initial);
}

std::uint16_t upper_layer_checksum(const Ipv6Address& source, const Ipv6Address& destination,
                                   std::uint8_t next_header,
                                   std::span<const std::uint8_t> upper) noexcept {
  const std::uint64_t size = upper.size();
  const std::uint64_t sum = sum_words(source.bytes) + sum_words(destination.bytes) + (size >> 16) +
                            (size & 0xffff) + next_header + sum_words(upper);
  return static_cast<std::uint16_t>(~fold(sum));
}

}  // namespace sidestep::net
