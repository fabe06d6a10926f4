// SPDX-License-Identifier: Apache-2.0
// Every oddity of a capture file, made by hand, and what the reader says to it.
#include "io/capture_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "io/capture_bytes.hpp"

namespace sidestep::io {
namespace {

using namespace testing;  // NOLINT: the captures of capture_bytes.hpp
using ::testing::HasSubstr;

Bytes operator+(Bytes left, const Bytes& right) {
  append(left, right);
  return left;
}

Bytes cut(Bytes bytes, std::size_t count) {
  bytes.resize(bytes.size() - count);
  return bytes;
}

struct Seen {
  std::vector<std::pair<std::size_t, std::uint32_t>> lengths;
  std::vector<std::uint64_t> times;
  ReadOutcome end = ReadOutcome::kEnd;
  std::string message;
};

Seen read_all(const Bytes& bytes) {
  const ScratchDirectory directory;
  auto reader = CaptureReader::open(directory.write("in", bytes));
  Seen seen;
  if (!reader) {
    seen.message = reader.error().message;
    seen.end = ReadOutcome::kBroken;
    return seen;
  }
  Record record;
  while ((seen.end = reader->next(record)) == ReadOutcome::kRecord) {
    seen.lengths.emplace_back(record.bytes.size(), record.original_size);
    seen.times.push_back(record.time_ns);
  }
  seen.message = reader->message();
  return seen;
}

std::string open_error(const Bytes& bytes) {
  const ScratchDirectory directory;
  const auto reader = CaptureReader::open(directory.write("in", bytes));
  return reader ? "opened" : reader.error().message;
}

using Lengths = std::vector<std::pair<std::size_t, std::uint32_t>>;
const Bytes kFrame(60, 7);

TEST(CaptureReader, HandsOnBothLengths) {
  const auto seen = read_all(pcap_header() + pcap_lying_record(kFrame, 60, 100) +
                             pcap_lying_record(kFrame, 60, 40) + pcap_lying_record({}, 0, 0) +
                             pcap_record(kFrame));
  EXPECT_EQ(seen.lengths, (Lengths{{60, 100}, {60, 40}, {0, 0}, {60, 60}}));
  EXPECT_EQ(seen.end, ReadOutcome::kEnd);
}

TEST(CaptureReader, MakesARecordBeyondTheSnapLengthATruncatedOne) {
  const auto seen = read_all(pcap_header(1, 40) + pcap_record(kFrame));
  EXPECT_EQ(seen.lengths, (Lengths{{40, 60}}));
}

TEST(CaptureReader, TellsACutOffLastRecordFromTheEnd) {
  const Bytes whole = pcap_header() + pcap_record(kFrame);
  for (const Bytes& bytes :
       {cut(whole + pcap_record(kFrame), 1), cut(whole + pcap_record(kFrame), 60),
        cut(whole + pcap_record(kFrame), 70)}) {
    const auto seen = read_all(bytes);
    EXPECT_EQ(seen.lengths, (Lengths{{60, 60}}));
    EXPECT_EQ(seen.end, ReadOutcome::kCutOff);
    EXPECT_THAT(seen.message, HasSubstr("truncated"));
  }
}

TEST(CaptureReader, CallsARecordOfImpossibleSizeBroken) {
  const auto seen = read_all(pcap_header() + pcap_record(kFrame) +
                             pcap_lying_record(kFrame, 0x7fffffff, 0x7fffffff));
  EXPECT_EQ(seen.lengths.size(), 1U);
  EXPECT_EQ(seen.end, ReadOutcome::kBroken);
  EXPECT_THAT(seen.message, HasSubstr("2147483647"));
}

TEST(CaptureReader, ReadsPcapng) {
  const auto seen = read_all(pcapng_section() + pcapng_interface(1) + pcapng_packet(kFrame) +
                             pcapng_packet(kFrame, 0, 99) + pcapng_packet(kFrame, 0, 40));
  EXPECT_EQ(seen.lengths, (Lengths{{60, 60}, {60, 99}, {60, 40}}));
  EXPECT_EQ(seen.times.at(0), 5'000U);
  EXPECT_EQ(seen.end, ReadOutcome::kEnd);
}

TEST(CaptureReader, TellsACutOffPcapng) {
  const auto seen = read_all(cut(
      pcapng_section() + pcapng_interface(1) + pcapng_packet(kFrame) + pcapng_packet(kFrame), 9));
  EXPECT_EQ(seen.lengths.size(), 1U);
  EXPECT_EQ(seen.end, ReadOutcome::kCutOff);
}

TEST(CaptureReader, RefusesSeveralLinkTypesInOneFile) {
  const auto seen = read_all(pcapng_section() + pcapng_interface(1) + pcapng_packet(kFrame) +
                             pcapng_interface(101) + pcapng_packet(kFrame, 1));
  EXPECT_EQ(seen.lengths.size(), 1U);
  EXPECT_EQ(seen.end, ReadOutcome::kBroken);
  EXPECT_THAT(seen.message, HasSubstr("different from the type of the first interface"));
}

TEST(CaptureReader, NamesAnUnknownLinkType) {
  EXPECT_THAT(open_error(pcap_header(105)),
              HasSubstr("link type IEEE802_11 (105) is not supported"));
  EXPECT_THAT(open_error(pcap_header(105)), HasSubstr("LINUX_SLL2 (276)"));
  EXPECT_THAT(open_error(pcap_header(9999)), HasSubstr("link type 9999 is not supported"));
  EXPECT_THAT(open_error(pcapng_section() + pcapng_interface(105)), HasSubstr("IEEE802_11 (105)"));
}

TEST(CaptureReader, OpensEverySupportedLinkType) {
  for (const std::uint32_t type : {0U, 1U, 12U, 101U, 108U, 113U, 228U, 229U, 276U}) {
    EXPECT_EQ(open_error(pcap_header(type)), "opened") << type;
  }
}

TEST(CaptureReader, SaysWhyAFileIsNoCapture) {
  EXPECT_THAT(open_error({}), HasSubstr("the file is empty"));
  EXPECT_THAT(open_error(Bytes(100, 'x')), HasSubstr("not a capture"));
  EXPECT_THAT(open_error(cut(pcap_header(), 24 - 10)), HasSubstr("truncated"));
  EXPECT_THAT(open_error(cut(pcap_header(), 24 - 4)), HasSubstr("truncated"));
  const auto missing = CaptureReader::open("/nonexistent/file");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ENOENT);
  const ScratchDirectory directory;
  EXPECT_THAT(CaptureReader::open(directory.path()).error().message, HasSubstr("Is a directory"));
}

// Whatever a file holds, reading it ends, no record exceeds libpcap's own limit, and no frame is taken for more than it is.
TEST(CaptureReader, EndsOnMutatedFiles) {
  const Bytes pcap =
      pcap_header() + pcap_record(kFrame) + pcap_record(kFrame) + pcap_record(kFrame);
  const Bytes pcapng =
      pcapng_section() + pcapng_interface(1) + pcapng_packet(kFrame) + pcapng_packet(kFrame);
  const ScratchDirectory directory;
  std::mt19937 random(7);  // the seed of every failure
  for (int round = 0; round < 1000; ++round) {
    Bytes bytes = round % 2 == 0 ? pcap : pcapng;
    for (std::uint32_t i = 0; i <= random() % 4; ++i) {
      bytes[random() % bytes.size()] =
          static_cast<std::uint8_t>(random() % 3 == 0 ? 0xff : random());
    }
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    auto reader = CaptureReader::open(directory.write("in", bytes));
    if (!reader) continue;
    Record record;
    int record_count = 0;
    while (reader->next(record) == ReadOutcome::kRecord) {
      ASSERT_LT(++record_count, 100) << "round " << round;
      ASSERT_LE(record.bytes.size(), 262'144U) << "round " << round;
      const auto frame = dissect(reader->link_type(), record.bytes);
      ASSERT_LE(frame.header_size, record.bytes.size()) << "round " << round;
      EXPECT_FALSE(describe(frame).empty());
    }
  }
}

TEST(CaptureReader, TakesSecondsAsUnsignedAndClampsNonsense) {
  const auto seen = read_all(pcap_header() + pcap_record(kFrame, 0xffffffff, 4'000'000'000U) +
                             pcap_record(kFrame, 7, 3));
  EXPECT_EQ(seen.times.at(0) / 1'000'000'000, 0xffffffffU);
  EXPECT_EQ(seen.times.at(1), 7'000'003'000U);
}

}  // namespace
}  // namespace sidestep::io
