// SPDX-License-Identifier: Apache-2.0
// The router that most golden cases use: A on device r-a, B on device r-b, all neighbors given.
//
//   A 2001:db8:a::2 ------ r-a [router] r-b ------ 2001:db8:b::2 B
#pragma once

#include <string>
#include <string_view>

#include "golden/case.hpp"

namespace sidestep::golden {

inline constexpr std::string_view kA = "2001:db8:a::2";
inline constexpr std::string_view kB = "2001:db8:b::2";
inline constexpr std::string_view kRouterA = "2001:db8:a::1";
inline constexpr std::string_view kRouterB = "2001:db8:b::1";
inline constexpr std::string_view kLinkLocalA =
    "fe80::ff:fe00:a";  ///< of device r-a, from its Ethernet address
inline constexpr std::string_view kMacA = "02:00:00:00:00:0a";
inline constexpr std::string_view kMacB = "02:00:00:00:00:0b";
inline constexpr std::string_view kMacHostA = "02:00:00:00:0a:02";
inline constexpr std::string_view kMacHostB = "02:00:00:00:0b:02";

/// Devices, addresses, neighbors and forwarding; ICMPv6 errors are not rate-limited. `more` lines follow.
[[nodiscard]] std::string lab_config(std::string_view more = {});

/// The frame that A sends through device r-a, and those that the router sends to A and to B.
[[nodiscard]] GoldenFrame from_a(const Bytes& packet);
[[nodiscard]] GoldenFrame to_a(const Bytes& packet);
[[nodiscard]] GoldenFrame to_b(const Bytes& packet);

/// A UDP packet from A to B with `size` bytes of data.
[[nodiscard]] Bytes a_to_b(std::size_t size = 16, std::uint8_t hop_limit = 64);
[[nodiscard]] Bytes a_to(std::string_view destination, std::uint8_t hop_limit = 64);

using Counters = std::vector<std::pair<std::string, std::int64_t>>;

/// The packet leaves to B as `sent` (or as it came, with one hop less).
[[nodiscard]] Step forwards(std::string words, const Bytes& packet);
[[nodiscard]] Step forwards_as(std::string words, const Bytes& packet, const Bytes& sent);
/// Nothing leaves.
[[nodiscard]] Step drops(std::string words, const Bytes& packet, std::string verdict,
                         Counters counters);
/// An ICMPv6 error goes back to A from the router's address on that link.
struct ErrorFields {
  std::uint8_t type = 1;
  std::uint8_t code = 0;
  std::uint32_t parameter = 0;
};
[[nodiscard]] Step refuses(std::string words, const Bytes& packet, ErrorFields error,
                           std::string verdict, Counters counters, const Bytes& quoted);
[[nodiscard]] Step refuses(std::string words, const Bytes& packet, ErrorFields error,
                           std::string verdict, Counters counters);
/// The router answers an echo request with `reply`.
[[nodiscard]] Step answers(std::string words, const Bytes& request, const Bytes& reply);

// The cases by subject; all_cases() is all of them.
[[nodiscard]] std::vector<Case> validation_cases();
[[nodiscard]] std::vector<Case> forwarding_cases();
[[nodiscard]] std::vector<Case> mtu_cases();
[[nodiscard]] std::vector<Case> icmp_cases();
[[nodiscard]] std::vector<Case> extension_header_cases();
[[nodiscard]] std::vector<Case> rule_cases();
[[nodiscard]] std::vector<Case> srv6_cases();
[[nodiscard]] std::vector<Case> endpoint_cases();
[[nodiscard]] std::vector<Case> headend_cases();
[[nodiscard]] std::vector<Case> hmac_cases();

}  // namespace sidestep::golden
