// SPDX-License-Identifier: Apache-2.0
#include "config/words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sidestep::config {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> words_of(const WordLine& line) {
  std::vector<std::string> words;
  for (const Word& word : line.words) words.push_back(word.text);
  return words;
}

std::vector<std::string> only_line(std::string_view text) {
  const auto split = split_words(text);
  EXPECT_THAT(split.mistakes, IsEmpty());
  EXPECT_EQ(split.lines.size(), 1U);
  return split.lines.empty() ? std::vector<std::string>{} : words_of(split.lines[0]);
}

Mistake only_mistake(std::string_view text) {
  const auto split = split_words(text);
  EXPECT_EQ(split.mistakes.size(), 1U);
  return split.mistakes.empty() ? Mistake{} : split.mistakes[0];
}

TEST(Words, AreSeparatedByBlanksTabsAndCarriageReturns) {
  EXPECT_THAT(only_line("  route\tadd  a \r\n"), ElementsAre("route", "add", "a"));
  EXPECT_THAT(only_line("route add"), ElementsAre("route", "add"));
}

TEST(Words, CommentsBeginAnywhere) {
  EXPECT_THAT(only_line("# first\nlink add#x y\n\n   # last"), ElementsAre("link", "add"));
  EXPECT_EQ(split_words("a b # c\n").lines.at(0).text, "a b");
}

TEST(Words, ABackslashJoinsLinesWithoutABlank) {
  EXPECT_THAT(only_line("ro\\\nute ad\\\nd # x\n"), ElementsAre("route", "add"));
  EXPECT_THAT(only_line("route \\\r\n add\r\n"), ElementsAre("route", "add"));
  EXPECT_THAT(only_line("\\\n\\\nroute \\\n\n"), ElementsAre("route"));
  // A comment hides the backslash.
  EXPECT_EQ(split_words("a # b \\\nc\n").lines.size(), 2U);
}

TEST(Words, KnowTheirPlaceAcrossContinuations) {
  const auto split = split_words("a\nroute \\\n  add \\\nx");
  ASSERT_EQ(split.lines.size(), 2U);
  const WordLine& line = split.lines[1];
  EXPECT_EQ(line.words[1].line, 3U);
  EXPECT_EQ(line.words[1].column, 3U);
  EXPECT_EQ(line.end_line, 4U);
  EXPECT_EQ(line.end_column, 2U);
}

TEST(Words, QuotesHoldBlanksAndEndTheWord) {
  EXPECT_THAT(only_line("a 'b c' \"d\"e"), ElementsAre("a", "b c", "d", "e"));
  EXPECT_THAT(only_line("\"\" a\"b"), ElementsAre("", "a\"b"));
}

TEST(Words, MistakesHaveAPlace) {
  const auto open = only_mistake("a\nb 'c d\n");
  EXPECT_EQ(open.line, 2U);
  EXPECT_EQ(open.column, 3U);
  EXPECT_EQ(only_mistake(std::string_view("ab\0c\n", 5)).column, 3U);
  EXPECT_EQ(only_mistake("a \\").read, "read the end of the file");
  EXPECT_EQ(only_mistake("\xef\xbb\xbfroute").read, "read a UTF-8 byte order mark");
  EXPECT_EQ(split_words("\xef\xbb\xbfroute x").lines.at(0).words.at(1).column, 10U);
  EXPECT_THAT(split_words("\xff\xfer\0").lines, IsEmpty());
}

TEST(Words, APrintedMultipathRouteIsOneLine) {
  EXPECT_THAT(only_line("route add a metric 5 \n\tnexthop via b weight 1 \n\tnexthop dev c\n"),
              ElementsAre("route", "add", "a", "metric", "5", "nexthop", "via", "b", "weight", "1",
                          "nexthop", "dev", "c"));
  // The object of the same name is a line of its own, and so is a nexthop without a route above it.
  EXPECT_EQ(split_words("route add a\n\tnexthop add id 1\n").lines.size(), 2U);
  EXPECT_EQ(split_words("route add a\n\n\tnexthop via b\n").lines.size(), 2U);
}

TEST(Words, NothingIsNoMistake) {
  for (const auto* text : {"", "\n", "#", " \t\r\n\n", "# only a comment\n"}) {
    EXPECT_THAT(split_words(text).lines, IsEmpty());
    EXPECT_THAT(split_words(text).mistakes, IsEmpty());
  }
}

TEST(Quote, EscapesAndShortens) {
  EXPECT_EQ(quote("a\x01\xff"), "'a\\x01\\xff'");
  EXPECT_EQ(quote(std::string(1000, 'x')).size(), 85U);
}

}  // namespace
}  // namespace sidestep::config
