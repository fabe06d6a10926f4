// SPDX-License-Identifier: Apache-2.0
// SRv6 in the pipeline: End, PSP, and SRHs that end at the router's own addresses.
#include <set>

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

  /// A new SID with this behavior.
  std::string behavior(const fib::Seg6LocalEncap& encap) {
    const std::string sid = "2001:db8:e::1:" + std::to_string(++behaviors_);
    lookup::RouteChange change;
    change.hops.emplace_back().encap = encap;
    if (encap.oif) change.hops[0].encap_oif = fib.links().name(encap.oif);
    route(sid + "/128", "", "r-b", change);
    return sid;
  }

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

 private:
  int behaviors_ = 0;
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
  std::vector<std::string_view> path(126, kRouterA);
  path.insert(path.begin(), kB);
  expect_sent(on_path(kRouterA, 126, path, 255), on_path(kB, 0, path, 129));
  // Two SRHs of own addresses, one behind the other: more lookups than one node does for a packet.
  const std::vector<std::string_view> own(127, kRouterA);
  const Bytes packet = ipv6({.next_header = 43, .destination = kRouterA, .hop_limit = 255},
                            srh({.next_header = 43, .segments_left = 126, .segments = own}),
                            srh({.segments_left = 126, .segments = own}), udp(1, 2));
  expect_silent_drop(packet, DropReason::kLookupLimit);
}

TEST_F(Segment, SidsInARowAreBounded) {
  std::vector<std::string_view> path(8, kSid);
  path.insert(path.begin(), kB);
  expect_sent(on_path(kSid, 8, path), on_path(kB, 0, path, 63));
  path.push_back(kSid);
  expect_silent_drop(on_path(kSid, 9, path), DropReason::kTunnelRecursion);
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
  change.hops.emplace_back().encap =
      fib::Seg6LocalEncap{.action = fib::Seg6LocalAction::kEndBpf, .bpf_object = "object"};
  route("2001:db8:e::3/128", "", "r-b", change);
  expect_silent_drop(on_path("2001:db8:e::3", 1, {kB, "2001:db8:e::3"}),
                     DropReason::kNotImplemented);
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

// The neighbor is the SID's; the destination is the segment's.
TEST_F(Segment, EndXGoesToItsNeighbor) {
  const auto sid = behavior({.action = fib::Seg6LocalAction::kEndX, .nh6 = addr(kB)});
  const Bytes packet = on_path(sid, 1, {kNowhere, sid});
  expect_sent(packet, on_path(kNowhere, 0, {kNowhere, sid}, 63));
  neighbor("r-b", "2001:db8:b::3", nullptr, neighbor::State::kFailed);
  const auto failed =
      behavior({.action = fib::Seg6LocalAction::kEndX, .nh6 = addr("2001:db8:b::3")});
  EXPECT_EQ(run(on_path(failed, 1, {kB, failed})).reason, DropReason::kNeighborFailed);
}

TEST_F(Segment, EndXBehindAGateway) {
  const auto sid = behavior({.action = fib::Seg6LocalAction::kEndX, .nh6 = addr("2001:db8:c::7")});
  const Outcome outcome = run(on_path(sid, 1, {kNowhere, sid}));
  EXPECT_EQ(outcome.egress, "r-b");
  EXPECT_EQ(outcome.destination_mac, run(udp_packet(kA, "2001:db8:c::1")).destination_mac);
}

TEST_F(Segment, EndXWithoutAWayOrToItself) {
  const auto lost = behavior({.action = fib::Seg6LocalAction::kEndX, .nh6 = addr(kNowhere)});
  const Bytes packet = on_path(lost, 1, {kB, lost});
  expect_error(packet, DropReason::kNoRoute, on_path(kB, 0, {kB, lost}), 1, 0, 0, kRouterA,
               "Ip6InNoRoutes");
  const auto self = behavior({.action = fib::Seg6LocalAction::kEndX, .nh6 = addr(kRouterB)});
  expect_silent_drop(on_path(self, 1, {kB, self}), DropReason::kSidLocalNext);
}

// fe80::a2 on the link that the packet came by, unless a device is given.
TEST_F(Segment, EndXToALinkLocalNeighbor) {
  const auto strict = behavior({.action = fib::Seg6LocalAction::kEndX, .nh6 = addr("fe80::a2")});
  const Bytes packet = on_path(strict, 1, {kB, strict});
  EXPECT_EQ(run(packet).egress, "r-a");
  EXPECT_EQ(host()["Icmp6OutRedirects"], 1U);
  const auto bound = behavior({.action = fib::Seg6LocalAction::kEndX,
                               .nh6 = addr("fe80::b2"),
                               .oif = fib.links().find("r-b")->index});
  expect_sent(on_path(bound, 1, {kNowhere, bound}), on_path(kNowhere, 0, {kNowhere, bound}, 63));
}

TEST_F(Segment, EndTLooksIntoItsTableOnly) {
  const auto sid = behavior({.action = fib::Seg6LocalAction::kEndT, .table = TableId{100}});
  const Bytes packet = on_path(sid, 1, {kB, sid});
  expect_silent_drop(packet, DropReason::kBlackhole);  // there is no such table
  lookup::RouteChange elsewhere;
  elsewhere.table = TableId{100};
  route("2001:db8:77::/64", "", "r-b", elsewhere);
  expect_error(packet, DropReason::kNoRoute, on_path(kB, 0, {kB, sid}), 1, 0, 0, kRouterA,
               "Ip6InNoRoutes");
  lookup::RouteChange change;
  change.table = TableId{100};
  route("2001:db8:b::/64", "2001:db8:b::2", "r-b", change);
  expect_sent(on_path(sid, 1, {"2001:db8:b::9", sid}),
              on_path("2001:db8:b::9", 0, {"2001:db8:b::9", sid}, 63));
}

TEST_F(Segment, Dx2SendsTheFrameAsItIs) {
  const auto sid =
      behavior({.action = fib::Seg6LocalAction::kEndDX2, .oif = fib.links().find("r-b")->index});
  const auto carrying = [&](std::uint8_t type_high, std::size_t size) {
    const Bytes frame =
        concat(Bytes{2, 0, 0, 0, 0, 7, 2, 0, 0, 0, 0, 8, type_high, 6}, zeros(size));
    return ipv6({.next_header = net::kNextHeaderEthernet, .destination = sid}, frame);
  };
  const Outcome outcome = run(carrying(8, 28));
  EXPECT_EQ(outcome.verdict, Verdict::kTransmit);
  EXPECT_EQ(outcome.egress, "r-b");
  EXPECT_EQ(outcome.bytes, zeros(28));
  EXPECT_EQ(outcome.destination_mac.bytes[5], 7);
  EXPECT_EQ(outcome.source_mac.bytes[5], 8);
  EXPECT_EQ(host(), received(40 + 14 + 28));
  expect_silent_drop(carrying(5, 28), DropReason::kSidNoPayload);
  EXPECT_EQ(run(carrying(8, 1500)).verdict, Verdict::kTransmit);
  expect_silent_drop(carrying(8, 1501), DropReason::kFrameTooLong);
  must(lookup::LinkChange{.name = "r-b", .carrier = false});
  EXPECT_EQ(run(carrying(8, 28)).reason, DropReason::kEgressDown);
}

TEST_F(Segment, DecapsulationWithSegmentsLeft) {
  const auto sid = behavior({.action = fib::Seg6LocalAction::kEndDT6, .table = kTableMain});
  const Bytes inner = udp_packet(kA, kB);
  expect_sent(ipv6({.next_header = 41, .destination = sid}, inner), after_hops(inner));
  expect_silent_drop(ipv6({.next_header = 43, .destination = sid},
                          srh({.next_header = 41, .segments_left = 1, .segments = {kB}}), inner),
                     DropReason::kSidSegmentsLeft);
}

TEST_F(Segment, HeadendDrops) {
  const auto encap = [&](const char* prefix, const fib::Seg6Encap& headend) {
    lookup::RouteChange change;
    change.hops.emplace_back().encap = headend;
    route(prefix, "", "r-b", change);
  };
  encap("2001:db8:47::/64", {.mode = fib::Seg6Mode::kL2Encap, .segments = {addr(kB)}});
  expect_silent_drop(udp_packet(kA, "2001:db8:47::1"), DropReason::kEncapNoFrame);
  encap("2001:db8:48::/64", {.segments = {addr("2001:db8:48::9")}});
  expect_silent_drop(udp_packet(kA, "2001:db8:48::1"), DropReason::kTunnelRecursion);
  encap("2001:db8:49::/64", {.segments = std::vector(126, addr(kB))});
  const Bytes longest = ipv6({.destination = "2001:db8:49::1"}, zeros(65'000));
  expect_silent_drop(longest, DropReason::kEncapTooLong);
}

// seg6_flowlabel 1: one label for a flow, others for others.
TEST_F(Segment, FlowLabelsOfFlows) {
  sysctl("net.ipv6.seg6_flowlabel", "1");
  lookup::RouteChange change;
  change.hops.emplace_back().encap =
      fib::Seg6Encap{.mode = fib::Seg6Mode::kEncapRed, .segments = {addr(kB)}};
  route("2001:db8:47::/64", "", "r-b", change);
  const auto label = [&](std::uint16_t port, std::size_t size) {
    const Bytes packet = ipv6({.destination = "2001:db8:47::1"}, udp(port, 9, zeros(size)));
    return net::Ipv6Header::check(run(packet).bytes)->flow_label();
  };
  std::set<std::uint32_t> labels;
  for (std::uint16_t port = 1; port <= 200; ++port) {
    EXPECT_EQ(label(port, 1), label(port, 50));
    labels.insert(label(port, 1));
  }
  EXPECT_GT(labels.size(), 195U);
  sysctl("net.ipv6.seg6_flowlabel", "-1");
  EXPECT_EQ(label(1, 1), 0U);
}

TEST_F(Segment, SidsCountByWhatBecameOfThePacket) {
  const auto first = behavior({.action = fib::Seg6LocalAction::kEnd, .count = true});
  const auto second = behavior({.action = fib::Seg6LocalAction::kEnd, .count = true});
  EXPECT_EQ(fib.sid_counter_count(), 2U);
  const auto counts = [&](std::uint32_t id) { return forwarder.sid_counts(fib::SidCounterId{id}); };
  const auto walk = [&](std::string_view last, std::uint8_t hop_limit = 64) {
    return run(on_path(first, 2, {last, second, first}, hop_limit));
  };
  EXPECT_EQ(walk(kB).verdict, Verdict::kTransmit);
  EXPECT_EQ(counts(1), (SidCounts{1, 112, 0}));
  EXPECT_EQ(counts(2), (SidCounts{1, 112, 0}));
  EXPECT_EQ(walk(kNowhere).reason, DropReason::kNoRoute);  // a route's no is no error
  EXPECT_EQ(walk(kRouterB).reason, DropReason::kSidLocalNext);
  EXPECT_EQ(counts(1), (SidCounts{3, 336, 0}));
  EXPECT_EQ(walk(kB, 1).reason, DropReason::kHopLimitExceeded);
  EXPECT_EQ(counts(1), (SidCounts{3, 336, 1}));
  EXPECT_EQ(run(on_path(second, 0, {kB})).reason, DropReason::kSidNoSrh);
  EXPECT_EQ(counts(2), (SidCounts{3, 336, 2}));
  EXPECT_EQ(counts(1), (SidCounts{3, 336, 1}));
  EXPECT_EQ(run(udp_packet(kA, kB)).verdict, Verdict::kTransmit);
  EXPECT_EQ(counts(1), (SidCounts{3, 336, 1}));
}

// Local delivery ends what a SID knows: the error behind it is not its own.
TEST_F(Segment, SidsThatDeliverCountAPacket) {
  const auto sid =
      behavior({.action = fib::Seg6LocalAction::kEndDT6, .table = kTableLocal, .count = true});
  const Bytes inner = on_path(kRouterA, 1, {kB, kRouterA}, 1);
  EXPECT_EQ(run(ipv6({.next_header = 41, .destination = sid}, inner)).reason,
            DropReason::kHopLimitExceeded);
  EXPECT_EQ(forwarder.sid_counts(fib::SidCounterId{1}), (SidCounts{1, 136, 0}));
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
