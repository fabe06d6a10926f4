// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/options.hpp"
#include "bench/prefix_table.hpp"
#include "bench/report.hpp"

namespace sidestep::bench {

/// Whole lookups through the library's face: rules, tables, destination. And the rate of whole route changes.
void bench_rules(const Options& options, const PrefixTable& table, Report& report);

}  // namespace sidestep::bench
