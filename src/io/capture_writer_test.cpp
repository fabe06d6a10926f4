// SPDX-License-Identifier: Apache-2.0
#include "io/capture_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/capture_bytes.hpp"
#include "io/capture_reader.hpp"
#include "io/pcapng_writer.hpp"

namespace sidestep::io {
namespace {

using namespace testing;  // NOLINT
using ::testing::HasSubstr;

TEST(CaptureWriter, WritesWhatTheReaderReads) {
  const ScratchDirectory directory;
  auto writer = CaptureWriter::create(directory.path("out.pcap"), LinkType::kEthernet);
  ASSERT_TRUE(writer);
  const Bytes packet = ipv6_packet(Bytes(16, 1), Bytes(16, 2));
  writer->write_ethernet(1'700'000'000'123'456'789U, net::MacAddress{{2, 0, 0, 0, 0, 1}},
                         net::MacAddress{{2, 0, 0, 0, 0, 0x0a}}, packet);
  EXPECT_FALSE(std::filesystem::exists(directory.path("out.pcap")))
      << "appears only when it is complete";
  ASSERT_TRUE(writer->finish());

  auto reader = CaptureReader::open(directory.path("out.pcap"));
  ASSERT_TRUE(reader);
  Record record;
  ASSERT_EQ(reader->next(record), ReadOutcome::kRecord);
  EXPECT_EQ(record.time_ns, 1'700'000'000'123'456'789U);
  EXPECT_EQ(Bytes(record.bytes.begin(), record.bytes.end()), ethernet(packet));
  EXPECT_EQ(reader->next(record), ReadOutcome::kEnd);
  EXPECT_FALSE(std::filesystem::exists(directory.path("out.pcap.partial")));
}

TEST(CaptureWriter, LeavesNothingWhenItIsNotFinished) {
  const ScratchDirectory directory;
  {
    auto writer = CaptureWriter::create(directory.path("out.pcap"), LinkType::kRaw);
    ASSERT_TRUE(writer);
    writer->write(1, Bytes(10));
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(CaptureWriter, ReportsAFullDevice) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  const ScratchDirectory directory;
  std::filesystem::create_symlink("/dev/full", directory.path("out.pcap.partial"));
  auto writer = CaptureWriter::create(directory.path("out.pcap"), LinkType::kRaw);
  ASSERT_TRUE(writer);
  for (int i = 0; i < 10'000; ++i) writer->write(1, Bytes(100));
  const auto finished = writer->finish();
  ASSERT_FALSE(finished);
  EXPECT_FALSE(std::filesystem::exists(directory.path("out.pcap")));
}

TEST(CaptureWriter, RefusesToReplaceADevice) {
  const ScratchDirectory directory;
  std::filesystem::create_symlink("/dev/null", directory.path("out.pcap"));
  const auto writer = CaptureWriter::create(directory.path("out.pcap"), LinkType::kRaw);
  ASSERT_FALSE(writer);
  EXPECT_THAT(writer.error().message, HasSubstr("out.pcap: exists and is not a regular file"));
  EXPECT_TRUE(std::filesystem::is_symlink(directory.path("out.pcap")));
}

TEST(CaptureWriter, SaysThatADirectoryIsMissing) {
  const auto writer = CaptureWriter::create("/nonexistent/out.pcap", LinkType::kRaw);
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().code, ENOENT);
}

TEST(PcapngWriter, WritesPacketsWithComments) {
  const ScratchDirectory directory;
  const PcapngInterface interfaces[] = {{"west", LinkType::kEthernet},
                                        {"east", LinkType::kEthernet}};
  auto writer = PcapngWriter::create(directory.path("drops.pcapng"), "sidestep", interfaces);
  ASSERT_TRUE(writer);
  const Bytes frame(61, 9);  // not a multiple of four: padded
  writer->write(0, 1'700'000'000'000'000'001U, frame, 61,
                "no_route: nothing covers the destination");
  writer->write(1, 2, frame, 100, "record_truncated");
  writer->write(1, 3, frame, 7, "record_truncated");
  writer->write(0, 4, {}, 0, "");
  ASSERT_TRUE(writer->finish());

  auto reader = CaptureReader::open(directory.path("drops.pcapng"));
  ASSERT_TRUE(reader);
  Record record;
  ASSERT_EQ(reader->next(record), ReadOutcome::kRecord);
  EXPECT_EQ(record.time_ns, 1'700'000'000'000'000'001U);
  EXPECT_EQ(Bytes(record.bytes.begin(), record.bytes.end()), frame);
  ASSERT_EQ(reader->next(record), ReadOutcome::kRecord);
  EXPECT_EQ(record.original_size, 100U);
  ASSERT_EQ(reader->next(record), ReadOutcome::kRecord);
  EXPECT_EQ(record.original_size, 61U) << "the file stays valid";
  ASSERT_EQ(reader->next(record), ReadOutcome::kRecord);
  EXPECT_EQ(reader->next(record), ReadOutcome::kEnd);

  const Bytes bytes = read_file(directory.path("drops.pcapng"));
  const std::string text(bytes.begin(), bytes.end());
  EXPECT_THAT(text, HasSubstr("no_route: nothing covers the destination"));
  EXPECT_THAT(text, HasSubstr("west"));
}

}  // namespace
}  // namespace sidestep::io
