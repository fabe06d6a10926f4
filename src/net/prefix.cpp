// SPDX-License-Identifier: Apache-2.0
#include <sidestep/net/prefix.hpp>

#include <charconv>

#include <fmt/format.h>

#include <sidestep/assert.hpp>

namespace sidestep::net {

Prefix::Prefix(const Ipv6Address& address, std::uint8_t length) noexcept
    : address_(address), length_(length) {
  SIDESTEP_ASSERT(length <= kMaxLength);
  for (std::size_t i = 0; i < address_.bytes.size(); ++i) {
    const int kept =
        static_cast<int>(length) - static_cast<int>(i * 8);  // bits of this byte that stay
    if (kept >= 8) continue;
    address_.bytes[i] &= static_cast<std::uint8_t>(kept <= 0 ? 0 : 0xff00U >> kept);
  }
}

std::optional<Prefix> Prefix::parse(std::string_view text) noexcept {
  const auto slash = text.find('/');
  const auto address = Ipv6Address::parse(text.substr(0, slash));
  if (!address) return std::nullopt;
  if (slash == std::string_view::npos) return Prefix(*address, kMaxLength);
  const auto digits = text.substr(slash + 1);
  std::uint8_t length = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), length);
  if (error != std::errc{} || end != digits.data() + digits.size() || length > kMaxLength)
    return std::nullopt;
  return Prefix(*address, length);
}

std::string Prefix::to_string() const {
  return fmt::format("{}/{}", address_.to_string(), length_);
}

}  // namespace sidestep::net
