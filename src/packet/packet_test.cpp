// SPDX-License-Identifier: Apache-2.0
#include "packet/packet.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace sidestep::packet {
namespace {

std::vector<std::uint8_t> counting_bytes(std::size_t size) {
  std::vector<std::uint8_t> bytes(size);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{1});
  return bytes;
}

bool holds(const Packet& packet, const std::vector<std::uint8_t>& bytes) {
  return std::ranges::equal(packet.bytes(), bytes);
}

TEST(Packet, AssignCopiesAndForgetsTheOneBefore) {
  Packet packet;
  EXPECT_EQ(packet.size(), 0U);
  packet.meta.mark = 7;
  packet.drop(DropReason::kNoRoute);
  packet.dst.set_owned(fib::make_uncached({}));
  ASSERT_EQ(fib::uncached_count(), 1U);

  const auto bytes = counting_bytes(94);
  ASSERT_TRUE(packet.assign(bytes));
  EXPECT_TRUE(holds(packet, bytes));
  EXPECT_EQ(packet.meta.mark, 0U);
  EXPECT_EQ(packet.meta.verdict, Verdict::kPending);
  EXPECT_EQ(packet.meta.drop_reason, DropReason::kNone);
  EXPECT_FALSE(packet.dst);
  EXPECT_EQ(fib::uncached_count(), 0U);
}

TEST(Packet, AssignRefusesWhatIsTooLong) {
  Packet packet;
  EXPECT_TRUE(packet.assign(counting_bytes(Packet::kSizeMax)));
  EXPECT_EQ(packet.size(), Packet::kSizeMax);
  EXPECT_FALSE(packet.assign(counting_bytes(Packet::kSizeMax + 1)));
  EXPECT_FALSE(packet.reset(Packet::kSizeMax + 1));
  EXPECT_TRUE(packet.assign({}));
  EXPECT_EQ(packet.size(), 0U);
}

TEST(Packet, PrependUsesTheHeadroomAndNoMore) {
  Packet packet;
  ASSERT_TRUE(packet.assign(counting_bytes(10)));
  std::uint8_t* front = packet.prepend(Packet::kHeadroom);
  ASSERT_NE(front, nullptr);
  EXPECT_EQ(front, packet.bytes().data());
  EXPECT_EQ(packet.size(), Packet::kHeadroom + 10);
  EXPECT_EQ(packet.bytes()[Packet::kHeadroom], 1);
  EXPECT_EQ(packet.prepend(1), nullptr);
  EXPECT_EQ(packet.size(), Packet::kHeadroom + 10);
  ASSERT_TRUE(packet.assign(counting_bytes(10)));
  EXPECT_NE(packet.prepend(1), nullptr);
}

TEST(Packet, RemoveFrontAndTruncate) {
  Packet packet;
  ASSERT_TRUE(packet.assign(counting_bytes(10)));
  packet.remove_front(3);
  packet.truncate(4);
  EXPECT_TRUE(holds(packet, {4, 5, 6, 7}));
  packet.remove_front(4);
  EXPECT_EQ(packet.size(), 0U);
}

TEST(PacketDeathTest, MisuseAborts) {
  Packet packet;
  ASSERT_TRUE(packet.assign(counting_bytes(10)));
  EXPECT_DEATH(packet.remove_front(11), "count <= size_");
  EXPECT_DEATH(packet.truncate(11), "size <= size_");
}

TEST(Batch, KeepsPacketsAndTheirStorage) {
  Batch batch;
  EXPECT_TRUE(batch.empty());
  for (std::size_t i = 0; i < Batch::kCapacity; ++i)
    ASSERT_TRUE(batch.add().assign(counting_bytes(i)));
  EXPECT_TRUE(batch.full());
  const std::uint8_t* storage = batch[5].bytes().data();
  EXPECT_EQ(batch[63].size(), 63U);
  batch.remove_last();
  EXPECT_EQ(batch.size(), 63U);
  EXPECT_EQ(std::distance(batch.begin(), batch.end()), 63);
  batch.clear();
  EXPECT_TRUE(batch.empty());
  for (std::size_t i = 0; i < 6; ++i) ASSERT_TRUE(batch.add().reset(1));
  EXPECT_EQ(batch[5].bytes().data(), storage);
}

TEST(Batch, ClearGivesDestinationsBack) {
  Batch batch;
  batch.add().dst.set_owned(fib::make_uncached({}));
  ASSERT_EQ(fib::uncached_count(), 1U);
  batch.clear();
  EXPECT_EQ(fib::uncached_count(), 0U);
}

}  // namespace
}  // namespace sidestep::packet
