// SPDX-License-Identifier: Apache-2.0
// A line being read word by word, and the first thing that was wrong with it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <sidestep/net/address.hpp>
#include <sidestep/net/ids.hpp>
#include <sidestep/net/prefix.hpp>

#include "config/names.hpp"
#include "config/words.hpp"

namespace sidestep::config {

enum class Family : std::uint8_t { kIpv4, kIpv6 };

/// An address with the length that was written behind it (whole address when none was).
struct AddressWithLength {
  net::Ipv6Address address{};
  std::uint8_t length = 128;
  [[nodiscard]] net::Prefix prefix() const { return {address, length}; }
};

/// Reads the words of one line in order. Every reader answers false when the word was wrong or missing; what was wrong
/// first is kept in mistake(). IPv4 addresses of `-4` lines travel as IPv4-mapped ones: such lines are kept, not executed.
class Cursor {
 public:
  Cursor(const WordLine& line, std::size_t first_word, Family family)
      : line_(&line), next_(first_word), family_(family) {}

  [[nodiscard]] Family family() const { return family_; }
  [[nodiscard]] const WordLine& line() const { return *line_; }
  [[nodiscard]] bool at_end() const { return next_ >= line_->words.size(); }
  [[nodiscard]] const Word* peek(std::size_t ahead = 0) const {
    return next_ + ahead < line_->words.size() ? &line_->words[next_ + ahead] : nullptr;
  }
  /// The next word, which must exist.
  const Word& take() { return line_->words[next_++]; }
  /// Takes the next word if it is exactly this one.
  bool take_if(std::string_view text);
  void step_back() { --next_; }
  void skip_rest() { next_ = line_->words.size(); }
  [[nodiscard]] const Word& last() const { return line_->words[next_ - 1]; }

  /// Notes what was expected instead of a word. All answer false.
  bool fail_at(const Word& word, std::string expected);
  bool fail(std::string expected) {
    return fail_at(last(), std::move(expected));
  }  ///< instead of the last taken word
  bool fail_next(std::string expected);  ///< instead of the next word or the end of the line
  [[nodiscard]] const std::optional<Mistake>& mistake() const { return mistake_; }

  // Values: each takes one word.
  bool word(std::string_view what, std::string& out);
  bool number(std::string_view what, std::uint32_t& out, std::uint32_t least = 0,
              std::uint32_t most = UINT32_MAX);
  bool number(std::string_view what, std::uint8_t& out, std::uint8_t least = 0,
              std::uint8_t most = UINT8_MAX);
  bool number(std::string_view what, std::uint16_t& out, std::uint16_t least, std::uint16_t most);
  bool address(net::Ipv6Address& out, Family family);
  bool address(net::Ipv6Address& out) { return address(out, family_); }
  bool ipv4_address(net::Ipv4Address& out);
  /// An address with an optional length; `default`, `all` and `any` stand for all addresses.
  bool prefix(AddressWithLength& out);
  bool mac(net::MacAddress& out);
  bool device(std::string& out);
  bool table(TableId& out);
  bool protocol(std::uint8_t& out);
  bool group(std::uint32_t& out);
  bool on_off(bool& out);
  /// `inet6` or `inet` before a gateway, then the gateway.
  bool gateway(net::Ipv6Address& out);

 private:
  bool take_value(std::string_view what);
  bool prefix_length(std::string_view digits, std::uint8_t most, std::uint8_t& out);

  const WordLine* line_;
  std::size_t next_;
  Family family_;
  std::optional<Mistake> mistake_;
};

/// A keyword of a parser, in the order in which ip compares them: the order decides what an abbreviation means.
template <typename Parser>
struct Keyword {
  std::string_view text;
  bool (Parser::*read)();
  bool abbreviable = true;
};
inline constexpr bool kWhole = false;  ///< `abbreviable` of keywords that ip compares whole

/// The first keyword that `word` means, or nullptr.
template <typename Parser>
const Keyword<Parser>* find_keyword(std::span<const Keyword<Parser>> keywords,
                                    std::string_view word) {
  for (const auto& keyword : keywords) {
    if (keyword.abbreviable ? abbreviates(word, keyword.text) : word == keyword.text)
      return &keyword;
  }
  return nullptr;
}

}  // namespace sidestep::config
