// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/options.hpp"
#include "bench/prefix_table.hpp"
#include "bench/report.hpp"

namespace sidestep::bench {

/// Longest-prefix match against the peers: batched, one by one, in a dependent chain; three kinds of keys.
void bench_lookup(const Options& options, const PrefixTable& table, Report& report);

/// The trie by itself: exactness, memory, building, updates.
void bench_updates(const Options& options, const PrefixTable& table, Report& report);

}  // namespace sidestep::bench
