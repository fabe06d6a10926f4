// SPDX-License-Identifier: Apache-2.0
#include "config/kernel_lines.hpp"

#include <algorithm>

#include "config/parser.hpp"

namespace sidestep::config {
namespace {

std::string join(const WordLine& line, std::size_t first, std::size_t last) {
  std::string text;
  for (std::size_t i = first; i < last; ++i) {
    const std::string& word = line.words[i].text;
    if (!text.empty()) text += ' ';
    const bool quoted = word.empty() || word.find_first_of(" \t'\"") != std::string::npos;
    const char quote = word.find('"') == std::string::npos ? '"' : '\'';
    text += quoted ? quote + word + quote : word;
  }
  return text;
}

bool has_word(const WordLine& line, std::string_view text) {
  return std::ranges::any_of(line.words, [&](const Word& word) { return word.text == text; });
}

KernelLine sort(const WordLine& line) {
  KernelLine result;
  result.line = line.words.front().line;
  Cursor cursor(line, 0, Family::kIpv6);
  const auto heading = parse_heading(cursor);
  if (!heading) {
    result.text = join(line, 0, line.words.size());
    return result;
  }
  const std::size_t object = heading->words - 1;  // behind -4 or -6
  const std::size_t count = line.words.size();
  result.kind = heading->family == Family::kIpv4 ? LineKind::kIpv4 : LineKind::kIpv6;
  result.link = heading->object == Object::kLink;
  result.text = join(line, object, count);
  if (heading->object == Object::kSysctl) {
    result.kind = LineKind::kSysctl;
    result.text = join(line, heading->words, count);
  } else if (heading->object == Object::kNexthop && has_word(line, "group")) {
    result.kind = LineKind::kIp;
  } else if (heading->object == Object::kSr && count > object + 4 && has_word(line, "hmac")) {
    result.kind = LineKind::kHmac;
    result.text = join(line, object, std::min(count, object + 5));  // sr hmac set ID ALGORITHM
    if (count > object + 5) result.secret = line.words[object + 5].text;
  }
  return result;
}

}  // namespace

std::vector<KernelLine> split_for_kernel(std::string_view text) {
  std::vector<KernelLine> result;
  for (const WordLine& line : split_words(text).lines) result.push_back(sort(line));
  return result;
}

}  // namespace sidestep::config
