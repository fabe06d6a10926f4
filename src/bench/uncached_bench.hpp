// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "bench/options.hpp"
#include "bench/report.hpp"

namespace sidestep::bench {

/// Destinations for one use, freed at once by their last release, beside the same freed through a grace period. Each
/// variant runs in a process of its own, so that each has its own peak of memory.
///
/// @param program  this program's path, which is started with `uncached-run`
void bench_uncached(const Options& options, const std::string& program, Report& report);

/// What such a process does: makes and frees `count` destinations and prints seconds, the peak in bytes and how often it
/// had to wait for memory. False when the variant is not known.
bool run_uncached(const std::string& variant, std::size_t count);

}  // namespace sidestep::bench
