// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

#include <fmt/format.h>

namespace sidestep::torture {

/// Counts of values, exact below 16 and to a sixteenth above.
class Histogram {
 public:
  void add(std::uint64_t value) {
    ++counts_[index_of(value)];
    ++total_;
    if (value > most_) most_ = value;
  }
  void add(const Histogram& other) {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    total_ += other.total_;
    if (other.most_ > most_) most_ = other.most_;
  }
  [[nodiscard]] std::uint64_t total() const { return total_; }
  [[nodiscard]] std::uint64_t most() const { return most_; }
  /// The value that this share of all values does not exceed, rounded up to its bucket's end.
  [[nodiscard]] std::uint64_t quantile(double share) const {
    const auto wanted = static_cast<std::uint64_t>(share * static_cast<double>(total_));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (seen > wanted) return end_of(i) < most_ ? end_of(i) : most_;
    }
    return most_;
  }
  /// How many values are in [first, last], which are 0 to 15 or powers of two less one.
  [[nodiscard]] std::uint64_t between(std::uint64_t first, std::uint64_t last) const {
    std::uint64_t count = 0;
    for (std::size_t i = index_of(first); i <= index_of(last); ++i) count += counts_[i];
    return count;
  }

 private:
  // 0…15, then 16 buckets for each power of two: 16 is in bucket 16, 32 and 33 are in bucket 32.
  static constexpr unsigned kFine = 4;
  static constexpr std::size_t index_of(std::uint64_t value) {
    if (value < (1U << kFine)) return value;
    const auto power = static_cast<unsigned>(std::bit_width(value)) - 1;
    const auto within = (value >> (power - kFine)) & ((1U << kFine) - 1);
    return (static_cast<std::size_t>(power - kFine + 1) << kFine) + within;
  }
  static constexpr std::uint64_t end_of(std::size_t index) {
    if (index < (1U << kFine)) return index;
    const auto power = (index >> kFine) + kFine - 1;
    const std::uint64_t within = index & ((1U << kFine) - 1);
    return ((((std::uint64_t{1} << kFine) | within) + 1) << (power - kFine)) - 1;
  }

  std::array<std::uint64_t, (64 - kFine + 1) << kFine> counts_{};
  std::uint64_t total_ = 0;
  std::uint64_t most_ = 0;
};

}  // namespace sidestep::torture
