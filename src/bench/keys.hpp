// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <sidestep/net/address.hpp>
#include <sidestep/net/prefix.hpp>

#include "bench/huge_array.hpp"

namespace sidestep::bench {

using Keys = std::span<const net::Ipv6Address>;

/// The three ways in which addresses to look up are drawn.
enum class KeyKind : std::uint8_t {
  kPrefixes,  ///< (a) a random prefix, random host bits
  kUniform,   ///< (b) uniform in 2000::/3
  kZipf,      ///< (c) as (a), but some prefixes far more often than others (Zipf, exponent 1)
};
inline constexpr KeyKind kAllKeyKinds[] = {KeyKind::kPrefixes, KeyKind::kUniform, KeyKind::kZipf};

[[nodiscard]] const char* letter_of(KeyKind kind) noexcept;  ///< "a", "b", "c"
[[nodiscard]] const char* words_of(KeyKind kind) noexcept;

[[nodiscard]] HugeArray<net::Ipv6Address> make_keys(KeyKind kind,
                                                    std::span<const net::Prefix> prefixes,
                                                    std::size_t count, std::uint64_t seed);

}  // namespace sidestep::bench
