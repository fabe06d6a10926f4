// SPDX-License-Identifier: Apache-2.0
//
// Lines and words, as `ip -batch` cuts them (asked of iproute2 6.1):
//
//  - A line is first cut at its first `#`, wherever that stands: in the middle of a word, and even inside quotes.
//  - What remains and ends in a backslash directly before the newline goes on with the next line. The two are joined
//    without a blank, so `ad\` and `d` make `add`. A comment hides the backslash, and with it the continuation.
//  - Words are separated by blanks, tabs, carriage returns and newlines; so files with CRLF are fine.
//  - A quote (' or ") means something only as the first byte of a word: the word then reaches to the next quote of the
//    same kind. Whatever follows the closing quote is the next word. There is no escape.
//
// Three things are ours. A continuation before CRLF works too. A line that begins with a tab and `nexthop via|dev|encap|weight|onlink`
// belongs to the line before it, because that is how `ip route show` prints a multipath route (an ip command never begins like
// that: a verb follows the object `nexthop`). And NUL bytes and byte order marks are mistakes with a place, not silent
// garbage.
#include "config/words.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace sidestep::config {
namespace {

constexpr std::string_view kBlank = " \t\r\n";
constexpr std::size_t kQuotedMax = 80;  // bytes of foreign text in a message

// Bytes of one command while it is put together from the lines of a file. A byte's place is found through the chunk it
// came with.
class JoinedLine {
 public:
  void append(std::string_view bytes, std::uint32_t line, std::uint32_t column) {
    chunks_.push_back({bytes_.size(), line, column});
    bytes_.append(bytes);
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  [[nodiscard]] Word word_at(std::size_t offset, std::string_view text) const {
    const auto [line, column] = place(offset);
    return {std::string(text), line, column};
  }
  struct Place {
    std::uint32_t line;
    std::uint32_t column;
  };
  [[nodiscard]] Place place(std::size_t offset) const {
    const auto behind = std::ranges::upper_bound(chunks_, offset, {}, &Chunk::offset);
    const Chunk& chunk = behind == chunks_.begin() ? *behind : *std::prev(behind);
    return {chunk.line, chunk.column + static_cast<std::uint32_t>(offset - chunk.offset)};
  }

 private:
  struct Chunk {
    std::size_t offset;
    std::uint32_t line;
    std::uint32_t column;
  };
  std::string bytes_;
  std::vector<Chunk> chunks_;
};

class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  SplitText run() {
    skip_byte_order_mark();
    while (position_ < text_.size() && !gave_up_) read_command();
    return std::move(result_);
  }

 private:
  void add_mistake(std::uint32_t line, std::uint32_t column, std::string read,
                   std::string expected) {
    result_.mistakes.push_back({line, column, std::move(read), std::move(expected)});
  }

  void skip_byte_order_mark() {
    const std::string expected = "expected plain text without one";
    if (text_.starts_with("\xef\xbb\xbf")) {
      add_mistake(1, 1, "read a UTF-8 byte order mark", expected);
      position_ = 3;
      first_column_ = 4;
    } else if (text_.starts_with("\xff\xfe") || text_.starts_with("\xfe\xff")) {
      add_mistake(1, 1, "read a UTF-16 byte order mark", expected);
      gave_up_ = true;
    }
  }

  // The next line of the file without its newline, cut at the comment.
  struct PhysicalLine {
    std::string_view bytes;
    std::uint32_t number;
    std::uint32_t column;
    bool continued;
  };
  PhysicalLine next_physical_line() {
    const std::size_t newline = text_.find('\n', position_);
    const bool has_newline = newline != std::string_view::npos;
    PhysicalLine line{
        text_.substr(position_, has_newline ? newline - position_ : std::string_view::npos),
        ++number_, first_column_, false};
    position_ = has_newline ? newline + 1 : text_.size();
    first_column_ = 1;
    if (const auto comment = line.bytes.find('#'); comment != std::string_view::npos) {
      line.bytes = line.bytes.substr(0, comment);
    } else {
      if (line.bytes.ends_with('\r')) line.bytes.remove_suffix(1);
      line.continued = line.bytes.ends_with('\\');
      if (line.continued) line.bytes.remove_suffix(1);
    }
    return line;
  }

  void read_command() {
    JoinedLine joined;
    PhysicalLine line = next_physical_line();
    bool broken = !check_bytes(line);
    const bool continues_print = continues_printed_route(line);
    joined.append(line.bytes, line.number, line.column);
    while (line.continued) {
      if (position_ >= text_.size()) {
        const auto column = line.column + static_cast<std::uint32_t>(line.bytes.size()) + 1;
        add_mistake(line.number, column, "read the end of the file",
                    "expected the line that the backslash announces");
        return;
      }
      line = next_physical_line();
      if (!broken) broken = !check_bytes(line);
      joined.append(line.bytes, line.number, line.column);
    }
    if (!broken) cut(joined, continues_print);
  }

  bool check_bytes(const PhysicalLine& line) {
    const auto nul = line.bytes.find('\0');
    if (nul == std::string_view::npos) return true;
    add_mistake(line.number, line.column + static_cast<std::uint32_t>(nul), "read a NUL byte",
                "expected text");
    return false;
  }

  // A nexthop line of a printed multipath route, directly below its route.
  [[nodiscard]] bool continues_printed_route(const PhysicalLine& line) const {
    if (result_.lines.empty() || result_.lines.back().end_line + 1 != line.number) return false;
    if (!line.bytes.starts_with("\tnexthop")) return false;
    std::string_view rest = line.bytes.substr(8);
    const auto begin = rest.find_first_not_of(" \t");
    if (begin == 0 || begin == std::string_view::npos) return false;
    rest = rest.substr(begin);
    const std::string_view word = rest.substr(0, rest.find_first_of(kBlank));
    for (const std::string_view attribute : {"via", "dev", "encap", "weight", "onlink"}) {
      if (word == attribute) return true;
    }
    return false;
  }

  void cut(const JoinedLine& joined, bool continues_print) {
    WordLine line;
    const std::string& bytes = joined.bytes();
    std::size_t at = 0;
    std::size_t last_end = 0;
    while (true) {
      at = bytes.find_first_not_of(kBlank, at);
      if (at == std::string::npos) break;
      const bool quoted = bytes[at] == '\'' || bytes[at] == '"';
      std::size_t end = quoted ? bytes.find(bytes[at], at + 1) : bytes.find_first_of(kBlank, at);
      if (quoted && end == std::string::npos) {
        const auto place = joined.place(at);
        add_mistake(place.line, place.column, "read " + quote(std::string_view(bytes).substr(at)),
                    fmt::format("expected a closing {}", bytes[at]));
        return;
      }
      if (end == std::string::npos) end = bytes.size();
      const std::size_t begin = quoted ? at + 1 : at;
      line.words.push_back(joined.word_at(at, std::string_view(bytes).substr(begin, end - begin)));
      at = quoted ? end + 1 : end;
      last_end = at;
    }
    if (line.words.empty()) return;
    const auto place = joined.place(last_end == 0 ? 0 : last_end - 1);
    line.end_line = place.line;
    line.end_column = place.column + 1;
    line.text = trimmed(bytes);
    keep(std::move(line), continues_print);
  }

  void keep(WordLine line, bool continues_print) {
    if (!continues_print) {
      result_.lines.push_back(std::move(line));
      return;
    }
    WordLine& previous = result_.lines.back();
    for (Word& word : line.words) previous.words.push_back(std::move(word));
    previous.text += " " + line.text;
    previous.end_line = line.end_line;
    previous.end_column = line.end_column;
  }

  static std::string trimmed(const std::string& bytes) {
    const auto begin = bytes.find_first_not_of(kBlank);
    const auto end = bytes.find_last_not_of(kBlank);
    return bytes.substr(begin, end - begin + 1);
  }

  std::string_view text_;
  std::size_t position_ = 0;
  std::uint32_t number_ = 0;
  std::uint32_t first_column_ = 1;
  bool gave_up_ = false;
  SplitText result_;
};

}  // namespace

SplitText split_words(std::string_view text) { return Splitter(text).run(); }

std::string quote(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text.substr(0, kQuotedMax)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f || byte >= 0x80) {
      quoted += fmt::format("\\x{:02x}", byte);
    } else {
      quoted += c;
    }
  }
  if (text.size() > kQuotedMax) quoted += "...";
  return quoted + "'";
}

}  // namespace sidestep::config
