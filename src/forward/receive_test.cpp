// SPDX-License-Identifier: Apache-2.0
// Validation: which test fails first, what is counted, and that a dropped packet is what was received.
#include <gtest/gtest.h>

#include "forward/lab_for_test.hpp"

namespace sidestep::forward::test {
namespace {

using packet::DropReason;
using packet::L2Class;
using packet::Verdict;

class Receive : public Lab {
 protected:
  /// Runs a packet that must be dropped without an answer, counted as received and under `counter`.
  void expect_drop(const Arrival& arrival, DropReason reason, const char* counter,
                   bool ecn_counted = true) {
    const Outcome outcome = run(arrival);
    EXPECT_EQ(outcome.verdict, Verdict::kDrop);
    EXPECT_EQ(outcome.reason, reason);
    EXPECT_EQ(outcome.bytes, arrival.bytes);
    EXPECT_TRUE(generated.empty());
    Counts expected = received(arrival.bytes.size()) + Counts{{counter, 1}};
    if (!ecn_counted) expected.erase("Ip6InNoECTPkts");
    EXPECT_EQ(host(), expected);
    EXPECT_EQ(device(arrival.device), expected);
  }
  void expect_drop(const Bytes& bytes, DropReason reason, const char* counter,
                   bool ecn_counted = true) {
    expect_drop(Arrival{.bytes = bytes}, reason, counter, ecn_counted);
  }
  /// Runs a packet that must leave through r-b, with `bytes` but for the hop limit.
  void expect_forwarded(const Bytes& packet, const Bytes& bytes) {
    const Outcome outcome = run(packet);
    EXPECT_EQ(outcome.verdict, Verdict::kTransmit);
    EXPECT_EQ(outcome.egress, "r-b");
    EXPECT_EQ(outcome.bytes, after_hops(bytes));
  }
  static Bytes with_hop_by_hop(const Bytes& list) {
    return ipv6({.next_header = net::kNextHeaderHopByHop}, options(net::kNextHeaderUdp, list),
                udp(1000, 2000));
  }
};

TEST_F(Receive, NothingIsCountedForWhatIsNotForThisNode) {
  const Bytes packet = udp_packet(kA, kB);
  EXPECT_EQ(run({.bytes = packet, .l2_class = L2Class::kOtherHost}).reason, DropReason::kOtherHost);
  EXPECT_EQ(host(), Counts{});
  EXPECT_EQ(run({.bytes = packet, .device = "nowhere"}).reason, DropReason::kDeviceUnknown);
  EXPECT_EQ(host(), Counts{});
  must(lookup::LinkChange{.name = "r-b", .up = false});
  EXPECT_EQ(run({.bytes = packet, .device = "r-b"}).reason, DropReason::kDeviceDown);
  EXPECT_EQ(host(), Counts{});
}

TEST_F(Receive, PacketsOfAnotherVerdictPassUntouched) {
  packet::Batch batch;
  std::vector<packet::Packet> made_packets;
  packet::Packet& packet = batch.add();
  ASSERT_TRUE(packet.assign(udp_packet(kA, kB)));
  packet.drop(DropReason::kNotIpv6);
  forwarder.process(batch, made_packets);
  EXPECT_EQ(batch[0].meta.drop_reason, DropReason::kNotIpv6);
  EXPECT_EQ(forwarder.counters().drops(DropReason::kNotIpv6), 0U);
  EXPECT_EQ(host(), Counts{});
}

TEST_F(Receive, Ipv6DisabledIsADiscard) {
  sysctl("net.ipv6.conf.r-a.disable_ipv6", "1");
  expect_drop(udp_packet(kA, kB), DropReason::kIpv6Disabled, "Ip6InDiscards", false);
}

// RFC 8200 §5: a link below the minimum MTU has no IPv6, and a segment routing header does not change that.
TEST_F(Receive, LinkBelowTheMinimumMtuHasNoIpv6) {
  must(lookup::LinkChange{.name = "r-a", .mtu = 1000});
  const Bytes packet = ipv6({.next_header = net::kNextHeaderRouting, .destination = kRouterA},
                            srh({.segments_left = 1, .segments = {kB, kRouterA}}), udp(1, 2));
  expect_drop(packet, DropReason::kIpv6Disabled, "Ip6InDiscards", false);
}

TEST_F(Receive, TooShortForTheHeader) {
  for (const std::size_t size : {0U, 1U, 39U}) {
    Bytes packet = udp_packet(kA, kB);
    packet.resize(size);
    SCOPED_TRACE(size);
    const Outcome outcome = run(packet);
    EXPECT_EQ(outcome.reason, DropReason::kHeaderTruncated);
    EXPECT_EQ(outcome.bytes, packet);
    EXPECT_EQ(host()["Ip6InHdrErrors"], 1U);
  }
}

TEST_F(Receive, VersionIsTestedBeforeEcnIsCounted) {
  Bytes packet = udp_packet(kA, kB);
  packet[0] = 0x50;
  expect_drop(packet, DropReason::kBadVersion, "Ip6InHdrErrors", false);
}

TEST_F(Receive, EcnClassesAreCounted) {
  const char* const names[] = {"Ip6InNoECTPkts", "Ip6InECT1Pkts", "Ip6InECT0Pkts", "Ip6InCEPkts"};
  for (std::uint8_t ecn = 0; ecn < 4; ++ecn) {
    run(ipv6({.traffic_class = static_cast<std::uint8_t>(0xb8 | ecn)}, udp(1, 2)));
    EXPECT_EQ(host()[names[ecn]], 1U) << names[ecn];
    EXPECT_EQ(device("r-a")[names[ecn]], 1U);
  }
}

TEST_F(Receive, LoopbackAddressesDoNotComeFromTheWire) {
  expect_drop(udp_packet("::1", kB), DropReason::kLoopbackFromWire, "Ip6InHdrErrors");
  expect_drop(udp_packet(kA, "::1"), DropReason::kLoopbackFromWire, "Ip6InHdrErrors");
}

TEST_F(Receive, MulticastScopesThatDoNotLeaveANode) {
  for (const char* group : {"ff00::1", "ff01::1"}) {
    expect_drop({.bytes = udp_packet(kA, group), .l2_class = L2Class::kMulticast},
                DropReason::kMulticastScope, "Ip6InHdrErrors");
  }
}

TEST_F(Receive, UnicastInALinkLayerMulticastIsDroppedOnRequest) {
  sysctl("net.ipv6.conf.r-a.drop_unicast_in_l2_multicast", "1");
  expect_drop({.bytes = udp_packet(kA, kB), .l2_class = L2Class::kBroadcast},
              DropReason::kL2MulticastUnicast, "Ip6InHdrErrors");
}

TEST_F(Receive, SourceMustNotBeAGroup) {
  expect_drop(udp_packet("ff02::1", kB), DropReason::kSourceMulticast, "Ip6InHdrErrors");
}

TEST_F(Receive, PayloadLongerThanWhatCame) {
  expect_drop(ipv6({.payload_length = 200}, udp(1, 2)), DropReason::kPayloadTruncated,
              "Ip6InTruncatedPkts");
  expect_drop(ipv6({.payload_length = 9}, udp(1, 2)), DropReason::kPayloadTruncated,
              "Ip6InTruncatedPkts");
}

// Link-layer padding is counted as received, and cut off before the packet goes on.
TEST_F(Receive, BytesBehindThePayloadAreCutOff) {
  const Bytes packet = udp_packet(kA, kB);
  expect_forwarded(concat(packet, Bytes{'P', 'A', 'D'}), packet);
  EXPECT_EQ(device("r-a")["Ip6InOctets"], packet.size() + 3);
  EXPECT_EQ(device("r-b")["Ip6OutOctets"], packet.size());
}

TEST_F(Receive, PayloadLengthZeroMeansAnEmptyPacket) {
  const Bytes packet = ipv6({.next_header = net::kNextHeaderNone, .payload_length = 0}, zeros(20));
  expect_forwarded(packet, Bytes(packet.begin(), packet.begin() + 40));
}

TEST_F(Receive, PayloadLengthZeroBeforeHopByHopCutsNothing) {
  const Bytes packet = ipv6({.next_header = net::kNextHeaderHopByHop, .payload_length = 0},
                            options(net::kNextHeaderUdp), udp(1, 2));
  expect_forwarded(packet, packet);
}

TEST_F(Receive, DroppedPacketGetsItsPaddingBack) {
  const Bytes packet = concat(udp_packet(kA, kNowhere), Bytes{'P', 'A', 'D'});
  const Outcome outcome = run(packet);
  EXPECT_EQ(outcome.reason, DropReason::kNoRoute);
  EXPECT_EQ(outcome.bytes, packet);
  EXPECT_EQ(answer().bytes.size(),
            packet.size() - 3 + 48);  // the message quotes the packet, not the padding
}

TEST_F(Receive, HopByHopThatIsCutOff) {
  expect_drop(ipv6({.next_header = net::kNextHeaderHopByHop}, Bytes{17, 4, 1, 4, 0, 0, 0, 0}),
              DropReason::kHopByHopMalformed, "Ip6InHdrErrors");
  expect_drop(ipv6({.next_header = net::kNextHeaderHopByHop}, Bytes{17}),
              DropReason::kHopByHopMalformed, "Ip6InHdrErrors");
}

TEST_F(Receive, HopByHopLengthIsLimited) {
  sysctl("net.ipv6.max_hbh_length", "8");
  expect_drop(with_hop_by_hop(Bytes{0x1e, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}),
              DropReason::kHopByHopMalformed, "Ip6InHdrErrors");
}

TEST_F(Receive, EightOptionsAreFineNineAreNot) {
  Bytes list;
  for (int i = 0; i < 8; ++i) list = concat(list, Bytes{0x1e, 0});
  const Bytes eight = with_hop_by_hop(list);
  expect_forwarded(eight, eight);
  expect_drop(with_hop_by_hop(concat(list, Bytes{0x1e, 0})), DropReason::kHopByHopMalformed,
              "Ip6InHdrErrors");
}

TEST_F(Receive, NegativeOptionLimitRefusesUnknownOptions) {
  sysctl("net.ipv6.max_hbh_opts_number", "-8");
  expect_drop(with_hop_by_hop({0x1e, 4, 0, 0, 0, 0}), DropReason::kHopByHopUnknownOption,
              "Ip6InHdrErrors");
  const Bytes alert = with_hop_by_hop({5, 2, 0, 0, 1, 0});
  expect_forwarded(alert, alert);
}

TEST_F(Receive, PaddingMustBeZeroAndShort) {
  const Bytes seven = with_hop_by_hop({1, 2, 0, 0, 0, 0});
  expect_forwarded(seven, seven);
  const Bytes rows[] = {
      {1, 4, 0, 0, 1, 0},                          // not zero
      {1, 6, 0, 0, 0, 0, 0, 0, 1, 4, 0, 0, 0, 0},  // two PadN of 8 and 6 bytes
      {0, 0, 0, 0, 0, 0, 0, 0, 0x1e, 4, 0, 0, 0, 0},
      {1, 9, 0, 0, 0, 0},        // reaches beyond the header
      {0x1e, 3, 0, 0, 0, 0x1e},  // an option without a length
  };
  for (const Bytes& row : rows) {
    expect_drop(with_hop_by_hop(row), DropReason::kHopByHopMalformed, "Ip6InHdrErrors");
  }
}

TEST_F(Receive, UnknownOptionsByTheirHighBits) {
  const auto packet_with = [](std::uint8_t type, std::string_view destination) {
    return ipv6({.next_header = net::kNextHeaderHopByHop, .destination = destination},
                options(net::kNextHeaderUdp, {type, 4, 0, 0, 0, 0}), udp(1, 2));
  };
  const Bytes skipped = packet_with(0x1e, kB);
  expect_forwarded(skipped, skipped);
  expect_drop(packet_with(0x5e, kB), DropReason::kHopByHopUnknownOption, "Ip6InHdrErrors");
  for (const std::uint8_t type : {std::uint8_t{0x9e}, std::uint8_t{0xde}}) {
    const Bytes packet = packet_with(type, kB);
    EXPECT_EQ(run(packet).reason, DropReason::kHopByHopUnknownOption);
    EXPECT_EQ(answer().bytes, error_about(packet, 4, 2, 42, kRouterA, kA));
    const Counts errors{{"Ip6InHdrErrors", 1}};
    EXPECT_EQ(host(),
              received(packet.size()) + errors + made("Icmp6OutParmProblems", packet.size() + 48));
  }
  const Bytes to_group = packet_with(0x9e, "ff02::1");
  run({.bytes = to_group, .l2_class = L2Class::kMulticast});
  EXPECT_EQ(answer().bytes, error_about(to_group, 4, 2, 42, kRouterA, kA));
  expect_drop({.bytes = packet_with(0xde, "ff02::1"), .l2_class = L2Class::kMulticast},
              DropReason::kHopByHopUnknownOption, "Ip6InHdrErrors");
}

TEST_F(Receive, RouterAlertIsForwarded) {
  const Bytes packet = with_hop_by_hop({5, 2, 0, 0, 1, 0});
  expect_forwarded(packet, packet);
  expect_drop(with_hop_by_hop({5, 3, 0, 0, 0, 0}), DropReason::kHopByHopMalformed,
              "Ip6InHdrErrors");
}

TEST_F(Receive, IoamAndCalipso) {
  const Bytes aligned = with_hop_by_hop({1, 0, 0x31, 2, 0, 0});
  expect_forwarded(aligned, aligned);
  expect_drop(with_hop_by_hop({0x31, 4, 0, 0, 0, 0}), DropReason::kHopByHopMalformed,
              "Ip6InHdrErrors");
  expect_drop(with_hop_by_hop({7, 4, 0, 0, 0, 0}), DropReason::kHopByHopUnknownOption,
              "Ip6InHdrErrors");
}

TEST_F(Receive, JumboPayload) {
  const auto packet_with = [](std::uint16_t payload_length, Bytes length) {
    return ipv6({.next_header = net::kNextHeaderHopByHop, .payload_length = payload_length},
                options(net::kNextHeaderUdp, concat(Bytes{0xc2, 4}, length)), udp(1, 2));
  };
  const Bytes short_one = packet_with(0, {0, 0, 0, 16});
  EXPECT_EQ(run(short_one).reason, DropReason::kHopByHopMalformed);
  EXPECT_EQ(answer().bytes, error_about(short_one, 4, 0, 44, kRouterA, kA));
  const Bytes doubled = packet_with(16, {0, 1, 0, 0});
  EXPECT_EQ(run(doubled).reason, DropReason::kHopByHopMalformed);
  EXPECT_EQ(answer().bytes, error_about(doubled, 4, 0, 42, kRouterA, kA));
  expect_drop(packet_with(0, {0, 1, 0, 0}), DropReason::kHopByHopMalformed, "Ip6InHdrErrors");
  expect_drop(with_hop_by_hop({0xc2, 2, 0, 0, 0, 0}), DropReason::kHopByHopMalformed,
              "Ip6InHdrErrors");
}

}  // namespace
}  // namespace sidestep::forward::test
