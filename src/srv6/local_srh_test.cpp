// SPDX-License-Identifier: Apache-2.0
// SRHs that end at an address of this node without a SID.
#include <algorithm>

#include <gtest/gtest.h>

#include "net/bytes_for_test.hpp"
#include "srv6/local_srh.hpp"

namespace sidestep::srv6 {
namespace {

using namespace net::test;
using packet::DropReason;
using packet::Packet;
using Outcome = LocalSrhResult::Outcome;

constexpr std::string_view kHere = "2001:db8:a::1";
constexpr std::string_view kLast = "2001:db8:9::9";
constexpr std::size_t kOffset = net::kIpv6HeaderSize;
const Bytes kUdp = udp(1000, 2000);

Bytes to_here(const SrhFields& fields, const Bytes& rest) {
  return ipv6({.next_header = 43, .destination = kHere}, srh(fields), rest);
}

Packet packet_of(const Bytes& bytes) {
  Packet packet;
  EXPECT_TRUE(packet.assign(bytes));
  return packet;
}

Bytes bytes_of(const Packet& packet) { return {packet.bytes().begin(), packet.bytes().end()}; }

TEST(LocalSrh, UsedUpGoesOnWithTheNextHeader) {
  const Bytes bytes = to_here({.segments_left = 0, .segments = {kHere}}, kUdp);
  Packet packet = packet_of(bytes);
  EXPECT_EQ(check_local_srh(packet, kOffset, Policy{}), DropReason::kNone);
  EXPECT_EQ(local_srh(packet, kOffset).outcome, Outcome::kNextHeader);
  EXPECT_EQ(bytes_of(packet), bytes);
}

TEST(LocalSrh, UsedUpBeforeIpv6IsDecapsulated) {
  const Bytes inner = ipv6({.source = "2001:db8:1::1", .destination = "2001:db8:2::2"}, kUdp);
  Packet packet =
      packet_of(to_here({.next_header = 41, .segments_left = 0, .segments = {kHere}}, inner));
  packet.meta.ingress = IfIndex{7};
  EXPECT_EQ(local_srh(packet, kOffset).outcome, Outcome::kReceive);
  EXPECT_EQ(bytes_of(packet), inner);
  EXPECT_EQ(packet.meta.ingress, IfIndex{7});

  // What is inside is judged when it is received; here it may be anything, even nothing.
  Packet empty =
      packet_of(to_here({.next_header = 41, .segments_left = 0, .segments = {kHere}}, {}));
  EXPECT_EQ(local_srh(empty, kOffset).outcome, Outcome::kReceive);
  EXPECT_EQ(empty.size(), 0U);
}

TEST(LocalSrh, UsedUpBeforeIpv4IsNotImplemented) {
  Packet packet =
      packet_of(to_here({.next_header = 4, .segments_left = 0, .segments = {kHere}}, zeros(20)));
  EXPECT_EQ(local_srh(packet, kOffset),
            (LocalSrhResult{Outcome::kDrop, DropReason::kNotImplemented, 0}));
}

TEST(LocalSrh, AdvancesStepByStep) {
  const Bytes bytes = to_here({.segments_left = 2, .segments = {kLast, kHere, kHere}}, kUdp);
  Packet packet = packet_of(bytes);
  EXPECT_EQ(local_srh(packet, kOffset).outcome, Outcome::kLookup);
  Bytes expected = bytes;
  expected[kOffset + 3] = 1;
  EXPECT_EQ(bytes_of(packet), expected);

  EXPECT_EQ(local_srh(packet, kOffset).outcome, Outcome::kLookup);
  expected[kOffset + 3] = 0;
  std::ranges::copy(addr(kLast).bytes, expected.begin() + net::kIpv6DestinationOffset);
  EXPECT_EQ(bytes_of(packet), expected);
}

TEST(LocalSrh, RefusesSegmentsLeftThatAreNoIndex) {
  const LocalSrhResult refused{Outcome::kParameterProblem, DropReason::kSegmentsLeftInvalid, 43};
  // A reduced SRH with all segments left counts among them.
  for (const std::uint8_t segments_left : Bytes{2, 3, 255}) {
    const Bytes bytes = to_here({.segments_left = segments_left, .segments = {kLast, kHere}}, kUdp);
    Packet packet = packet_of(bytes);
    EXPECT_EQ(local_srh(packet, kOffset), refused);
    EXPECT_EQ(bytes_of(packet), bytes);
  }
  Packet no_segments = packet_of(to_here({.segments_left = 1, .segments = {}}, kUdp));
  EXPECT_EQ(local_srh(no_segments, kOffset), refused);

  Packet behind = packet_of(ipv6({.next_header = 60, .destination = kHere}, options(43),
                                 srh({.segments_left = 1, .segments = {kLast}}), kUdp));
  EXPECT_EQ(local_srh(behind, kOffset + 8).pointer, 51U);
}

TEST(LocalSrh, IgnoresLastEntryAndTlvs) {
  for (const std::uint8_t last_entry : Bytes{0, 200, 255}) {
    Packet packet = packet_of(to_here({.segments_left = 1,
                                       .segments = {kLast, kHere},
                                       .tlvs = {4, 9, 0, 0, 0, 0, 0, 0},
                                       .last_entry = last_entry,
                                       .flags = 8},
                                      kUdp));
    EXPECT_EQ(check_local_srh(packet, kOffset, Policy{}), DropReason::kNone);
    EXPECT_EQ(local_srh(packet, kOffset).outcome, Outcome::kLookup);
  }
}

TEST(LocalSrh, CutOffHeadersAreMalformed) {
  const Bytes whole = to_here({.segments_left = 1, .segments = {kLast, kHere}}, {});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    Packet packet =
        packet_of(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
    EXPECT_EQ(check_local_srh(packet, kOffset, Policy{}), DropReason::kExtensionHeaderMalformed);
    EXPECT_EQ(local_srh(packet, kOffset).outcome, Outcome::kDrop);
  }
}

TEST(LocalSrh, HmacFollowsThePolicy) {
  const SrhFields plain{.segments_left = 0, .segments = {kHere}};
  SrhFields with = plain;
  with.tlvs = concat(Bytes{5, 38}, zeros(38));
  with.flags = 8;
  const auto judge = [](const SrhFields& fields, std::int32_t require_hmac) {
    return check_local_srh(packet_of(to_here(fields, kUdp)), kOffset, Policy{require_hmac});
  };
  EXPECT_EQ(judge(plain, -1), DropReason::kNone);
  EXPECT_EQ(judge(plain, 0), DropReason::kNone);
  EXPECT_EQ(judge(plain, 1), DropReason::kHmac);
  EXPECT_EQ(judge(with, -1), DropReason::kNone);
  EXPECT_EQ(judge(with, 0), DropReason::kHmac);
  EXPECT_EQ(judge(with, 1), DropReason::kHmac);
}

}  // namespace
}  // namespace sidestep::srv6
