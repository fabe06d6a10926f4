// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace sidestep::bench {

/// What the command line asks for.
struct Options {
  std::string table;  ///< file of prefixes; "": the one beside the project, else a generated one
  std::size_t generated = 160'000;  ///< prefixes of a generated table
  bool always_generated = false;
  std::size_t keys = 8'000'000;
  std::size_t exact_keys = 1'000'000;  ///< of each kind
  std::size_t updates = 1'000'000;
  std::size_t flows = 1'000'000;
  std::size_t burst = 256;  ///< keys of one call of a batched lookup
  unsigned rounds = 7;
  std::size_t uncached = 10'000'000;
  std::size_t contended = 20'000'000;  ///< lookups of each thread
  unsigned steady_ms = 500;  ///< how long the reader is watched beside a steady writer, per round
  std::uint64_t seed = 1;
};

}  // namespace sidestep::bench
