// SPDX-License-Identifier: Apache-2.0
//
// The descent through PlanB's tree, for a way to rank a key in a node. Each file that includes this is compiled for another
// instruction set; their Rank types are local to them, so no two of these functions are ever merged. For the same reason
// nothing of the standard library that is not a type is used here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "bench/peers/planb_tree.hpp"

namespace sidestep::bench {

/// @tparam Rank  `static std::uint32_t rank(const std::int64_t* node, std::int64_t key)`: separators that are <= key
template <typename Rank>
struct PlanbDescent {
  using Address = std::uint8_t[16];
  enum class Last : bool { kBranch, kSelect };

  static std::int64_t key_of(const Address& address) {
    std::uint64_t upper;
    std::memcpy(&upper, address, sizeof(upper));
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    upper = __builtin_bswap64(upper);
#endif
    return static_cast<std::int64_t>(upper ^ (std::uint64_t{1} << 63));
  }
  static std::uint32_t child(const PlanbTree& tree, std::uint32_t node, std::int64_t key) {
    return node * 9 + 1 + Rank::rank(tree.keys + std::size_t{node} * 8, key);
  }

  static std::uint32_t one(const PlanbTree& tree, const Address& address) {
    const std::int64_t key = key_of(address);
    std::uint32_t node = 0;
    for (std::uint32_t level = 0; level < tree.full_levels; ++level) node = child(tree, node, key);
    if (node < tree.nodes) node = child(tree, node, key);
    return tree.values[node - tree.nodes];
  }

  /// Width keys go down together, so that their loads overlap.
  template <std::uint32_t Width, Last LastLevel>
  static void group(const PlanbTree& tree, const Address* addresses, std::uint32_t* values) {
    std::uint32_t node[Width];
    std::int64_t key[Width];
    for (std::uint32_t i = 0; i < Width; ++i) {
      key[i] = key_of(addresses[i]);
      node[i] = 0;
    }
    for (std::uint32_t level = 0; level < tree.full_levels; ++level) {
      for (std::uint32_t i = 0; i < Width; ++i) {
        node[i] = child(tree, node[i], key[i]);
        const void* next = tree.keys + std::size_t{node[i]} * 8;
        const void* value = tree.values + (node[i] - tree.nodes);
        __builtin_prefetch(node[i] < tree.nodes ? next : value);
      }
    }
    for (std::uint32_t i = 0; i < Width; ++i) {
      if constexpr (LastLevel == Last::kBranch) {
        if (node[i] < tree.nodes) {
          node[i] = child(tree, node[i], key[i]);
          __builtin_prefetch(tree.values + (node[i] - tree.nodes));
        }
      } else {
        // The root stands in for a node that is not there.
        const bool inner = node[i] < tree.nodes;
        const std::uint32_t below = child(tree, inner ? node[i] : 0, key[i]);
        node[i] = inner ? below : node[i];
        __builtin_prefetch(tree.values + (node[i] - tree.nodes));
      }
    }
    for (std::uint32_t i = 0; i < Width; ++i) values[i] = tree.values[node[i] - tree.nodes];
  }

  template <std::uint32_t Width, Last LastLevel>
  static void bulk(const PlanbTree& tree, const Address* addresses, std::size_t count,
                   std::uint32_t* values) {
    std::size_t at = 0;
    for (; at + Width <= count; at += Width) {
      group<Width, LastLevel>(tree, addresses + at, values + at);
    }
    for (; at < count; ++at) values[at] = one(tree, addresses[at]);
  }

  static void one_by_one(const PlanbTree& tree, const Address* addresses, std::size_t count,
                         std::uint32_t* values) {
    for (std::size_t i = 0; i < count; ++i) values[i] = one(tree, addresses[i]);
  }
  static std::uint64_t sum(const PlanbTree& tree, const Address* addresses, std::size_t count) {
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < count; ++i) total += one(tree, addresses[i]);
    return total;
  }
  static std::uint32_t chain(const PlanbTree& tree, const Address* addresses, std::size_t count) {
    std::uint32_t last = 0;
    for (std::size_t i = 0; i < count; ++i) last = one(tree, addresses[i ^ (last & 1)]);
    return last;
  }

  static constexpr PlanbKernel::Variant kVariants[] = {
      {"8 keys", bulk<8, Last::kBranch>},           {"12 keys", bulk<12, Last::kBranch>},
      {"16 keys", bulk<16, Last::kBranch>},         {"20 keys", bulk<20, Last::kBranch>},
      {"24 keys", bulk<24, Last::kBranch>},         {"32 keys", bulk<32, Last::kBranch>},
      {"8 keys, select", bulk<8, Last::kSelect>},   {"12 keys, select", bulk<12, Last::kSelect>},
      {"16 keys, select", bulk<16, Last::kSelect>}, {"20 keys, select", bulk<20, Last::kSelect>},
      {"24 keys, select", bulk<24, Last::kSelect>}, {"32 keys, select", bulk<32, Last::kSelect>},
  };
  static constexpr PlanbKernel kernel(const char* name) {
    return {name, kVariants, sizeof(kVariants) / sizeof(kVariants[0]), one_by_one, sum, chain};
  }
};

}  // namespace sidestep::bench
