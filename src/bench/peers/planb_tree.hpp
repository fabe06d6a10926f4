// SPDX-License-Identifier: Apache-2.0
// PlanB's layout as its kernels see it: plain pointers, because each kernel is compiled for another instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sidestep::bench {

/// An implicit 9-ary search tree: node i has the children 9 i + 1 … 9 i + 9, and what would be a child beyond the last node is
/// a value.
struct PlanbTree {
  const std::int64_t*
      keys;  ///< eight ascending separators per node, biased by 2^63 so that signed compares order them
  const std::uint32_t* values;  ///< of child number `nodes` and following
  std::uint32_t nodes;
  std::uint32_t
      full_levels;  ///< from the root down; the level below has some of its nodes, or none
};

/// The passes of one instruction set. Keys are addresses, of which the upper 64 bits are looked at.
struct PlanbKernel {
  using Bulk = void (*)(const PlanbTree&, const std::uint8_t (*addresses)[16], std::size_t count,
                        std::uint32_t* values);
  struct Variant {
    const char* name;  ///< keys in flight, and how the last level is left
    Bulk bulk;
  };
  const char* name;
  const Variant* variants;
  std::size_t variant_count;
  Bulk one_by_one;  ///< independent of each other
  std::uint64_t (*sum)(const PlanbTree&, const std::uint8_t (*)[16],
                       std::size_t);  ///< the same, values only summed
  std::uint32_t (*chain)(const PlanbTree&, const std::uint8_t (*)[16],
                         std::size_t);  ///< last value
};

extern const PlanbKernel kPlanbScalar;
#if defined(__x86_64__)
extern const PlanbKernel kPlanbAvx2;
extern const PlanbKernel kPlanbAvx512;
#endif

}  // namespace sidestep::bench
