// SPDX-License-Identifier: Apache-2.0
// Text to lines of words, by the rules of `ip -batch`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sidestep::config {

/// One word of a line, with the place of its first byte.
struct Word {
  std::string text;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

/// One command as written, continuation lines joined. Never empty.
struct WordLine {
  std::vector<Word> words;
  std::string text;            ///< without comment, trimmed
  std::uint32_t end_line = 0;  ///< place behind the last word: where "the end of the line" is
  std::uint32_t end_column = 0;
};

/// Something wrong with a line, before or while its words are understood.
struct Mistake {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string read;
  std::string expected;
};

struct SplitText {
  std::vector<WordLine> lines;
  std::vector<Mistake>
      mistakes;  ///< of lines that could not be split; these lines are not in `lines`
};

/// Cuts a configuration into lines of words.
[[nodiscard]] SplitText split_words(std::string_view text);

/// `'text'` for people: unprintable bytes as \xNN, long texts cut.
[[nodiscard]] std::string quote(std::string_view text);

}  // namespace sidestep::config
