// SPDX-License-Identifier: Apache-2.0
#include <sidestep/net/headers.hpp>

#include <algorithm>
#include <utility>

#include <gtest/gtest.h>

#include "net/bytes_for_test.hpp"

namespace sidestep::net {
namespace {

using namespace test;

const Bytes kData = udp(1000, 2000, {1, 2, 3, 4});

TEST(Ipv6Header, ReadsWhatWasWritten) {
  Bytes bytes(kIpv6HeaderSize, 0xff);
  auto header = MutableIpv6Header::check(bytes).value();
  header.set_version_class_label(0xa5, 0x12345);
  header.set_payload_length(0x1234);
  header.set_next_header(kNextHeaderRouting);
  header.set_hop_limit(63);
  header.set_source(addr("2001:db8::1"));
  header.set_destination(addr("fc00::2"));
  EXPECT_EQ(header.version(), 6);
  EXPECT_EQ(header.traffic_class(), 0xa5);
  EXPECT_EQ(header.ecn(), 1);
  EXPECT_EQ(header.flow_label(), 0x12345U);
  EXPECT_EQ(header.payload_length(), 0x1234);
  EXPECT_EQ(header.next_header(), 43);
  EXPECT_EQ(header.hop_limit(), 63);
  EXPECT_EQ(header.source(), addr("2001:db8::1"));
  EXPECT_EQ(header.destination(), addr("fc00::2"));
  const Bytes start{0x6a, 0x51, 0x23, 0x45, 0x12, 0x34, 43, 63, 0x20, 0x01};
  EXPECT_TRUE(std::equal(start.begin(), start.end(), bytes.begin()));
}

TEST(Ipv6Header, NeedsFortyBytes) {
  const Bytes bytes(41);
  const std::span<const std::uint8_t> all(bytes);
  EXPECT_FALSE(Ipv6Header::check(all.first(0)));
  EXPECT_FALSE(Ipv6Header::check(all.first(39)));
  EXPECT_TRUE(Ipv6Header::check(all.first(40)));
  EXPECT_TRUE(Ipv6Header::check(all));
}

TEST(ExtensionHeaderWalk, PassesEveryKindAndTellsWhereItIs) {
  const Bytes routing = srh({.next_header = 44, .segments = {"fc00::1"}});
  const Bytes packet = ipv6({.next_header = 0}, options(60), options(43), routing,
                            fragment(51, 0, true), authentication(60), options(17), kData);
  struct Step {
    std::uint8_t type, next_header;
    std::size_t offset, size, next_header_offset;
  };
  const Step steps[] = {{0, 60, 40, 8, 6},   {60, 43, 48, 8, 40},  {43, 44, 56, 24, 48},
                        {44, 51, 80, 8, 56}, {51, 60, 88, 12, 80}, {60, 17, 100, 8, 88}};
  ExtensionHeaderWalk walk(packet);
  for (const Step& step : steps) {
    const auto header = walk.next();
    ASSERT_TRUE(header);
    EXPECT_EQ(header->type, step.type);
    EXPECT_EQ(header->next_header, step.next_header);
    EXPECT_EQ(header->offset, step.offset);
    EXPECT_EQ(header->size, step.size);
    EXPECT_EQ(header->next_header_offset, step.next_header_offset);
    EXPECT_EQ(packet[header->next_header_offset], step.type);
  }
  EXPECT_FALSE(walk.next());
  EXPECT_EQ(walk.stop(), WalkStop::kUpperLayer);
  EXPECT_EQ(walk.position().type, 17);
  EXPECT_EQ(walk.position().offset, 108U);
  EXPECT_EQ(walk.position().next_header_offset, 100U);
  EXPECT_TRUE(walk.is_fragment());
  EXPECT_TRUE(walk.more_fragments());
  EXPECT_EQ(walk.fragment_offset(), 0);
  EXPECT_FALSE(walk.next());  // and stays so
}

TEST(ExtensionHeaderWalk, StopsWhereNothingCanBeRead) {
  const auto stop_of = [](const Bytes& packet) { return find_upper_layer(packet).stop; };
  EXPECT_EQ(stop_of(ipv6({.next_header = 17}, kData)), WalkStop::kUpperLayer);
  EXPECT_EQ(stop_of(ipv6({.next_header = 135}, options(59))), WalkStop::kUpperLayer);  // mobility
  EXPECT_EQ(stop_of(ipv6({.next_header = 255})), WalkStop::kUpperLayer);
  EXPECT_EQ(stop_of(ipv6({.next_header = 59}, kData)), WalkStop::kNoNextHeader);
  EXPECT_EQ(stop_of(ipv6({.next_header = 60}, options(59))), WalkStop::kNoNextHeader);
  EXPECT_EQ(stop_of(ipv6({.next_header = 50}, kData)), WalkStop::kEsp);
  EXPECT_EQ(stop_of(ipv6({.next_header = 44}, fragment(17, 8, false), kData)),
            WalkStop::kNonFirstFragment);
  EXPECT_EQ(stop_of(ipv6({.next_header = 44}, fragment(17, 0xfff8, true))),
            WalkStop::kNonFirstFragment);
  EXPECT_EQ(stop_of(ipv6({.next_header = 44}, fragment(17, 0, true), kData)),
            WalkStop::kUpperLayer);
  EXPECT_EQ(stop_of(ipv6({.next_header = 60})), WalkStop::kTruncated);
  EXPECT_EQ(stop_of(ipv6({.next_header = 60}, Bytes{17, 1, 1, 4, 0, 0, 0, 0})),
            WalkStop::kTruncated);
  EXPECT_EQ(stop_of(ipv6({.next_header = 51}, Bytes{17, 3, 0, 0, 0, 0, 0, 0})),
            WalkStop::kTruncated);
  EXPECT_EQ(stop_of(ipv6({.next_header = 43}, Bytes{17, 2, 4, 1, 0, 0, 0, 0})),
            WalkStop::kTruncated);
  EXPECT_EQ(stop_of({}), WalkStop::kTruncated);
}

// The second octet of a fragment header is reserved: were it a length, the walk would leave the packet.
TEST(ExtensionHeaderWalk, AFragmentHeaderIsAlwaysEightBytes) {
  Bytes header = fragment(43, 0, false);
  header[1] = 0xff;
  const Bytes packet =
      ipv6({.next_header = 0}, options(44), header, srh({.segments = {"fc00::1"}}), kData);
  const UpperLayer upper = find_upper_layer(packet);
  EXPECT_EQ(upper.stop, WalkStop::kUpperLayer);
  EXPECT_EQ(upper.header.type, 17);
  EXPECT_EQ(upper.header.offset, 80U);
}

TEST(ExtensionHeaderWalk, ANonFirstFragmentNamesItsProtocol) {
  const UpperLayer upper =
      find_upper_layer(ipv6({.next_header = 44}, fragment(17, 1480, true), kData));
  EXPECT_EQ(upper.stop, WalkStop::kNonFirstFragment);
  EXPECT_EQ(upper.header.type, 17);
  EXPECT_EQ(upper.fragment_offset, 1480);
  EXPECT_TRUE(upper.more_fragments);
}

TEST(ExtensionHeaderWalk, GoesOnFromTheMiddle) {
  const Bytes packet = ipv6({.next_header = 60}, options(60), options(17), kData);
  ExtensionHeaderWalk walk(packet, HeaderPosition{60, 48, 40});
  EXPECT_EQ(walk.next()->offset, 48U);
  EXPECT_FALSE(walk.next());
  EXPECT_EQ(walk.position().offset, 56U);
  ExtensionHeaderWalk beyond(packet, HeaderPosition{60, 4000, 40});
  EXPECT_FALSE(beyond.next());
  EXPECT_EQ(beyond.stop(), WalkStop::kTruncated);
}

// As many headers as a packet can hold: there is no limit but the bytes.
TEST(ExtensionHeaderWalk, EndsOnTheLongestChain) {
  Bytes chain;
  for (int i = 0; i < 8191; ++i)
    chain = std::move(chain), chain.insert(chain.end(), {60, 0, 1, 4, 0, 0, 0, 0});
  const UpperLayer upper = find_upper_layer(ipv6({.next_header = 60}, chain));
  EXPECT_EQ(upper.stop, WalkStop::kTruncated);
  EXPECT_EQ(upper.header.offset, 40U + chain.size());
}

ExtensionHeader first_header(const Bytes& packet) {
  return ExtensionHeaderWalk(packet).next().value();
}

TEST(OptionWalk, GivesPaddingAndOptionsInOrder) {
  const Bytes packet = ipv6({.next_header = 0}, options(17, {5, 2, 0, 0, 0, 0x9e, 1, 7}), kData);
  OptionWalk walk(packet, first_header(packet));
  const auto alert = walk.next().value();
  EXPECT_EQ(alert.type, kOptionRouterAlert);
  EXPECT_EQ(alert.offset, 42U);
  EXPECT_EQ(alert.size, 4U);
  EXPECT_EQ(alert.data.size(), 2U);
  const auto pad = walk.next().value();
  EXPECT_TRUE(pad.is_padding());
  EXPECT_EQ(pad.size, 1U);
  const auto unknown = walk.next().value();
  EXPECT_EQ(unknown.type, 0x9e);
  EXPECT_EQ(unknown.offset, 47U);
  EXPECT_EQ(unknown.unknown_action(), 2U);
  EXPECT_EQ(unknown.data[0], 7);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(walk.next()->type, kOptionPad1);
  EXPECT_FALSE(walk.next());
  EXPECT_FALSE(walk.is_malformed());
}

TEST(OptionWalk, StopsAtAnOptionThatReachesBeyondTheHeader) {
  for (const Bytes& list : {Bytes{1, 5, 0, 0, 0, 0}, Bytes{0x1e, 255, 0, 0, 0, 0},
                            Bytes{0, 0, 0, 0, 0, 0x1e}, Bytes{1, 2, 0, 0, 1, 1}}) {
    const Bytes packet = ipv6({.next_header = 60}, Bytes{17, 0}, list, kData);
    OptionWalk walk(packet, first_header(packet));
    while (walk.next()) {
    }
    EXPECT_TRUE(walk.is_malformed());
    EXPECT_LT(walk.offset(), 48U);
    EXPECT_FALSE(walk.next());
  }
}

TEST(Icmpv6Header, ReadsWhatWasWritten) {
  Bytes bytes(8);
  auto header = MutableIcmpv6Header::check(bytes).value();
  header.set_type(kIcmpv6ParameterProblem);
  header.set_code(kParameterUnknownOption);
  header.set_checksum(0xbeef);
  header.set_rest(42);
  EXPECT_EQ(bytes, (Bytes{4, 2, 0xbe, 0xef, 0, 0, 0, 42}));
  EXPECT_EQ(header.type(), 4);
  EXPECT_EQ(header.code(), 2);
  EXPECT_EQ(header.checksum(), 0xbeef);
  EXPECT_EQ(header.rest(), 42U);
  EXPECT_TRUE(header.is_error());
  header.set_type(kIcmpv6EchoRequest);
  EXPECT_FALSE(header.is_error());
  EXPECT_FALSE(Icmpv6Header::check(std::span<const std::uint8_t>(bytes).first(7)));
}

TEST(Ports, AreReadOnlyWhereTheyAre) {
  const auto peek = [](const Bytes& packet) {
    return peek_ports(packet, find_upper_layer(packet));
  };
  const Ports ports{1000, 2000};
  for (const std::uint8_t protocol : Bytes{6, 17, 33, 132, 136}) {
    EXPECT_EQ(peek(ipv6({.next_header = protocol}, kData)), ports);
  }
  EXPECT_EQ(peek(ipv6({.next_header = 60}, options(17), kData)), ports);
  EXPECT_EQ(peek(ipv6({.next_header = 44}, fragment(17, 0, true), kData)), ports);
  EXPECT_EQ(peek(ipv6({.next_header = 44}, fragment(17, 8, true), kData)), std::nullopt);
  EXPECT_EQ(peek(ipv6({.next_header = 58}, kData)), std::nullopt);
  EXPECT_EQ(peek(ipv6({.next_header = 50}, kData)), std::nullopt);
  EXPECT_EQ(peek(ipv6({.next_header = 17}, Bytes{1, 2, 3})), std::nullopt);
  EXPECT_EQ(peek(ipv6({.next_header = 17}, Bytes{3, 0xe8, 7, 0xd0})), ports);
}

}  // namespace
}  // namespace sidestep::net
