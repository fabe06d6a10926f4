// SPDX-License-Identifier: Apache-2.0
// Local delivery: extension headers at the destination, echo requests, multicast groups.
#include <gtest/gtest.h>

#include "forward/lab_for_test.hpp"

namespace sidestep::forward::test {
namespace {

using packet::DropReason;
using packet::L2Class;
using packet::Verdict;

class Deliver : public Lab {
 protected:
  void expect_drop(const Arrival& arrival, DropReason reason, const Counts& extra) {
    const Outcome outcome = run(arrival);
    EXPECT_EQ(outcome.reason, reason);
    EXPECT_EQ(outcome.bytes, arrival.bytes);
    EXPECT_TRUE(generated.empty());
    EXPECT_EQ(host(), received(arrival.bytes.size()) + extra);
  }
  void expect_drop(const Bytes& bytes, DropReason reason, const Counts& extra) {
    expect_drop(Arrival{.bytes = bytes}, reason, extra);
  }
  void expect_parameter_problem(const Bytes& packet, DropReason reason, std::uint8_t code,
                                std::uint32_t pointer, const Counts& extra) {
    now.value += kNsPerSecond;  // limits are not the matter here
    const Outcome outcome = run(packet);
    EXPECT_EQ(outcome.reason, reason);
    EXPECT_EQ(outcome.bytes, packet);
    EXPECT_EQ(answer().bytes, error_about(packet, 4, code, pointer, kRouterA, kA));
    EXPECT_EQ(host(),
              received(packet.size()) + extra + made("Icmp6OutParmProblems", packet.size() + 48));
  }
  static Bytes echo_reply(std::string_view source, std::string_view destination,
                          std::uint8_t traffic_class = 0, std::uint8_t hop_limit = 64) {
    const Bytes data{'h', 'e', 'l', 'l', 'o', '1', '2', '3'};
    return ipv6({.next_header = net::kNextHeaderIcmpv6,
                 .source = source,
                 .destination = destination,
                 .hop_limit = hop_limit,
                 .traffic_class = traffic_class},
                icmpv6(net::kIcmpv6EchoReply, 0, 0x12340001, data, source, destination));
  }
  /// A packet to the router, whose headers are `parts`.
  template <typename... Parts>
  static Bytes to_router(std::uint8_t next_header, const Parts&... parts) {
    return ipv6({.next_header = next_header, .destination = kRouterA}, parts...);
  }
  static Bytes echo_message() { return icmpv6(net::kIcmpv6EchoRequest, 0, 1, {}, kA, kRouterA); }
};

const Counts kEchoIn{{"Ip6InDelivers", 1}, {"Icmp6InMsgs", 1}, {"Icmp6InEchos", 1}};

TEST_F(Deliver, EchoRequestIsAnsweredFromTheAddressItWasSentTo) {
  const Bytes request =
      ipv6({.next_header = net::kNextHeaderIcmpv6,
            .destination = kRouterA,
            .hop_limit = 3,
            .traffic_class = 0xb8,
            .flow_label = 0x12345},
           icmpv6(128, 0, 0x12340001, {'h', 'e', 'l', 'l', 'o', '1', '2', '3'}, kA, kRouterA));
  const Outcome outcome = run(request);
  EXPECT_EQ(outcome.verdict, Verdict::kAnswered);
  EXPECT_NE(net::Ipv6Header::check(generated.at(0).bytes)->flow_label(), 0U);
  EXPECT_EQ(answer().bytes, echo_reply(kRouterA, kA, 0xb8));
  EXPECT_EQ(answer().egress, "r-a");
  EXPECT_EQ(answer().verdict, Verdict::kTransmit);
  EXPECT_EQ(answer().destination_mac.to_string(), "02:00:00:00:01:02");
  EXPECT_EQ(answer().record, 7U);
  const Counts expected = received(56) + kEchoIn + made("Icmp6OutEchoReplies", 56);
  EXPECT_EQ(host(), expected);
  EXPECT_EQ(device("r-a"), expected);
}

TEST_F(Deliver, AddressOfAnotherDeviceIsOursToo) {
  EXPECT_EQ(run(echo_request(kA, kRouterB)).verdict, Verdict::kAnswered);
  EXPECT_EQ(answer().bytes, echo_reply(kRouterB, kA));
  EXPECT_EQ(answer().egress, "r-a");
  EXPECT_EQ(device("r-b"), (Counts{{"Ip6InDelivers", 1}}));  // counted where the address is
}

TEST_F(Deliver, AnycastAndMulticastAreAnsweredFromAUnicastAddress) {
  EXPECT_EQ(run(echo_request(kA, "2001:db8:a::")).verdict, Verdict::kAnswered);
  EXPECT_EQ(answer().bytes, echo_reply(kRouterA, kA));
  const Bytes to_group = echo_request(kA, "ff02::1");
  EXPECT_EQ(run({.bytes = to_group, .l2_class = L2Class::kMulticast}).verdict, Verdict::kAnswered);
  EXPECT_EQ(answer().bytes, echo_reply(kRouterA, kA));
  EXPECT_EQ(host(), received(56) + kEchoIn + made("Icmp6OutEchoReplies", 56) +
                        (Counts{{"Ip6InMcastPkts", 1}, {"Ip6InMcastOctets", 56}}));
  const Bytes from_link = echo_request("fe80::a2", "ff02::1");
  run({.bytes = from_link, .l2_class = L2Class::kMulticast});
  EXPECT_EQ(answer().bytes, echo_reply(kLinkLocalA, "fe80::a2"));
}

TEST_F(Deliver, AnycastMayAnswerItselfOnRequest) {
  sysctl("net.ipv6.anycast_src_echo_reply", "1");
  run(echo_request(kA, "2001:db8:a::"));
  EXPECT_EQ(answer().bytes, echo_reply("2001:db8:a::", kA));
}

TEST_F(Deliver, SubnetAnycastNeedsAForwardingDevice) {
  sysctl("net.ipv6.conf.r-a.forwarding", "0");
  EXPECT_NE(run(echo_request(kA, "2001:db8:a::")).verdict, Verdict::kAnswered);
}

TEST_F(Deliver, LinkLayerBroadcastIsNoObstacle) {
  EXPECT_EQ(run({.bytes = echo_request(kA, kRouterA), .l2_class = L2Class::kBroadcast}).verdict,
            Verdict::kAnswered);
}

TEST_F(Deliver, ReplyHasTheHopLimitOfRouteOrDevice) {
  route("2001:db8:45::/64", kA, "r-a", {.hop_limit = 33});
  run(echo_request("2001:db8:45::1", kRouterA));
  EXPECT_EQ(answer().bytes, echo_reply(kRouterA, "2001:db8:45::1", 0, 33));
  sysctl("net.ipv6.conf.r-a.hop_limit", "200");
  run(echo_request(kA, kRouterA));
  EXPECT_EQ(answer().bytes, echo_reply(kRouterA, kA, 0, 200));
}

TEST_F(Deliver, LocalPrefixAnswersForEveryAddress) {
  lookup::RouteChange change;
  change.type = fib::RouteType::kLocal;
  route("2001:db8:46::/64", "", "lo", change);
  run(echo_request(kA, "2001:db8:46::9"));
  EXPECT_EQ(answer().bytes, echo_reply("2001:db8:46::9", kA));
  EXPECT_EQ(device("lo"), (Counts{{"Ip6InDelivers", 1}}));
}

TEST_F(Deliver, EchoIsIgnoredOnRequest) {
  const Counts in = kEchoIn;
  sysctl("net.ipv6.icmp.echo_ignore_multicast", "1");
  run({.bytes = echo_request(kA, "ff02::1"), .l2_class = L2Class::kMulticast});
  EXPECT_TRUE(generated.empty());
  sysctl("net.ipv6.icmp.echo_ignore_anycast", "1");
  expect_drop(echo_request(kA, "2001:db8:a::"), DropReason::kEchoIgnored, in);
  EXPECT_EQ(run(echo_request(kA, kRouterA)).verdict, Verdict::kAnswered);
  sysctl("net.ipv6.icmp.echo_ignore_all", "1");
  expect_drop(echo_request(kA, kRouterA), DropReason::kEchoIgnored, in);
}

TEST_F(Deliver, ReplyWithoutAWayIsCountedOnNoDevice) {
  expect_drop(echo_request("::", kRouterA), DropReason::kIcmpNoRoute,
              kEchoIn + Counts{{"Ip6OutNoRoutes", 1}});
  EXPECT_EQ(device("lo"), Counts{});
}

TEST_F(Deliver, ReplyToAnUnknownNeighborIsLostApart) {
  const Outcome outcome = run(echo_request("2001:db8:a::77", kRouterA));
  EXPECT_EQ(outcome.verdict, Verdict::kAnswered);
  EXPECT_EQ(answer().verdict, Verdict::kDrop);
  EXPECT_EQ(answer().reason, DropReason::kNeighborUnresolved);
  EXPECT_EQ(held_back(DropReason::kNeighborUnresolved), 1U);
  EXPECT_EQ(forwarder.counters().drops(DropReason::kNeighborUnresolved), 0U);
}

TEST_F(Deliver, ChecksumIsVerified) {
  Bytes request = echo_request(kA, kRouterA);
  request.back() ^= 1;
  expect_drop(
      request, DropReason::kChecksum,
      {{"Ip6InDelivers", 1}, {"Icmp6InMsgs", 1}, {"Icmp6InErrors", 1}, {"Icmp6InCsumErrors", 1}});
}

TEST_F(Deliver, MessageTooShort) {
  expect_drop(
      to_router(58, Bytes{128, 0, 0}), DropReason::kChecksum,
      {{"Ip6InDelivers", 1}, {"Icmp6InMsgs", 1}, {"Icmp6InErrors", 1}, {"Icmp6InCsumErrors", 1}});
  Bytes four{128, 0, 0, 0};
  net::store_be16(four.data() + 2, net::upper_layer_checksum(addr(kA), addr(kRouterA), 58, four));
  expect_drop(to_router(58, four), DropReason::kIcmpMalformed,
              {{"Ip6InDelivers", 1}, {"Icmp6InMsgs", 1}, {"Icmp6InErrors", 1}});
}

TEST_F(Deliver, OtherMessagesAreForTheHost) {
  const Bytes reply = to_router(58, icmpv6(129, 0, 1, {}, kA, kRouterA));
  EXPECT_EQ(run(reply).verdict, Verdict::kDeliver);
  EXPECT_EQ(
      host(),
      received(48) + (Counts{{"Ip6InDelivers", 1}, {"Icmp6InMsgs", 1}, {"Icmp6InEchoReplies", 1}}));
  EXPECT_EQ(run(to_router(58, icmpv6(200, 0, 1, {}, kA, kRouterA))).verdict, Verdict::kDeliver);
}

TEST_F(Deliver, ErrorsThatNobodyCanUseAreCounted) {
  const auto error = [](std::uint8_t type, const Bytes& quote) {
    return to_router(58, icmpv6(type, 0, 0, quote, kA, kRouterA));
  };
  const Bytes echo_quote = echo_request(kRouterA, kA);
  const struct {
    Bytes packet;
    const char* counter;
    bool useless;
  } rows[] = {
      {error(1, {1, 2, 3, 4}), "Icmp6InDestUnreachs", true},
      {error(1, udp_packet(kRouterA, kA)), "Icmp6InDestUnreachs", true},
      {error(3, echo_quote), "Icmp6InTimeExcds", false},
      {error(4, echo_quote), "Icmp6InParmProblems", false},
      {error(2, {}), "Icmp6InPktTooBigs", true},
      {error(1, ipv6({.next_header = 59}, zeros(8))), "Icmp6InDestUnreachs", true},
      {error(1, ipv6({.next_header = 44}, fragment(17, 8, true), zeros(8))), "Icmp6InDestUnreachs",
       false},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(run(row.packet).verdict, Verdict::kDeliver);
    Counts expected = received(row.packet.size()) +
                      Counts{{"Ip6InDelivers", 1}, {"Icmp6InMsgs", 1}, {row.counter, 1}};
    if (row.useless) expected["Icmp6InErrors"] = 1;
    EXPECT_EQ(host(), expected);
  }
}

TEST_F(Deliver, UpperLayersOfTheHost) {
  for (const std::uint8_t protocol : {std::uint8_t{6}, std::uint8_t{17}, std::uint8_t{59},
                                      std::uint8_t{103}, std::uint8_t{136}}) {
    const Bytes packet = to_router(protocol, zeros(8));
    const Outcome outcome = run(packet);
    EXPECT_EQ(outcome.verdict, Verdict::kDeliver) << int{protocol};
    EXPECT_EQ(outcome.bytes, packet);
    EXPECT_EQ(host(), received(48) + (Counts{{"Ip6InDelivers", 1}}));
  }
}

TEST_F(Deliver, UnknownProtocolIsPointedAt) {
  const Counts unknown{{"Ip6InUnknownProtos", 1}};
  expect_parameter_problem(to_router(200, zeros(8)), DropReason::kUnknownProtocol, 1, 6, unknown);
  expect_parameter_problem(to_router(41, udp_packet(kA, kB)), DropReason::kUnknownProtocol, 1, 6,
                           unknown);
  expect_parameter_problem(to_router(60, options(200), zeros(8)), DropReason::kUnknownProtocol, 1,
                           40, unknown);
}

// RFC 8200 §4.1: hop-by-hop options anywhere but directly behind the IPv6 header are a protocol that nobody knows.
TEST_F(Deliver, HopByHopFurtherBack) {
  expect_parameter_problem(to_router(60, options(0), options(17), udp(1, 2)),
                           DropReason::kUnknownProtocol, 1, 40, {{"Ip6InUnknownProtos", 1}});
  EXPECT_EQ(run(to_router(0, options(58), echo_message())).verdict, Verdict::kAnswered);
}

TEST_F(Deliver, UnknownProtocolOfAnotherDevicesAddress) {
  const Bytes packet = ipv6({.next_header = 200, .destination = kRouterB}, zeros(8));
  run(packet);
  EXPECT_EQ(answer().bytes, error_about(packet, 4, 1, 6, kRouterB, kA));
  EXPECT_EQ(device("r-b"), (Counts{{"Ip6InUnknownProtos", 1}}));
}

TEST_F(Deliver, UnknownProtocolInAGroupIsNotAnswered) {
  const Bytes packet = ipv6({.next_header = 200, .destination = "ff02::1"}, zeros(8));
  expect_drop({.bytes = packet, .l2_class = L2Class::kMulticast}, DropReason::kUnknownProtocol,
              {{"Ip6InUnknownProtos", 1}, {"Ip6InMcastPkts", 1}, {"Ip6InMcastOctets", 48}});
}

TEST_F(Deliver, DestinationOptions) {
  const Counts errors{{"Ip6InHdrErrors", 1}};
  EXPECT_EQ(run(to_router(60, options(58, {0x1e, 4, 0, 0, 0, 0}), echo_message())).verdict,
            Verdict::kAnswered);
  expect_drop(to_router(60, options(17, {0x5e, 4, 0, 0, 0, 0}), udp(1, 2)),
              DropReason::kUnknownOption, errors);
  expect_parameter_problem(to_router(60, options(17, {0x9e, 4, 0, 0, 0, 0}), udp(1, 2)),
                           DropReason::kUnknownOption, 2, 42, errors);
  // A home address option (RFC 6275) is unknown without Mobile IPv6.
  expect_parameter_problem(
      to_router(60, options(17, concat(Bytes{1, 2, 0, 0, 0xc9, 16}, zeros(16))), udp(1, 2)),
      DropReason::kUnknownOption, 2, 46, errors);
  expect_drop(to_router(60, Bytes{17, 5, 0, 0, 0, 0, 0, 0}), DropReason::kExtensionHeaderMalformed,
              errors);
  expect_drop(to_router(60, options(17, {1, 4, 0, 0, 1, 0}), udp(1, 2)),
              DropReason::kExtensionHeaderMalformed, errors);
  sysctl("net.ipv6.max_dst_opts_length", "8");
  expect_drop(to_router(60, options(17, concat(Bytes{0x1e, 12}, zeros(12))), udp(1, 2)),
              DropReason::kExtensionHeaderMalformed, {});
  sysctl("net.ipv6.max_dst_opts_number", "0");
  expect_drop(to_router(60, options(17, {0x1e, 4, 0, 0, 0, 0}), udp(1, 2)),
              DropReason::kExtensionHeaderMalformed, errors);
}

TEST_F(Deliver, RoutingHeaderWithNothingLeftIsPassedOver) {
  for (const std::uint8_t type : {std::uint8_t{0}, std::uint8_t{2}, std::uint8_t{77}}) {
    const Bytes packet = to_router(43, Bytes{58, 0, type, 0, 0, 0, 0, 0}, echo_message());
    EXPECT_EQ(run(packet).verdict, Verdict::kAnswered) << int{type};
  }
}

TEST_F(Deliver, RoutingHeadersThatAreRefused) {
  const Counts errors{{"Ip6InHdrErrors", 1}};
  expect_parameter_problem(to_router(43, Bytes{17, 0, 0, 1, 0, 0, 0, 0}, udp(1, 2)),
                           DropReason::kRoutingHeaderRefused, 0, 42, errors);
  expect_parameter_problem(to_router(60, options(43), Bytes{17, 0, 0, 1, 0, 0, 0, 0}, udp(1, 2)),
                           DropReason::kRoutingHeaderRefused, 0, 50, errors);
  // RPL source routes (RFC 6554) are off, and then not even looked at.
  expect_drop(to_router(43, Bytes{17, 0, 3, 0, 0, 0, 0, 0}, udp(1, 2)),
              DropReason::kRoutingHeaderRefused, {});
  expect_drop(to_router(43, Bytes{17, 5, 0, 0, 0, 0, 0, 0}), DropReason::kExtensionHeaderMalformed,
              errors);
  expect_drop({.bytes = to_router(43, Bytes{17, 0, 0, 0, 0, 0, 0, 0}, udp(1, 2)),
               .l2_class = L2Class::kBroadcast},
              DropReason::kRoutingHeaderRefused, {{"Ip6InAddrErrors", 1}});
}

TEST_F(Deliver, AtomicFragmentIsWhole) {
  const Bytes packet = to_router(44, fragment(58, 0, false), echo_message());
  EXPECT_EQ(run(packet).verdict, Verdict::kAnswered);
  EXPECT_EQ(host()["Ip6ReasmReqds"], 1U);
  EXPECT_EQ(host()["Ip6ReasmOKs"], 1U);
}

TEST_F(Deliver, FragmentsWait) {
  const Counts asked{{"Ip6ReasmReqds", 1}};
  expect_drop(to_router(44, fragment(17, 0, true), udp(1, 2)), DropReason::kNotImplemented, asked);
  expect_drop(to_router(44, fragment(17, 8, false), udp(1, 2)), DropReason::kNotImplemented, asked);
}

TEST_F(Deliver, FragmentsThatCannotBePartOfAPacket) {
  const Counts errors{{"Ip6InHdrErrors", 1}, {"Ip6ReasmReqds", 1}};
  constexpr auto kReason = DropReason::kExtensionHeaderMalformed;
  // The first of several has no whole upper layer header.
  expect_parameter_problem(to_router(44, fragment(17, 0, true), zeros(7)), kReason, 3, 0, errors);
  expect_parameter_problem(to_router(44, fragment(6, 0, true), zeros(16)), kReason, 3, 0, errors);
  expect_parameter_problem(to_router(44, fragment(58, 0, true), Bytes{128, 0, 0, 0}), kReason, 3, 0,
                           errors);
  // Nor has it when a header before that is cut off.
  expect_parameter_problem(to_router(44, fragment(43, 0, true), Bytes{17, 4, 4, 1, 0, 0, 0, 0}),
                           kReason, 3, 0, errors);
  // One of several must be a multiple of 8 octets.
  expect_parameter_problem(to_router(44, fragment(17, 0, true), zeros(12)), kReason, 0, 4, errors);
  expect_parameter_problem(to_router(60, options(44), fragment(17, 8, true), zeros(9)), kReason, 0,
                           4, errors);
  // The whole would be longer than a packet can be.
  expect_parameter_problem(to_router(44, fragment(17, 65528, false), zeros(8)), kReason, 0, 42,
                           errors);
  EXPECT_EQ(run(to_router(44, fragment(17, 65528, false), zeros(7))).reason,
            DropReason::kNotImplemented);
}

TEST_F(Deliver, FragmentHeadersThatAreWrong) {
  const Counts errors{{"Ip6InHdrErrors", 1}, {"Ip6ReasmReqds", 1}};
  expect_parameter_problem(to_router(44, Bytes{17, 0, 0, 1}), DropReason::kExtensionHeaderMalformed,
                           0, 40, errors);
  expect_parameter_problem(to_router(44, fragment(44, 0, false), fragment(17, 0, false), udp(1, 2)),
                           DropReason::kExtensionHeaderMalformed, 0, 48,
                           errors + Counts{{"Ip6ReasmOKs", 1}});
}

TEST_F(Deliver, GroupsOfADevice) {
  const auto delivered = [this](const char* group) {
    const Outcome outcome = run({.bytes = udp_packet(kA, group), .l2_class = L2Class::kMulticast});
    if (outcome.verdict != Verdict::kDeliver) {
      EXPECT_EQ(outcome.reason, DropReason::kMulticastNotJoined) << group;
      EXPECT_EQ(host(), received(56) + (Counts{{"Ip6InMcastPkts", 1}, {"Ip6InMcastOctets", 56}}));
    }
    return outcome.verdict == Verdict::kDeliver;
  };
  EXPECT_TRUE(delivered("ff02::1"));
  EXPECT_TRUE(delivered("ff02::2"));
  EXPECT_TRUE(delivered("ff05::2"));
  EXPECT_TRUE(delivered("ff02::1:ff00:1"));     // 2001:db8:a::1
  EXPECT_TRUE(delivered("ff02::1:ff00:101"));   // the link-local address
  EXPECT_TRUE(delivered("ff02::1:ff00:0"));     // subnet-router anycast
  EXPECT_FALSE(delivered("ff02::1:ff00:201"));  // r-b's
  EXPECT_FALSE(delivered("ff02::9"));
  EXPECT_FALSE(delivered("ff0e::1"));
  sysctl("net.ipv6.conf.r-a.forwarding", "0");
  EXPECT_FALSE(delivered("ff02::2"));
  EXPECT_FALSE(delivered("ff02::1:ff00:0"));
}

TEST_F(Deliver, RoutingHeaderInAGroupIsAnAddressError) {
  const Bytes packet = ipv6({.next_header = 43, .destination = "ff02::1"},
                            Bytes{17, 0, 0, 0, 0, 0, 0, 0}, udp(1, 2));
  expect_drop({.bytes = packet, .l2_class = L2Class::kMulticast}, DropReason::kRoutingHeaderRefused,
              {{"Ip6InAddrErrors", 1}, {"Ip6InMcastPkts", 1}, {"Ip6InMcastOctets", 56}});
}

}  // namespace
}  // namespace sidestep::forward::test
