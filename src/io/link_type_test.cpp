// SPDX-License-Identifier: Apache-2.0
#include "io/link_type.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/capture_bytes.hpp"

namespace sidestep::io {
namespace {

using namespace testing;  // NOLINT
using packet::L2Class;

const Bytes kPacket = ipv6_packet(Bytes(16, 1), Bytes(16, 2));

Bytes operator+(Bytes left, const Bytes& right) {
  append(left, right);
  return left;
}

TEST(LinkType, ReadsEthernet) {
  const auto frame = dissect(LinkType::kEthernet, ethernet(kPacket));
  EXPECT_EQ(frame.content, FrameContent::kIpv6);
  EXPECT_EQ(frame.header_size, 14U);
  EXPECT_TRUE(frame.has_mac);
  EXPECT_EQ(frame.destination_mac.to_string(), "02:00:00:00:00:01");
  EXPECT_EQ(frame.source_mac.to_string(), "02:00:00:00:00:0a");
  EXPECT_EQ(frame.l2_class, L2Class::kHost);
}

TEST(LinkType, ClassifiesByTheGroupBit) {
  const auto class_of = [](const Bytes& mac) {
    return dissect(LinkType::kEthernet, ethernet(kPacket, 0x86dd, mac)).l2_class;
  };
  EXPECT_EQ(class_of({0x33, 0x33, 0, 0, 0, 1}), L2Class::kMulticast);
  EXPECT_EQ(class_of(Bytes(6, 0xff)), L2Class::kBroadcast);
  EXPECT_EQ(class_of({0x02, 0, 0, 0, 0, 9}), L2Class::kHost);
}

TEST(LinkType, TellsWhatIsNotIpv6) {
  const auto arp = dissect(LinkType::kEthernet, ethernet(Bytes(28), 0x0806));
  EXPECT_EQ(arp.content, FrameContent::kOther);
  EXPECT_EQ(describe(arp), "EtherType 0x0806 (ARP)");
  EXPECT_EQ(dissect(LinkType::kEthernet, ethernet(Bytes(28), 0x0800)).content, FrameContent::kIpv4);
  const auto vlan =
      dissect(LinkType::kEthernet, ethernet(Bytes{0x60, 0x07, 0x86, 0xdd} + kPacket, 0x8100));
  EXPECT_EQ(vlan.content, FrameContent::kVlan);
  EXPECT_EQ(describe(vlan), "VLAN 7 (tag type 0x8100)");
  EXPECT_EQ(dissect(LinkType::kEthernet, ethernet(Bytes{0, 7, 0x86, 0xdd}, 0x88a8)).content,
            FrameContent::kVlan);
  EXPECT_EQ(dissect(LinkType::kEthernet, ethernet(Bytes{0, 7}, 0x8100)).content,
            FrameContent::kHeaderShort);
  EXPECT_EQ(describe(dissect(LinkType::kEthernet, ethernet(Bytes(38), 38))),
            "an 802.3 frame or protocol number 38");
}

TEST(LinkType, SeesHeadersThatAreCutShort) {
  for (const auto& [type, size] : {std::pair{LinkType::kEthernet, 14U},
                                   {LinkType::kLinuxSll, 16U},
                                   {LinkType::kLinuxSll2, 20U},
                                   {LinkType::kNull, 4U},
                                   {LinkType::kLoop, 4U},
                                   {LinkType::kRaw, 1U}}) {
    for (std::size_t shorter = 0; shorter < size; ++shorter) {
      EXPECT_EQ(dissect(type, Bytes(shorter)).content, FrameContent::kHeaderShort)
          << static_cast<int>(type);
    }
    EXPECT_NE(dissect(type, Bytes(size)).content, FrameContent::kHeaderShort)
        << static_cast<int>(type);
  }
}

TEST(LinkType, ReadsSll) {
  const auto sll = [](std::uint8_t packet_type, std::uint8_t hardware = 1) {
    return dissect(
        LinkType::kLinuxSll,
        Bytes{0, packet_type, 0, hardware, 0, 6, 2, 0, 0, 0, 0, 9, 0, 0, 0x86, 0xdd} + kPacket);
  };
  EXPECT_EQ(sll(0).content, FrameContent::kIpv6);
  EXPECT_EQ(sll(0).header_size, 16U);
  EXPECT_EQ(sll(0).l2_class, L2Class::kHost);
  EXPECT_FALSE(sll(0).has_mac);
  EXPECT_EQ(sll(1).l2_class, L2Class::kBroadcast);
  EXPECT_EQ(sll(2).l2_class, L2Class::kMulticast);
  EXPECT_EQ(sll(3).l2_class, L2Class::kOtherHost);
  EXPECT_FALSE(sll(3).outgoing);
  EXPECT_TRUE(sll(4).outgoing);
  const Bytes netlink = Bytes{0, 4, 0x03, 0x38, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x86, 0xdd};
  EXPECT_EQ(dissect(LinkType::kLinuxSll, netlink).content, FrameContent::kOther);
}

TEST(LinkType, ReadsSll2) {
  const Bytes header = {0x86, 0xdd, 0, 0, 0, 0, 0, 3, 0, 1, 2, 6, 2, 0, 0, 0, 0, 9, 0, 0};
  const auto frame = dissect(LinkType::kLinuxSll2, header + kPacket);
  EXPECT_EQ(frame.content, FrameContent::kIpv6);
  EXPECT_EQ(frame.header_size, 20U);
  EXPECT_EQ(frame.l2_class, L2Class::kMulticast);
  EXPECT_EQ(frame.source_mac.to_string(), "02:00:00:00:00:09");
}

TEST(LinkType, ReadsEveryFamilyNumberInBothByteOrders) {
  for (const std::uint8_t family : Bytes{10, 24, 28, 30}) {
    for (const auto type : {LinkType::kNull, LinkType::kLoop}) {
      EXPECT_EQ(dissect(type, Bytes{family, 0, 0, 0} + kPacket).content, FrameContent::kIpv6);
      EXPECT_EQ(dissect(type, Bytes{0, 0, 0, family} + kPacket).content, FrameContent::kIpv6);
    }
  }
  EXPECT_EQ(dissect(LinkType::kNull, Bytes{2, 0, 0, 0, 0x45}).content, FrameContent::kIpv4);
  EXPECT_EQ(dissect(LinkType::kNull, Bytes{0, 0, 0, 2, 0x45}).content, FrameContent::kIpv4);
  EXPECT_EQ(describe(dissect(LinkType::kNull, Bytes{7, 0, 0, 0})), "address family 7");
}

TEST(LinkType, ReadsRawByItsVersion) {
  for (const auto type : {LinkType::kRaw, LinkType::kIpv6, LinkType::kIpv4}) {
    EXPECT_EQ(dissect(type, kPacket).content, FrameContent::kIpv6);
    EXPECT_EQ(dissect(type, Bytes{0x45}).content, FrameContent::kIpv4);
    EXPECT_EQ(describe(dissect(type, Bytes{0x55})), "IP version 5");
  }
}

TEST(LinkType, MakesHeadersThatItReadsItself) {
  for (const auto type : {LinkType::kNull, LinkType::kEthernet, LinkType::kRaw, LinkType::kLoop,
                          LinkType::kLinuxSll, LinkType::kIpv6, LinkType::kLinuxSll2}) {
    const auto header = ipv6_link_header(type);
    const auto frame = dissect(type, header + kPacket);
    EXPECT_EQ(frame.content, FrameContent::kIpv6) << static_cast<int>(type);
    EXPECT_EQ(frame.header_size, header.size());
  }
}

}  // namespace
}  // namespace sidestep::io
