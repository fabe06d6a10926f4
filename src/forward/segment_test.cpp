// SPDX-License-Identifier: Apache-2.0
// SRv6 in the pipeline: End, PSP, and SRHs that end at the router's own addresses.
#include <gtest/gtest.h>

#include "forward/lab_for_test.hpp"

namespace sidestep::forward::test {
namespace {

using packet::DropReason;
using packet::L2Class;
using packet::Verdict;

class Segment : public Lab {
 protected:
  Segment() { enable_segment_routing(); }

  /// A UDP packet on a path: `segments` as in the header, last of the path first.
  static Bytes on_path(std::string_view destination, std::uint8_t segments_left,
                       std::vector<std::string_view> segments, std::uint8_t hop_limit = 64,
                       std::string_view source = kA) {
    return ipv6({.next_header = net::kNextHeaderRouting,
                 .source = source,
                 .destination = destination,
                 .hop_limit = hop_limit},
                srh({.segments_left = segments_left, .segments = std::move(segments)}),
                udp(1000, 2000, zeros(8)));
  }
  void expect_silent_drop(const Bytes& packet, DropReason reason) {
    const Outcome outcome = run(packet);
    EXPECT_EQ(outcome.verdict, Verdict::kDrop);
    EXPECT_EQ(outcome.reason, reason);
    EXPECT_EQ(outcome.bytes, packet);
    EXPECT_TRUE(generated.empty());
    EXPECT_EQ(host(), received(packet.size()));
  }
  void expect_sent(const Bytes& packet, const Bytes& expected, const char* egress = "r-b") {
    const Outcome outcome = run(packet);
    EXPECT_EQ(outcome.verdict, Verdict::kTransmit);
    EXPECT_EQ(outcome.egress, egress);
    EXPECT_EQ(outcome.bytes, expected);
    EXPECT_TRUE(generated.empty());
  }
  /// The packet is dropped as it came; its answer quotes it as it was by then.
  void expect_error(const Bytes& packet, DropReason reason, const Bytes& quote, std::uint8_t type,
                    std::uint8_t code, std::uint32_t parameter, std::string_view source,
                    const char* counter) {
    const Outcome outcome = run(packet);
    EXPECT_EQ(outcome.reason, reason);
    EXPECT_EQ(outcome.bytes, packet);
    EXPECT_EQ(answer().bytes, error_about(quote, type, code, parameter, source, kA));
    EXPECT_EQ(host()[counter], 1U);
  }
};

TEST_F(Segment, EndGoesToTheNextSegment) {
  const Bytes packet = on_path(kSid, 1, {kB, kSid});
  expect_sent(packet, on_path(kB, 0, {kB, kSid}, 63));
  const Counts out = sent(96) + Counts{{"Ip6OutForwDatagrams", 1}};
  EXPECT_EQ(device("r-a"), received(96));
  EXPECT_EQ(device("r-b"), out);
}

TEST_F(Segment, EndAcceptsAReducedSrh) {
  expect_sent(on_path(kSid, 1, {kB}), on_path(kB, 0, {kB}, 63));
}

TEST_F(Segment, EndTakesTheFirstRoutingHeaderWithSegmentsLeft) {
  const auto packet = [](std::string_view destination, std::uint8_t left, std::uint8_t hop_limit) {
    return ipv6({.next_header = 43, .destination = destination, .hop_limit = hop_limit},
                srh({.next_header = 43, .segments_left = 0, .segments = {kSid}}),
                srh({.segments_left = left, .segments = {kB, kSid}}), udp(1, 2));
  };
  expect_sent(packet(kSid, 1, 64), packet(kB, 0, 63));
}

TEST_F(Segment, PspTakesTheSrhOut) {
  expect_sent(on_path(kSidPsp, 1, {kB, kSidPsp}), udp_packet(kA, kB, 8, 63));
  expect_sent(on_path(kSidPsp, 2, {kB, "2001:db8:c::1", kSidPsp}),
              on_path("2001:db8:c::1", 1, {kB, "2001:db8:c::1", kSidPsp}, 63));
  const Bytes behind_options =
      ipv6({.next_header = 60, .destination = kSidPsp}, options(43),
           srh({.segments_left = 1, .segments = {kB, kSidPsp}}), udp(1, 2));
  expect_sent(behind_options, ipv6({.next_header = 60, .hop_limit = 63}, options(17), udp(1, 2)));
}

TEST_F(Segment, EndNeedsAnSrhWithSomethingLeft) {
  expect_silent_drop(udp_packet(kA, kSid), DropReason::kSidNoSrh);
  expect_silent_drop(echo_request(kA, kSid), DropReason::kSidNoSrh);
  expect_silent_drop(on_path(kSid, 0, {kB, kSid}), DropReason::kSidNoSrh);
  expect_silent_drop(on_path(kSidPsp, 0, {kB, kSid}), DropReason::kSidNoSrh);
}

TEST_F(Segment, EndRefusesAMalformedSrh) {
  const auto with = [](const SrhFields& fields) {
    return ipv6({.next_header = 43, .destination = kSid}, srh(fields), udp(1, 2));
  };
  const std::vector<std::string_view> path{kB, kSid};
  expect_silent_drop(with({.segments_left = 1, .segments = path, .last_entry = 2}),
                     DropReason::kSrhMalformed);
  expect_silent_drop(with({.segments_left = 1, .segments = path, .last_entry = 15}),
                     DropReason::kSrhMalformed);
  expect_silent_drop(with({.segments_left = 3, .segments = path}), DropReason::kSrhMalformed);
  expect_silent_drop(with({.segments_left = 1, .segments = path, .routing_type = 0}),
                     DropReason::kSrhMalformed);
  expect_silent_drop(with({.segments_left = 1, .segments = path, .hdr_ext_len = 40}),
                     DropReason::kSrhMalformed);
  // Payload length 8, but an SRH of 24 bytes.
  expect_silent_drop(ipv6({.next_header = 43, .destination = kSid}, Bytes{17, 2, 4, 1, 0, 0, 0, 0}),
                     DropReason::kSrhMalformed);
}

TEST_F(Segment, EndDoesNotDeliverToTheRouterItself) {
  expect_silent_drop(on_path(kSid, 1, {kRouterB, kSid}), DropReason::kSidLocalNext);
  route("2001:db8:100::/64", "", "lo");
  expect_silent_drop(on_path(kSid, 1, {"2001:db8:100::1", kSid}), DropReason::kSidLocalNext);
}

TEST_F(Segment, EndWithoutHopLimitOrRoute) {
  const Bytes expired = on_path(kSid, 1, {kB, kSid}, 1);
  expect_error(expired, DropReason::kHopLimitExceeded, on_path(kB, 0, {kB, kSid}, 1), 3, 0, 0,
               kRouterA, "Ip6InHdrErrors");
  const Bytes lost = on_path(kSid, 1, {kNowhere, kSid});
  expect_error(lost, DropReason::kNoRoute, on_path(kNowhere, 0, {kNowhere, kSid}), 1, 0, 0,
               kRouterA, "Ip6InNoRoutes");
}

TEST_F(Segment, PspDropGivesTheSrhBack) {
  const Bytes packet = on_path(kSidPsp, 1, {kNowhere, kSidPsp});
  expect_error(packet, DropReason::kNoRoute, udp_packet(kA, kNowhere), 1, 0, 0, kRouterA,
               "Ip6InNoRoutes");
  const Bytes padded = concat(packet, Bytes{1, 2, 3});
  EXPECT_EQ(run(padded).bytes, padded);
}

TEST_F(Segment, EndAfterEndCostsOneHop) {
  const Bytes packet = on_path(kSid, 3, {kB, kSid, kSid, kSid});
  expect_sent(packet, on_path(kB, 0, {kB, kSid, kSid, kSid}, 63));
}

TEST_F(Segment, LookupsPerPacketAreBounded) {
  for (const char* name : {"r-a", "r-b"}) must(lookup::LinkChange{.name = name, .mtu = 9000});
  std::vector<std::string_view> path(126, kSid);
  path.insert(path.begin(), kB);
  expect_sent(on_path(kSid, 126, path), on_path(kB, 0, path, 63));
  // Two SRHs of own SIDs, one behind the other: more lookups than one node does for a packet.
  const std::vector<std::string_view> own(127, kSid);
  const Bytes packet = ipv6({.next_header = 43, .destination = kSid},
                            srh({.next_header = 43, .segments_left = 127, .segments = own}),
                            srh({.segments_left = 127, .segments = own}), udp(1, 2));
  expect_silent_drop(packet, DropReason::kLookupLimit);
}

TEST_F(Segment, PspBehindAnotherRoutingHeaderIsBlocked) {
  const Bytes packet = ipv6({.next_header = 43, .destination = kSidPsp},
                            srh({.next_header = 43, .segments_left = 0, .segments = {kSidPsp}}),
                            srh({.segments_left = 1, .segments = {kB, kSidPsp}}), udp(1, 2));
  expect_silent_drop(packet, DropReason::kPspBlocked);
}

TEST_F(Segment, EndInALinkLayerBroadcastIsNotForwarded) {
  const Arrival arrival{.bytes = on_path(kSid, 1, {kB, kSid}), .l2_class = L2Class::kBroadcast};
  const Outcome outcome = run(arrival);
  EXPECT_EQ(outcome.reason, DropReason::kL2NotUnicast);
  EXPECT_EQ(outcome.bytes, arrival.bytes);
  EXPECT_EQ(host(), received(96));
}

TEST_F(Segment, EndToAGroupMeetsItsRoutingHeader) {
  const Bytes packet = on_path(kSid, 1, {"ff02::1", kSid});
  EXPECT_EQ(run(packet).reason, DropReason::kRoutingHeaderRefused);
  EXPECT_EQ(host(),
            received(96) +
                (Counts{{"Ip6InAddrErrors", 1}, {"Ip6InMcastPkts", 1}, {"Ip6InMcastOctets", 96}}));
}

TEST_F(Segment, EndDoesNotAskForSeg6Enabled) {
  sysctl("net.ipv6.conf.all.seg6_enabled", "0");
  expect_sent(on_path(kSid, 1, {kB, kSid}), on_path(kB, 0, {kB, kSid}, 63));
}

TEST_F(Segment, HmacThatIsRequiredAndMissing) {
  sysctl("net.ipv6.conf.r-a.seg6_require_hmac", "1");
  expect_silent_drop(on_path(kSid, 1, {kB, kSid}), DropReason::kHmac);
  expect_silent_drop(on_path(kRouterA, 1, {kB, kRouterA}), DropReason::kHmac);
}

TEST_F(Segment, WhatIsNotThereYetIsDroppedAsSuch) {
  lookup::RouteChange change;
  fib::Seg6LocalEncap end_x;
  end_x.action = fib::Seg6LocalAction::kEndX;
  end_x.nh6 = addr(kB);
  change.hops.emplace_back().encap = end_x;
  route("2001:db8:e::3/128", "", "r-b", change);
  expect_silent_drop(on_path("2001:db8:e::3", 1, {kB, "2001:db8:e::3"}),
                     DropReason::kNotImplemented);
  change.hops[0].encap = fib::Seg6Encap{.segments = {addr(kB)}};
  route("2001:db8:47::/64", "", "r-b", change);
  expect_silent_drop(udp_packet(kA, "2001:db8:47::1"), DropReason::kNotImplemented);
}

// Re-lookups see the first next header, which is the routing header, and no ports.
TEST_F(Segment, RulesSeeLessOfAPacketBehindEnd) {
  lookup::RuleChange rule;
  rule.rule.preference = 10;
  rule.preference_given = true;
  rule.rule.ipproto = net::kNextHeaderUdp;
  rule.rule.to = net::Prefix(addr(kB), 128);
  rule.rule.action = rules::Action::kProhibit;
  rule.action_given = true;
  must(rule);
  EXPECT_EQ(run(udp_packet(kA, kB)).reason, DropReason::kProhibited);
  EXPECT_EQ(run(on_path(kSid, 1, {kB, kSid})).verdict, Verdict::kTransmit);
  // The end-host code looks up as for a received packet.
  EXPECT_EQ(run(on_path(kRouterA, 1, {kB, kRouterA})).reason, DropReason::kProhibited);
}

TEST_F(Segment, EndThatTurnsRoundSendsARedirect) {
  route("2001:db8:d::/64", "fe80::a2", "r-a");
  EXPECT_EQ(run(on_path(kSid, 1, {"2001:db8:d::1", kSid})).egress, "r-a");
  EXPECT_EQ(generated.size(), 1U);
  EXPECT_EQ(host()["Icmp6OutRedirects"], 1U);
}

TEST_F(Segment, OwnAddressIsASegment) {
  expect_sent(on_path(kRouterA, 1, {kB, kRouterA}), on_path(kB, 0, {kB, kRouterA}, 63));
  EXPECT_EQ(device("r-a"), received(96));
}

TEST_F(Segment, EachOwnSegmentMoreCostsAHop) {
  expect_sent(on_path(kRouterA, 2, {kB, kRouterB, kRouterA}),
              on_path(kB, 0, {kB, kRouterB, kRouterA}, 62));
}

TEST_F(Segment, OwnSegmentsEndWithTheHopLimit) {
  const Bytes packet = on_path(kRouterA, 2, {kB, kRouterB, kRouterA}, 1);
  expect_error(packet, DropReason::kHopLimitExceeded,
               on_path(kRouterB, 1, {kB, kRouterB, kRouterA}, 1), 3, 0, 0, kRouterB,
               "Ip6InHdrErrors");
  // Forwarding takes the last one.
  const Bytes two = on_path(kRouterA, 2, {kB, kRouterB, kRouterA}, 2);
  EXPECT_EQ(run(two).reason, DropReason::kHopLimitExceeded);
  EXPECT_EQ(run(two).bytes, two);
}

TEST_F(Segment, LastSegmentIsDelivered) {
  const auto echo = [](std::uint8_t left, std::string_view destination) {
    return ipv6({.next_header = 43, .destination = destination},
                srh({.next_header = 58, .segments_left = left, .segments = {kRouterB, kRouterA}}),
                icmpv6(128, 0, 1, {}, kA, kRouterB));
  };
  EXPECT_EQ(run(echo(1, kRouterA)).verdict, Verdict::kAnswered);
  EXPECT_EQ(net::Ipv6Header::check(answer().bytes)->source().to_string(), kRouterB);
  EXPECT_EQ(device("r-b"), (Counts{{"Ip6InDelivers", 1}}));
  EXPECT_EQ(run(echo(0, kRouterB)).verdict, Verdict::kAnswered);
}

TEST_F(Segment, OwnAddressThenSid) {
  expect_sent(on_path(kRouterA, 2, {kB, kSid, kRouterA}), on_path(kB, 0, {kB, kSid, kRouterA}, 63));
}

TEST_F(Segment, Seg6DisabledIsSilent) {
  for (const char* where : {"all", "r-a"}) {
    sysctl(std::string("net.ipv6.conf.") + where + ".seg6_enabled", "0");
    expect_silent_drop(on_path(kRouterA, 1, {kB, kRouterA}), DropReason::kSeg6Disabled);
    expect_silent_drop(on_path(kRouterA, 0, {kRouterA}), DropReason::kSeg6Disabled);
    sysctl(std::string("net.ipv6.conf.") + where + ".seg6_enabled", "1");
  }
}

// The end-host code has its own test of segments left, which a reduced SRH fails.
TEST_F(Segment, OwnAddressRefusesSegmentsLeftOutsideTheList) {
  const Bytes reduced = on_path(kRouterA, 2, {kB, kRouterA});
  expect_error(reduced, DropReason::kSegmentsLeftInvalid, reduced, 4, 0, 43, kRouterA,
               "Ip6InHdrErrors");
  const Bytes bogus_last_entry =
      ipv6({.next_header = 43, .destination = kRouterA},
           srh({.segments_left = 1, .segments = {kB, kRouterA}, .last_entry = 200}), udp(1, 2));
  EXPECT_EQ(run(bogus_last_entry).verdict, Verdict::kTransmit);
}

TEST_F(Segment, SrhThatIsCutOffIsAnError) {
  const Bytes packet =
      ipv6({.next_header = 43, .destination = kRouterA}, Bytes{17, 4, 4, 1, 1, 0, 0, 0}, zeros(16));
  const Outcome outcome = run(packet);
  EXPECT_EQ(outcome.reason, DropReason::kExtensionHeaderMalformed);
  EXPECT_EQ(host(), received(64) + (Counts{{"Ip6InHdrErrors", 1}}));
}

TEST_F(Segment, NoRouteToTheNextSegment) {
  const Bytes packet = on_path(kRouterA, 1, {kNowhere, kRouterA});
  expect_error(packet, DropReason::kNoRoute, on_path(kNowhere, 0, {kNowhere, kRouterA}), 1, 0, 0,
               kRouterA, "Ip6InNoRoutes");
}

TEST_F(Segment, EncapsulatedPacketIsReceivedAnew) {
  const Bytes inner = udp_packet(kA, kB);
  const Bytes packet =
      ipv6({.next_header = 43, .destination = kRouterA},
           srh({.next_header = 41, .segments_left = 0, .segments = {kRouterA}}), inner);
  expect_sent(packet, after_hops(inner));
  EXPECT_EQ(device("r-a"), received(packet.size()) + received(inner.size()));
}

TEST_F(Segment, EncapsulatedPacketIsValidatedAndGivenBackWhole) {
  const auto around = [](const Bytes& inner) {
    return ipv6({.next_header = 43, .destination = kRouterA},
                srh({.next_header = 41, .segments_left = 0, .segments = {kRouterA}}), inner);
  };
  Bytes bad_version = udp_packet(kA, kB);
  bad_version[0] = 0x40;
  const Outcome outcome = run(around(bad_version));
  EXPECT_EQ(outcome.reason, DropReason::kBadVersion);
  EXPECT_EQ(outcome.bytes, around(bad_version));
  const Bytes bad_option = ipv6({.next_header = 0}, options(17, {0x9e, 4, 0, 0, 0, 0}), udp(1, 2));
  EXPECT_EQ(run(around(bad_option)).bytes, around(bad_option));
  EXPECT_EQ(answer().bytes, error_about(bad_option, 4, 2, 42, kRouterA, kA));
  const Bytes lost = concat(udp_packet(kA, kNowhere), Bytes{9, 9});
  EXPECT_EQ(run(around(lost)).bytes, around(lost));
  EXPECT_EQ(answer().bytes, error_about(udp_packet(kA, kNowhere), 1, 0, 0, kRouterA, kA));
}

// The kernel sends such a packet mangled: it loses its first bytes by the size of the options. Here it is sent whole.
TEST_F(Segment, SrhBehindDestinationOptionsAtAnOwnAddress) {
  const auto packet = [](std::string_view destination, std::uint8_t left, std::uint8_t hop_limit) {
    return ipv6({.next_header = 60, .destination = destination, .hop_limit = hop_limit},
                options(43), srh({.segments_left = left, .segments = {kB, kRouterA}}), udp(1, 2));
  };
  expect_sent(packet(kRouterA, 1, 64), packet(kB, 0, 63));
}

}  // namespace
}  // namespace sidestep::forward::test
