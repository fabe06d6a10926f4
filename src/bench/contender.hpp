// SPDX-License-Identifier: Apache-2.0
// Who takes part in the comparison of lookups.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/keys.hpp"
#include "bench/longest_match.hpp"
#include "bench/rounds.hpp"

namespace sidestep::bench {

/// A longest-prefix match over the benchmark's table.
///
/// Each pass runs the same code whether it is checked or timed: `answers` is empty when it is timed, and then what was found
/// is only kept alive. Answers are produced burst by burst in the contender's own format, as a router would use them.
class Contender {
 public:
  virtual ~Contender() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual std::size_t bytes() const = 0;  ///< of what lookups read; 0: unknown
  /// Prefixes beyond this length are not in it.
  [[nodiscard]] virtual unsigned longest() const { return 128; }

  /// Bursts of keys, one call for each.
  virtual void batched(Keys keys, std::span<Found> answers) = 0;
  /// One call per key; no key depends on another.
  virtual void one_by_one(Keys keys, std::span<Found> answers) = 0;
  /// Which key comes next depends on the answer before. The number of keys is even.
  virtual void chain(Keys keys) = 0;
};

using Contenders = std::vector<std::unique_ptr<Contender>>;

/// Somebody who should have taken part.
struct Absent {
  std::string name;
  std::string why;
};

/// Passes in terms of a contender's own functions. `bulk(keys, native answers)`, `single(key)`, `found_of(native answer)`.
template <typename Native, typename Bulk, typename FoundOf>
void batched_pass(Keys keys, std::span<Found> answers, std::span<Native> buffer, Bulk bulk,
                  FoundOf found_of) {
  for (std::size_t at = 0; at < keys.size(); at += buffer.size()) {
    const auto burst = keys.subspan(at, std::min(buffer.size(), keys.size() - at));
    bulk(burst, buffer.first(burst.size()));
    keep(buffer[0]);
    if (answers.empty()) continue;
    for (std::size_t i = 0; i < burst.size(); ++i) answers[at + i] = found_of(buffer[i]);
  }
}

template <typename Single, typename FoundOf>
void single_pass(Keys keys, std::span<Found> answers, Single single, FoundOf found_of) {
  if (answers.empty()) {
    std::uint64_t sum = 0;
    for (const auto& key : keys) sum += static_cast<std::uint64_t>(single(key));
    keep(sum);
  } else {
    for (std::size_t i = 0; i < keys.size(); ++i) answers[i] = found_of(single(keys[i]));
  }
}

template <typename Single>
void chain_pass(Keys keys, Single single) {
  std::size_t last = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    last = static_cast<std::size_t>(single(keys[i ^ (last & 1)]));
  }
  keep(last);
}

/// Compares a pass's answers with what is expected. Where a prefix beyond the contender's longest is expected, any answer
/// goes: leaving those out is the contender's published limit.
struct Checked {
  std::size_t compared = 0;
  std::size_t mismatches = 0;
};
[[nodiscard]] inline Checked compare(std::span<const Found> answers,
                                     std::span<const Found> expected,
                                     std::span<const net::Prefix> prefixes, unsigned longest) {
  Checked checked;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] != kNothing && prefixes[expected[i] - 1].length() > longest) continue;
    ++checked.compared;
    if (answers[i] != expected[i]) ++checked.mismatches;
  }
  return checked;
}

}  // namespace sidestep::bench
