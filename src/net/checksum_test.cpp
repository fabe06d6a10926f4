// SPDX-License-Identifier: Apache-2.0
#include <sidestep/net/checksum.hpp>

#include <gtest/gtest.h>

#include "net/bytes_for_test.hpp"

namespace sidestep::net {
namespace {

using namespace test;

// RFC 1071 §3: 0001 f203 f4f5 f6f7 sum to ddf2.
TEST(Checksum, SumOfTheRfc) {
  EXPECT_EQ(ones_complement_sum(Bytes{0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7}), 0xddf2);
}

TEST(Checksum, OddSizesArePaddedWithZero) {
  EXPECT_EQ(ones_complement_sum({}), 0);
  EXPECT_EQ(ones_complement_sum(Bytes{0x12}), 0x1200);
  EXPECT_EQ(ones_complement_sum(Bytes{0x00, 0x01, 0x12}), 0x1201);
  EXPECT_EQ(ones_complement_sum(Bytes{0xff, 0xff}, 1), 1);
}

TEST(Checksum, GoesOnFromASum) {
  const Bytes first{0xab, 0xcd, 0xff, 0x01};
  const Bytes second{0x80, 0x00, 0x77};
  EXPECT_EQ(ones_complement_sum(second, ones_complement_sum(first)),
            ones_complement_sum(concat(first, second)));
}

// The words of the pseudo-header and the message, added by hand.
TEST(Checksum, OfAnEchoRequest) {
  const Bytes message{0x80, 0x00, 0x00, 0x00, 0x12, 0x34, 0x00, 0x01, 0x61, 0x62, 0x63, 0x64};
  const std::uint32_t sum =
      0x0001 + 0x0001 + 0x000c + 0x003a + 0x8000 + 0x1234 + 0x0001 + 0x6162 + 0x6364;
  const auto folded = static_cast<std::uint16_t>((sum & 0xffff) + (sum >> 16));
  EXPECT_EQ(upper_layer_checksum(addr("::1"), addr("::1"), kNextHeaderIcmpv6, message),
            static_cast<std::uint16_t>(~folded));
}

TEST(Checksum, IsZeroExactlyWhenRight) {
  const Ipv6Address source = addr("2001:db8::1");
  const Ipv6Address destination = addr("2001:db8::2");
  Bytes message = icmpv6(128, 0, 0x12340001, {1, 2, 3, 4, 5}, "2001:db8::1", "2001:db8::2");
  EXPECT_EQ(upper_layer_checksum(source, destination, kNextHeaderIcmpv6, message), 0);
  EXPECT_NE(upper_layer_checksum(source, addr("2001:db8::3"), kNextHeaderIcmpv6, message), 0);
  EXPECT_NE(upper_layer_checksum(source, destination, kNextHeaderUdp, message), 0);
  for (std::size_t bit = 0; bit < message.size() * 8; ++bit) {
    const auto mask = static_cast<std::uint8_t>(1U << bit % 8);
    message[bit / 8] ^= mask;
    EXPECT_NE(upper_layer_checksum(source, destination, kNextHeaderIcmpv6, message), 0) << bit;
    message[bit / 8] ^= mask;
  }
}

// A packet with a routing header is summed with its last segment, not with its current destination (RFC 8200 §8.1).
TEST(Checksum, UsesTheFinalDestination) {
  const Bytes message = icmpv6(128, 0, 1, {}, "2001:db8::1", "2001:db8::9");
  const Bytes packet =
      ipv6({.next_header = 43, .source = "2001:db8::1", .destination = "fc00::1"},
           srh({.next_header = 58, .segments_left = 1, .segments = {"2001:db8::9", "fc00::1"}}),
           message);
  const UpperLayer upper = find_upper_layer(packet);
  const auto bytes = std::span<const std::uint8_t>(packet).subspan(upper.header.offset);
  const auto header = Ipv6Header::check(packet).value();
  const auto routing =
      RoutingHeader::check(std::span<const std::uint8_t>(packet).subspan(40)).value();
  EXPECT_EQ(upper_layer_checksum(header.source(), routing.address(0), upper.header.type, bytes), 0);
  EXPECT_NE(upper_layer_checksum(header.source(), header.destination(), upper.header.type, bytes),
            0);
}

// Largest packet of the largest words: no carry is lost.
TEST(Checksum, OfTheLargestPacket) {
  const Bytes ones(65'536, 0xff);
  EXPECT_EQ(ones_complement_sum(ones), 0xffff);
}

}  // namespace
}  // namespace sidestep::net
