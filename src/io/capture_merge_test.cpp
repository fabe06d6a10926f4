// SPDX-License-Identifier: Apache-2.0
#include "io/capture_merge.hpp"

#include <gtest/gtest.h>

#include "io/capture_bytes.hpp"

namespace sidestep::io {
namespace {

using namespace testing;  // NOLINT

/// A capture whose records are one byte each (its name) at the given seconds.
CaptureReader capture(const ScratchDirectory& directory, const std::string& name,
                      const std::vector<std::uint32_t>& seconds) {
  Bytes bytes = pcap_header(101);
  for (const auto second : seconds)
    append(bytes, pcap_record({static_cast<std::uint8_t>(name[0])}, second));
  return std::move(*CaptureReader::open(directory.write(name, bytes)));
}

std::vector<CaptureReader> captures(const ScratchDirectory& directory,
                                    const std::vector<std::vector<std::uint32_t>>& all) {
  std::vector<CaptureReader> readers;
  for (std::size_t i = 0; i < all.size(); ++i) {
    readers.push_back(capture(directory, std::string(1, static_cast<char>('a' + i)), all[i]));
  }
  return readers;
}

std::string merged(const std::vector<std::vector<std::uint32_t>>& all) {
  const ScratchDirectory directory;
  CaptureMerge merge(captures(directory, all));
  std::string text;
  CaptureMerge::Next next;
  while (merge.next(next)) {
    EXPECT_EQ(next.record.bytes[0], 'a' + next.input);
    text += static_cast<char>(next.record.bytes[0]);
    text += std::to_string(next.clock_ns / 1'000'000'000);
    text += ' ';
  }
  return text;
}

TEST(CaptureMerge, OrdersByTime) {
  EXPECT_EQ(merged({{1, 4, 5}, {2, 3, 6}}), "a1 b2 b3 a4 a5 b6 ");
}

TEST(CaptureMerge, TakesTheEarlierFileFirstAtEqualTimes) {
  EXPECT_EQ(merged({{1, 1, 2}, {1, 2}, {0, 1}}), "c0 a1 a1 b1 c1 a2 b2 ");
}

TEST(CaptureMerge, KeepsAFilesOrderAndNeverTurnsTheClockBack) {
  EXPECT_EQ(merged({{5, 3, 6}, {4, 7}}), "b4 a5 a5 a6 b7 ");
}

TEST(CaptureMerge, CountsRecordsThatGoBack) {
  const ScratchDirectory directory;
  CaptureMerge merge(captures(directory, {{5, 3, 4, 6}}));
  CaptureMerge::Next next;
  while (merge.next(next)) {
  }
  EXPECT_EQ(merge.end_of(0).time_backwards, 2U);
  EXPECT_EQ(merge.end_of(0).record_count, 4U);
  EXPECT_EQ(merge.end_of(0).outcome, ReadOutcome::kEnd);
}

TEST(CaptureMerge, DoesWithoutAnyRecord) { EXPECT_EQ(merged({{}, {}}), ""); }

}  // namespace
}  // namespace sidestep::io
