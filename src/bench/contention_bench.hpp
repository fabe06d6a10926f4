// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/options.hpp"
#include "bench/report.hpp"

namespace sidestep::bench {

/// Borrowed answers beside counted ones: three tables, one hot route, one thread and two.
void bench_contention(const Options& options, Report& report);

}  // namespace sidestep::bench
