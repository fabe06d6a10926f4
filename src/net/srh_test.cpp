// SPDX-License-Identifier: Apache-2.0
#include <sidestep/net/srh.hpp>

#include <gtest/gtest.h>

#include "net/bytes_for_test.hpp"

namespace sidestep::net {
namespace {

using namespace test;

bool is_reduced_valid(const Bytes& bytes) {
  return Srh::check(bytes, SrhForm::kReduced).has_value();
}
bool is_full_valid(const Bytes& bytes) { return Srh::check(bytes, SrhForm::kFull).has_value(); }

TEST(Srh, ReadsItsFields) {
  const Bytes bytes = srh({.next_header = 41,
                           .segments_left = 1,
                           .segments = {"fc00::1", "fc00::2", "fc00::3"},
                           .tlvs = {9, 2, 7, 8, 10, 2, 0, 0},
                           .flags = 0x21,
                           .tag = 0x1234});
  const auto header = Srh::check(bytes, SrhForm::kFull).value();
  EXPECT_EQ(header.next_header(), 41);
  EXPECT_EQ(header.hdr_ext_len(), 7);
  EXPECT_EQ(header.size(), 64U);
  EXPECT_EQ(header.routing_type(), kRoutingTypeSegment);
  EXPECT_EQ(header.segments_left(), 1);
  EXPECT_EQ(header.last_entry(), 2);
  EXPECT_EQ(header.flags(), 0x21);
  EXPECT_EQ(header.tag(), 0x1234);
  EXPECT_EQ(header.segment_count(), 3U);
  EXPECT_EQ(header.segment(0), addr("fc00::1"));
  EXPECT_EQ(header.segment(2), addr("fc00::3"));
  EXPECT_FALSE(header.is_reduced());

  EXPECT_EQ(header.tlv_offset(), 56U);
  const auto first = header.tlv_at(header.tlv_offset()).value();
  EXPECT_EQ(first.type, 9);
  EXPECT_EQ(first.data.size(), 2U);
  EXPECT_EQ(first.data[0], 7);
  const auto second = header.tlv_at(first.offset + 2 + first.data.size()).value();
  EXPECT_EQ(second.type, 10);
  EXPECT_EQ(second.offset, 60U);
  EXPECT_FALSE(header.tlv_at(header.size()));
}

// Four segments as other tools write them: the list has last_entry + 1 of them, and none is taken for a TLV.
TEST(Srh, TheListHasOneMoreThanLastEntry) {
  const Bytes bytes = srh(
      {.segments_left = 3,
       .segments = {"fd80:cafe:4444::9999", "fd80:face:c::1", "fd80:face:b::1", "fd80:face:a::1"}});
  const auto header = Srh::check(bytes, SrhForm::kFull).value();
  EXPECT_EQ(header.segment_count(), 4U);
  EXPECT_EQ(header.segment(3), addr("fd80:face:a::1"));
  EXPECT_EQ(header.tlv_offset(), header.size());
}

TEST(Srh, LastEntryCountsSegmentsWithinTheHeader) {
  for (unsigned last_entry = 0; last_entry <= 255; ++last_entry) {
    const Bytes bytes = srh(
        {.segments = {"fc00::1", "fc00::"}, .last_entry = static_cast<std::uint8_t>(last_entry)});
    // Below the real number the second segment is read as TLVs: fc (length 0), then zero bytes, which tile.
    EXPECT_EQ(is_reduced_valid(bytes), last_entry <= 1) << last_entry;
    EXPECT_EQ(is_full_valid(bytes), last_entry <= 1) << last_entry;
  }
}

TEST(Srh, SegmentsLeftByForm) {
  for (unsigned segments_left = 0; segments_left <= 255; ++segments_left) {
    const Bytes bytes = srh({.segments_left = static_cast<std::uint8_t>(segments_left),
                             .segments = {"fc00::1", "fc00::2"}});
    EXPECT_EQ(is_full_valid(bytes), segments_left <= 1) << segments_left;
    EXPECT_EQ(is_reduced_valid(bytes), segments_left <= 2) << segments_left;
  }
  EXPECT_TRUE(Srh::check(srh({.segments_left = 1, .segments = {"fc00::1"}}), SrhForm::kReduced)
                  ->is_reduced());
}

// 127 segments are the most that hdr_ext_len can count.
TEST(Srh, TheLongestIsValid) {
  const std::vector<std::string_view> segments(127, "fc00::1");
  EXPECT_TRUE(is_full_valid(srh({.segments_left = 126, .segments = segments})));
  EXPECT_TRUE(is_reduced_valid(srh({.segments_left = 127, .segments = segments})));
  EXPECT_FALSE(
      is_reduced_valid(srh({.segments_left = 127, .segments = segments, .last_entry = 127})));
}

TEST(Srh, OnlyRoutingTypeFour) {
  for (unsigned type = 0; type <= 255; ++type) {
    const Bytes bytes =
        srh({.segments = {"fc00::1"}, .routing_type = static_cast<std::uint8_t>(type)});
    EXPECT_EQ(is_reduced_valid(bytes), type == 4);
    EXPECT_TRUE(RoutingHeader::check(bytes));
  }
}

TEST(Srh, NeedsRoomForASegment) {
  EXPECT_FALSE(is_reduced_valid(srh({.segments = {}, .last_entry = 0})));
  EXPECT_FALSE(is_reduced_valid(srh({.segments = {}, .last_entry = 255})));
  EXPECT_FALSE(is_reduced_valid(srh({.segments = {}, .tlvs = zeros(8), .last_entry = 0})));
  EXPECT_FALSE(is_reduced_valid(srh({.segments = {}, .tlvs = zeros(8), .last_entry = 255})));
}

TEST(Srh, TheSizeMustBeWhatItSays) {
  const Bytes bytes = srh({.segments = {"fc00::1"}});
  EXPECT_FALSE(is_reduced_valid(concat(bytes, zeros(8))));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(Srh::check(std::span<const std::uint8_t>(bytes).first(size), SrhForm::kReduced));
    EXPECT_FALSE(RoutingHeader::check(std::span<const std::uint8_t>(bytes).first(size)));
  }
}

TEST(Srh, TlvsTileTheRestExactly) {
  const auto with = [](const Bytes& tlvs) {
    return is_reduced_valid(srh({.segments = {"fc00::1"}, .tlvs = tlvs}));
  };
  EXPECT_TRUE(with(zeros(8)));  // four times type 0, length 0
  EXPECT_TRUE(with({4, 6, 0, 0, 0, 0, 0, 0}));
  EXPECT_TRUE(with({4, 2, 9, 9, 4, 2, 9, 9}));
  EXPECT_FALSE(with({4, 5, 0, 0, 0, 0, 0, 0}));  // 7 bytes, and one zero byte that is no TLV
  EXPECT_FALSE(
      with({0, 9, 5, 0, 0, 0, 0, 0}));  // a Pad1 in front has a length to the kernel, here 9
  EXPECT_FALSE(with({4, 7, 0, 0, 0, 0, 0, 0}));
  EXPECT_FALSE(with({4, 255, 0, 0, 0, 0, 0, 0}));
  EXPECT_TRUE(with(concat(Bytes{5, 38}, zeros(38))));
}

TEST(Srh, HmacIsTheLastTlvWithItsFlag) {
  const Bytes tlv = concat(Bytes{5, 38}, zeros(38));
  const auto has = [](const SrhFields& fields) {
    return RoutingHeader::check(srh(fields))->has_hmac();
  };
  EXPECT_TRUE(has({.segments = {"fc00::1"}, .tlvs = tlv, .flags = 8}));
  EXPECT_TRUE(has({.segments = {"fc00::1"}, .tlvs = concat(zeros(8), tlv), .flags = 0xff}));
  EXPECT_FALSE(has({.segments = {"fc00::1"}, .tlvs = tlv, .flags = 0xf7}));
  EXPECT_FALSE(has({.segments = {"fc00::1"}, .tlvs = concat(tlv, zeros(8)), .flags = 8}));
  EXPECT_FALSE(has({.segments = {"fc00::1"}, .tlvs = concat(Bytes{5, 37}, zeros(38)), .flags = 8}));
  EXPECT_FALSE(has({.segments = {"fc00::1"}, .tlvs = concat(Bytes{6, 38}, zeros(38)), .flags = 8}));
  EXPECT_FALSE(has({.segments = {"fc00::1"}, .flags = 8}));
  EXPECT_FALSE(has({.segments = {}, .last_entry = 255, .flags = 8}));
  // A last entry that covers the TLV leaves no room for it, even where the bytes are one.
  EXPECT_FALSE(has({.segments = {"fc00::1"}, .tlvs = tlv, .last_entry = 1, .flags = 8}));
}

TEST(RoutingHeader, CountsAddressesByItsSize) {
  const Bytes bytes = srh({.segments_left = 200,
                           .segments = {"fc00::1", "fc00::2"},
                           .tlvs = zeros(8),
                           .last_entry = 99});
  const auto header = RoutingHeader::check(bytes).value();
  EXPECT_EQ(header.address_count(), 2U);
  EXPECT_EQ(header.address(1), addr("fc00::2"));
  EXPECT_EQ(header.bytes().size(), bytes.size());
  EXPECT_EQ(RoutingHeader::check(srh({.segments = {}}))->address_count(), 0U);
}

TEST(RoutingHeader, WritesSegmentsLeftOnly) {
  Bytes bytes = srh({.segments_left = 2, .segments = {"fc00::1", "fc00::2"}});
  Bytes expected = bytes;
  expected[3] = 1;
  MutableRoutingHeader::check(bytes)->set_segments_left(1);
  EXPECT_EQ(bytes, expected);
}

}  // namespace
}  // namespace sidestep::net
