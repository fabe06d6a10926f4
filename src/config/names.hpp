// SPDX-License-Identifier: Apache-2.0
// Numbers that have names in iproute2, both ways. Built in, as Debian 12 ships them: no file is read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sidestep::config {

/// A number as iproute2 reads most of them: decimal, 0x hexadecimal, 0 octal. Empty when the text is anything else or
/// does not fit.
[[nodiscard]] std::optional<std::uint64_t> parse_number(std::string_view text);
/// Digits of one base, nothing around them.
[[nodiscard]] std::optional<std::uint64_t> parse_digits(std::string_view text, unsigned base);

[[nodiscard]] std::optional<std::uint32_t> table_number(std::string_view name);  ///< main, 0x1f, …
[[nodiscard]] std::optional<std::uint8_t> protocol_number(
    std::string_view name);  ///< static, 186, …
[[nodiscard]] std::string protocol_name(std::uint8_t number);
[[nodiscard]] std::optional<std::uint8_t> scope_number(std::string_view name);  ///< link, 253, …
[[nodiscard]] std::optional<std::uint8_t> dsfield_number(
    std::string_view name);  ///< AF11, 28 (hexadecimal!), …
[[nodiscard]] std::string dsfield_name(std::uint8_t number);
[[nodiscard]] std::optional<std::uint32_t> group_number(std::string_view name);  ///< default, 7, …
[[nodiscard]] std::string group_name(std::uint32_t number);
[[nodiscard]] std::optional<std::uint8_t> ip_protocol_number(
    std::string_view name);                                                    ///< udp, UDP, 17
[[nodiscard]] std::string ip_protocol_name(std::uint8_t number);               ///< udp, ipproto-99
[[nodiscard]] std::optional<std::uint8_t> dscp_number(std::string_view name);  ///< AF11, 10
[[nodiscard]] std::string dscp_name(std::uint8_t number);

/// ip's rule of abbreviation: a word stands for the first keyword that begins with it.
[[nodiscard]] inline bool abbreviates(std::string_view word, std::string_view keyword) {
  return !word.empty() && keyword.starts_with(word);
}

}  // namespace sidestep::config
