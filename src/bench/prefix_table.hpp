// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <sidestep/net/prefix.hpp>
#include <sidestep/result.hpp>

#include "bench/options.hpp"

namespace sidestep::bench {

/// The routing table that everything is measured with. No prefix twice, and no ::/0: each contender has a default anyway.
struct PrefixTable {
  std::vector<net::Prefix> prefixes;
  std::string origin;  ///< where it comes from, for people
  bool generated = false;
};

/// One prefix a line, plain or gzipped (`.gz`).
[[nodiscard]] Result<PrefixTable> read_table(const std::string& path);

/// A made-up table with the lengths and the nesting of the Internet's. The same seed gives the same table.
[[nodiscard]] PrefixTable generate_table(std::size_t count, std::uint64_t seed);

/// The table that the options name; without a name `prefixes6.txt.gz` in SIDESTEP_SHARED_DIR/data or ../shared/data, else a
/// generated one.
[[nodiscard]] Result<PrefixTable> choose_table(const Options& options);

}  // namespace sidestep::bench
