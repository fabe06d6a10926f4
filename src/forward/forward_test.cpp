// SPDX-License-Identifier: Apache-2.0
// Forwarding: tests in the kernel's order, both MTUs, the rewrite.
#include <gtest/gtest.h>

#include "forward/lab_for_test.hpp"

namespace sidestep::forward::test {
namespace {

using packet::DropReason;
using packet::L2Class;
using packet::Verdict;

class Forward : public Lab {
 protected:
  void expect_silent_drop(const Arrival& arrival, DropReason reason, const Counts& extra) {
    const Outcome outcome = run(arrival);
    EXPECT_EQ(outcome.reason, reason);
    EXPECT_EQ(outcome.bytes, arrival.bytes);
    EXPECT_TRUE(generated.empty());
    EXPECT_EQ(host(), received(arrival.bytes.size()) + extra);
  }
  /// Runs a packet that must be answered with an ICMPv6 error to its source and then dropped.
  void expect_error(const Bytes& packet, DropReason reason, std::uint8_t type, std::uint8_t code,
                    const char* drop_counter, const char* icmp_counter,
                    std::string_view source = kRouterA) {
    const Outcome outcome = run(packet);
    EXPECT_EQ(outcome.reason, reason);
    EXPECT_EQ(outcome.bytes, packet);
    const std::string sender = net::Ipv6Header::check(packet)->source().to_string();
    EXPECT_EQ(answer().bytes, error_about(packet, type, code, 0, source, sender));
    EXPECT_EQ(answer().egress, "r-a");
    const Counts expected = received(packet.size()) + Counts{{drop_counter, 1}} +
                            made(icmp_counter, packet.size() + 48);
    EXPECT_EQ(host(), expected);
    EXPECT_EQ(device("r-a"), expected);
  }
};

TEST_F(Forward, TakesOneHopAndRewritesTheLinkLayer) {
  const Bytes packet = udp_packet(kA, kB);
  const Outcome outcome = run(packet);
  EXPECT_EQ(outcome.verdict, Verdict::kTransmit);
  EXPECT_EQ(outcome.egress, "r-b");
  EXPECT_EQ(outcome.bytes, after_hops(packet));
  EXPECT_EQ(outcome.bytes[net::kIpv6HopLimitOffset], 63);
  EXPECT_EQ(outcome.source_mac.to_string(), "02:00:00:00:02:01");
  EXPECT_EQ(outcome.destination_mac.to_string(), "02:00:00:00:02:02");
  EXPECT_EQ(outcome.record, 7U);
  EXPECT_TRUE(generated.empty());
  const Counts out = sent(56) + Counts{{"Ip6OutForwDatagrams", 1}};
  EXPECT_EQ(device("r-a"), received(56));
  EXPECT_EQ(device("r-b"), out);
  EXPECT_EQ(host(), received(56) + out);
}

TEST_F(Forward, GatewayIsTheNeighbor) {
  const Outcome outcome = run(udp_packet(kA, "2001:db8:c::9"));
  EXPECT_EQ(outcome.egress, "r-b");
  EXPECT_EQ(outcome.destination_mac.to_string(), "02:00:00:00:02:02");
}

TEST_F(Forward, HopLimitOneAndZeroAreTheEnd) {
  for (const std::uint8_t hop_limit : {std::uint8_t{1}, std::uint8_t{0}}) {
    expect_error(udp_packet(kA, kB, 8, hop_limit), DropReason::kHopLimitExceeded, 3, 0,
                 "Ip6InHdrErrors", "Icmp6OutTimeExcds");
  }
  EXPECT_EQ(run(udp_packet(kA, kB, 8, 2)).bytes[net::kIpv6HopLimitOffset], 1);
}

TEST_F(Forward, RejectingRoutes) {
  special_route("2001:db8:21::/64", fib::RouteType::kUnreachable);
  special_route("2001:db8:22::/64", fib::RouteType::kProhibit);
  special_route("2001:db8:23::/64", fib::RouteType::kBlackhole);
  route("2001:db8:24::/64", "", "lo");  // a unicast route over lo rejects, too
  expect_error(udp_packet(kA, kNowhere), DropReason::kNoRoute, 1, 0, "Ip6InNoRoutes",
               "Icmp6OutDestUnreachs");
  expect_error(udp_packet(kA, "2001:db8:21::1"), DropReason::kNoRoute, 1, 0, "Ip6InNoRoutes",
               "Icmp6OutDestUnreachs");
  expect_error(udp_packet(kA, "2001:db8:22::1"), DropReason::kProhibited, 1, 1, "Ip6InNoRoutes",
               "Icmp6OutDestUnreachs");
  expect_silent_drop({.bytes = udp_packet(kA, "2001:db8:23::1")}, DropReason::kBlackhole, {});
  expect_error(udp_packet(kA, "2001:db8:24::1"), DropReason::kNoRoute, 1, 0, "Ip6InNoRoutes",
               "Icmp6OutDestUnreachs");
}

TEST_F(Forward, UnspecifiedDestinationIsAnAddressError) {
  expect_error(udp_packet(kA, "::"), DropReason::kNoRoute, 1, 0, "Ip6InAddrErrors",
               "Icmp6OutDestUnreachs");
}

TEST_F(Forward, ForwardingOff) {
  sysctl("net.ipv6.conf.all.forwarding", "0");
  expect_silent_drop({.bytes = udp_packet(kA, kB)}, DropReason::kForwardingOff,
                     {{"Ip6InAddrErrors", 1}});
  sysctl("net.ipv6.conf.r-a.force_forwarding", "1");
  EXPECT_EQ(run(udp_packet(kA, kB)).verdict, Verdict::kTransmit);
}

TEST_F(Forward, ForwardingOfTheDeviceAloneIsNotAsked) {
  sysctl("net.ipv6.conf.r-a.forwarding", "0");
  EXPECT_EQ(run(udp_packet(kA, kB)).verdict, Verdict::kTransmit);
}

TEST_F(Forward, LinkLayerGroupsAreNotForwardedNorAnswered) {
  for (const L2Class l2 : {L2Class::kBroadcast, L2Class::kMulticast}) {
    expect_silent_drop({.bytes = udp_packet(kA, kB), .l2_class = l2}, DropReason::kL2NotUnicast,
                       {});
    expect_silent_drop({.bytes = udp_packet(kA, kNowhere), .l2_class = l2}, DropReason::kNoRoute,
                       {{"Ip6InNoRoutes", 1}});
  }
}

TEST_F(Forward, SourcesThatMustNotBeForwarded) {
  expect_silent_drop({.bytes = udp_packet("::", kB)}, DropReason::kSourceUnspecified,
                     {{"Ip6InAddrErrors", 1}});
  expect_error(udp_packet("fe80::a2", kB), DropReason::kSourceScope, 1, 2, "Ip6InAddrErrors",
               "Icmp6OutDestUnreachs", kLinkLocalA);
}

// What leaves by the device that it came in by is not asked for the scope of its source.
TEST_F(Forward, LinkLocalSourceMayTurnRound) {
  const Bytes packet = udp_packet("fe80::a2", "2001:db8:ff::5");
  const Outcome outcome = run(packet);
  EXPECT_EQ(outcome.verdict, Verdict::kTransmit);
  EXPECT_EQ(outcome.egress, "r-a");
  EXPECT_EQ(outcome.bytes, after_hops(packet));
}

TEST_F(Forward, DeviceMtuIsTestedBeforeTheHopIsTaken) {
  must(lookup::LinkChange{.name = "r-b", .mtu = 1400});
  const Bytes packet = udp_packet(kA, "2001:db8:c::1", 1440);
  const Outcome outcome = run(packet);
  EXPECT_EQ(outcome.reason, DropReason::kTooBig);
  EXPECT_EQ(outcome.bytes, packet);
  const Bytes quote(packet.begin(), packet.begin() + 1232);
  EXPECT_EQ(answer().bytes, error_about(quote, 2, 0, 1400, kRouterA, kA));
  EXPECT_EQ(answer().bytes.size(), 1280U);
  const Counts in =
      received(1488) + Counts{{"Ip6InTooBigErrors", 1}} + made("Icmp6OutPktTooBigs", 1280);
  const Counts out{{"Ip6OutForwDatagrams", 1}, {"Ip6FragFails", 1}};
  EXPECT_EQ(device("r-a"), in);
  EXPECT_EQ(device("r-b"), out);
  EXPECT_EQ(host(), in + out);
}

TEST_F(Forward, Ipv6MtuOfTheDeviceCounts) {
  sysctl("net.ipv6.conf.r-b.mtu", "1300");
  const Bytes packet = udp_packet(kA, kB, 1400 - 48);
  EXPECT_EQ(run(packet).reason, DropReason::kTooBig);
  const Bytes quote(packet.begin(), packet.begin() + 1232);
  EXPECT_EQ(answer().bytes, error_about(quote, 2, 0, 1300, kRouterA, kA));
  EXPECT_EQ(quote[net::kIpv6HopLimitOffset], 64);
  EXPECT_EQ(run(udp_packet(kA, kB, 1300 - 48)).verdict, Verdict::kTransmit);
}

TEST_F(Forward, RouteMtuIsTestedAtOutput) {
  route("2001:db8:11::/64", kB, "r-b", {.mtu = 1300});
  const Bytes packet = udp_packet(kA, "2001:db8:11::1", 1300);
  const Outcome outcome = run(packet);
  EXPECT_EQ(outcome.reason, DropReason::kTooBigOutput);
  EXPECT_EQ(outcome.bytes, packet);  // the hop is given back
  const Bytes forwarded = after_hops(packet);
  const Bytes quote(forwarded.begin(), forwarded.begin() + 1232);
  EXPECT_EQ(answer().bytes, error_about(quote, 2, 0, 1300, kRouterA, kA));
  EXPECT_EQ(device("r-a"), received(packet.size()) + made("Icmp6OutPktTooBigs", 1280));
  EXPECT_EQ(device("r-b"), (Counts{{"Ip6OutForwDatagrams", 1}, {"Ip6FragFails", 1}}));
}

TEST_F(Forward, LockedRouteMtuIsTestedFirst) {
  route("2001:db8:11::/64", kB, "r-b", {.mtu = 1300, .mtu_locked = true});
  const Bytes packet = udp_packet(kA, "2001:db8:11::1", 1300);
  EXPECT_EQ(run(packet).reason, DropReason::kTooBig);
  EXPECT_EQ(answer().bytes[48 + net::kIpv6HopLimitOffset], 64);
  EXPECT_EQ(host()["Ip6InTooBigErrors"], 1U);
}

TEST_F(Forward, RouteMtuBelowTheMinimumIsSaid) {
  route("2001:db8:12::/64", kB, "r-b", {.mtu = 1000});
  const Bytes packet = udp_packet(kA, "2001:db8:12::1", 1248 - 48);
  EXPECT_EQ(run(packet).reason, DropReason::kTooBigOutput);
  const Bytes forwarded = after_hops(packet);
  const Bytes quote(forwarded.begin(), forwarded.begin() + 1232);
  EXPECT_EQ(answer().bytes, error_about(quote, 2, 0, 1000, kRouterA, kA));
  EXPECT_EQ(run(udp_packet(kA, "2001:db8:12::1", 1000 - 48)).verdict, Verdict::kTransmit);
}

// The kernel looks for the place to cut before it answers, and fails there without a word.
TEST_F(Forward, TooBigWithABrokenChainIsSilent) {
  route("2001:db8:12::/64", kB, "r-b", {.mtu = 1000});
  const Bytes packet =
      ipv6({.next_header = net::kNextHeaderDestinationOptions, .destination = "2001:db8:12::1"},
           Bytes{17, 255}, zeros(1000));
  expect_silent_drop({.bytes = packet}, DropReason::kTooBigOutput,
                     {{"Ip6OutForwDatagrams", 1}, {"Ip6FragFails", 1}});
}

TEST_F(Forward, NeighborDecidesLast) {
  const Counts out = sent(56) + Counts{{"Ip6OutForwDatagrams", 1}};
  expect_silent_drop({.bytes = udp_packet(kA, "2001:db8:b::77")}, DropReason::kNeighborUnresolved,
                     out);
  neighbor("r-b", "2001:db8:b::78", nullptr, neighbor::State::kIncomplete);
  expect_silent_drop({.bytes = udp_packet(kA, "2001:db8:b::78")}, DropReason::kNeighborUnresolved,
                     out);
  neighbor("r-b", "2001:db8:b::79", nullptr, neighbor::State::kFailed);
  expect_silent_drop({.bytes = udp_packet(kA, "2001:db8:b::79")}, DropReason::kNeighborFailed, out);
  neighbor("r-b", "2001:db8:b::7a", "02:00:00:00:02:7a", neighbor::State::kStale);
  EXPECT_EQ(run(udp_packet(kA, "2001:db8:b::7a")).verdict, Verdict::kTransmit);
}

TEST_F(Forward, EgressWithoutCarrier) {
  must(lookup::LinkChange{.name = "r-b", .carrier = false});
  expect_silent_drop({.bytes = udp_packet(kA, kB)}, DropReason::kEgressDown,
                     sent(56) + Counts{{"Ip6OutForwDatagrams", 1}});
}

TEST_F(Forward, LinkLocalDestinationGoesBackOntoItsLink) {
  const Bytes packet = udp_packet(kA, "fe80::a2");
  const Outcome outcome = run(packet);
  EXPECT_EQ(outcome.verdict, Verdict::kTransmit);
  EXPECT_EQ(outcome.egress, "r-a");
}

TEST_F(Forward, ProxiedNeighborsAreNotForwardedAsIfNothingWere) {
  sysctl("net.ipv6.conf.all.proxy_ndp", "1");
  neighbor::Neighbor proxy;
  proxy.device = fib.links().find("r-a")->index;
  proxy.address = addr(kB);
  proxy.proxy = true;
  ASSERT_TRUE(neighbors.insert(proxy, true).has_value());
  EXPECT_EQ(run(udp_packet(kA, kB)).reason, DropReason::kNotImplemented);
}

// A routing header is the business of the node that it names: others do not look at it, whatever it says.
TEST_F(Forward, RoutingHeadersInTransitAreLeftAlone) {
  const Bytes broken =
      ipv6({.next_header = net::kNextHeaderRouting}, Bytes{17, 200, 4, 99}, zeros(4));
  EXPECT_EQ(run(broken).bytes, after_hops(broken));
  const Bytes unknown_option = ipv6({.next_header = net::kNextHeaderDestinationOptions},
                                    options(net::kNextHeaderUdp, {0x9e, 4, 0, 0, 0, 0}), udp(1, 2));
  EXPECT_EQ(run(unknown_option).bytes, after_hops(unknown_option));
}

TEST_F(Forward, PortRulesSeeBehindOptionsButNotIntoFragments) {
  lookup::RuleChange rule;
  rule.rule.preference = 10;
  rule.preference_given = true;
  rule.rule.dport = rules::PortRange{2000, 2300};
  rule.rule.action = rules::Action::kProhibit;
  rule.action_given = true;
  must(rule);
  EXPECT_EQ(run(udp_packet(kA, kB)).reason, DropReason::kProhibited);
  EXPECT_EQ(run(ipv6({.next_header = net::kNextHeaderDestinationOptions},
                     options(net::kNextHeaderUdp), udp(1, 2000)))
                .reason,
            DropReason::kProhibited);
  EXPECT_EQ(run(ipv6({}, udp(1, 1999))).verdict, Verdict::kTransmit);
  EXPECT_EQ(run(ipv6({.next_header = net::kNextHeaderFragment},
                     fragment(net::kNextHeaderUdp, 0, true), udp(1, 2000)))
                .verdict,
            Verdict::kTransmit);
  EXPECT_EQ(run(ipv6({.next_header = net::kNextHeaderFragment},
                     fragment(net::kNextHeaderUdp, 1480, false), udp(1, 2000)))
                .verdict,
            Verdict::kTransmit);
}

TEST_F(Forward, MarkAndTrafficClassAreLookedUp) {
  lookup::RuleChange mark;
  mark.rule.preference = 10;
  mark.preference_given = true;
  mark.rule.fwmark = 5;
  mark.rule.fwmask = 0xffffffff;
  mark.rule.action = rules::Action::kBlackhole;
  mark.action_given = true;
  must(mark);
  EXPECT_EQ(run({.bytes = udp_packet(kA, kB), .mark = 5}).reason, DropReason::kBlackhole);
  EXPECT_EQ(run({.bytes = udp_packet(kA, kB), .mark = 4}).verdict, Verdict::kTransmit);

  lookup::RuleChange dsfield = mark;
  dsfield.rule.preference = 11;
  dsfield.rule.fwmark = 0;
  dsfield.rule.fwmask = 0;
  dsfield.rule.dsfield = 0x10;
  must(dsfield);
  EXPECT_EQ(run(ipv6({.traffic_class = 0x12}, udp(1, 2))).reason, DropReason::kBlackhole);
  EXPECT_EQ(run(ipv6({.traffic_class = 0x14}, udp(1, 2))).verdict, Verdict::kTransmit);
}

}  // namespace
}  // namespace sidestep::forward::test
