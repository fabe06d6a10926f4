// SPDX-License-Identifier: Apache-2.0
// A keyed hash of a few words: cheap, and without the key nobody can make collisions on purpose.
#pragma once

#include <cstdint>
#include <cstring>

#include <sidestep/net/address.hpp>

namespace sidestep::fib {

/// A 64 x 64 multiplication folded onto itself: every input bit reaches every output bit.
[[nodiscard]] inline std::uint64_t fold_multiply(std::uint64_t a, std::uint64_t b) noexcept {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

class Mixer {
 public:
  explicit Mixer(std::uint64_t seed) noexcept : state_(seed ^ 0x9e37'79b9'7f4a'7c15) {}
  void add(std::uint64_t word) noexcept {
    // The constant keeps a zero word from making the product zero.
    state_ = fold_multiply(state_ ^ word ^ 0xd6e8'feb8'6659'fd93, 0xa076'1d64'78bd'642f);
  }
  void add(const net::Ipv6Address& address) noexcept {
    std::uint64_t halves[2];
    std::memcpy(halves, address.bytes.data(), sizeof halves);
    add(halves[0]);
    add(halves[1]);
  }
  /// What has been mixed so far.
  [[nodiscard]] std::uint64_t state() const noexcept { return state_; }

 private:
  std::uint64_t state_;
};

}  // namespace sidestep::fib
