// SPDX-License-Identifier: Apache-2.0
// ICMPv6 errors: about what, from which address, how often, how long; and redirects.
#include <gtest/gtest.h>

#include "forward/lab_for_test.hpp"

namespace sidestep::forward::test {
namespace {

using packet::DropReason;
using packet::L2Class;
using packet::Verdict;

class Icmp : public Lab {
 protected:
  /// Whether a packet for which there is no route is answered.
  bool is_answered(const Bytes& packet) {
    EXPECT_EQ(run(packet).reason, DropReason::kNoRoute);
    return !generated.empty();
  }
  std::string source_of_answer() {
    return net::Ipv6Header::check(answer().bytes)->source().to_string();
  }
  void pass(std::uint64_t ms) { now.value += ms * 1'000'000; }
};

TEST_F(Icmp, NothingIsSaidAboutErrors) {
  const auto to_nowhere = [](std::uint8_t type) {
    return ipv6({.next_header = 58, .destination = kNowhere},
                icmpv6(type, 0, 0, zeros(48), kA, kNowhere));
  };
  EXPECT_FALSE(is_answered(to_nowhere(1)));
  EXPECT_FALSE(is_answered(to_nowhere(127)));
  EXPECT_TRUE(is_answered(to_nowhere(128)));
  EXPECT_TRUE(is_answered(to_nowhere(135)));
  // Too short to tell is taken for an error.
  EXPECT_FALSE(is_answered(ipv6({.next_header = 58, .destination = kNowhere})));
  EXPECT_FALSE(is_answered(
      ipv6({.next_header = 60, .destination = kNowhere}, options(58), Bytes{1, 0, 0, 0})));
  EXPECT_FALSE(is_answered(ipv6({.next_header = 44, .destination = kNowhere}, fragment(58, 0, true),
                                Bytes{1, 0, 0, 0})));
  // Behind a fragment header that is not the first there is no telling, and that is answered.
  EXPECT_TRUE(is_answered(ipv6({.next_header = 44, .destination = kNowhere},
                               fragment(58, 256, true), Bytes{1, 0, 0, 0})));
}

TEST_F(Icmp, NothingIsSaidToGroupsOrNobody) {
  EXPECT_FALSE(is_answered(udp_packet("::", kNowhere)));
  EXPECT_FALSE(is_answered(udp_packet("2001:db8:b::", kNowhere)));  // our own anycast address
  sysctl("net.ipv6.icmp.error_anycast_as_unicast", "1");
  EXPECT_TRUE(is_answered(udp_packet("2001:db8:b::", kNowhere)));
}

TEST_F(Icmp, SourceIsTheDestinationIfThatIsOurs) {
  run(ipv6({.next_header = 200, .destination = kRouterB}));
  EXPECT_EQ(source_of_answer(), kRouterB);
  run(ipv6({.next_header = 200, .destination = "2001:db8:b::"}));
  EXPECT_EQ(source_of_answer(), "2001:db8:b::");
  run(ipv6({.next_header = 200, .source = "fe80::a2", .destination = kLinkLocalA}));
  EXPECT_EQ(source_of_answer(), kLinkLocalA);
}

// The subnet's address is a router's anycast address only where the device forwards; else it is just some neighbor's.
TEST_F(Icmp, SourceIsNoAnycastAddressOfAHostsDevice) {
  sysctl("net.ipv6.conf.r-b.forwarding", "0");
  EXPECT_EQ(run(udp_packet(kA, "2001:db8:b::", 8, 1)).reason, DropReason::kHopLimitExceeded);
  EXPECT_EQ(source_of_answer(), kRouterA);
}

TEST_F(Icmp, SourceIsThePreferredOneOfTheWayBack) {
  address("2001:db8:b::7", 64, "r-b");
  route("2001:db8:44::/64", kB, "r-b", {.preferred_source = addr("2001:db8:b::7")});
  EXPECT_TRUE(is_answered(udp_packet("2001:db8:44::1", kNowhere)));
  EXPECT_EQ(source_of_answer(), "2001:db8:b::7");
  EXPECT_EQ(answer().egress, "r-b");
  EXPECT_EQ(device("r-a"), received(56) + (Counts{{"Ip6InNoRoutes", 1}}));
  EXPECT_EQ(device("r-b"), made("Icmp6OutDestUnreachs", 104));
}

TEST_F(Icmp, SourceIsOtherwiseOfTheIngressDevice) {
  route("2001:db8:44::/64", kB, "r-b");
  EXPECT_TRUE(is_answered(udp_packet("2001:db8:44::1", kNowhere)));
  EXPECT_EQ(source_of_answer(), kRouterA);
  EXPECT_EQ(answer().egress, "r-b");
}

TEST_F(Icmp, LinkLocalSenderIsAnsweredOnItsLink) {
  EXPECT_TRUE(is_answered(udp_packet("fe80::a2", kNowhere)));
  EXPECT_EQ(source_of_answer(), kLinkLocalA);
  EXPECT_EQ(answer().egress, "r-a");
}

TEST_F(Icmp, NoWayToTheSender) {
  EXPECT_FALSE(is_answered(udp_packet("2001:db8:eeee::1", kNowhere)));
  EXPECT_EQ(held_back(DropReason::kIcmpRateLimited), 1U);
  EXPECT_EQ(host(), received(56) + (Counts{{"Ip6InNoRoutes", 1},
                                           {"Ip6OutNoRoutes", 1},
                                           {"Icmp6OutRateLimitHost", 1}}));
  EXPECT_EQ(device("lo"), (Counts{{"Ip6OutNoRoutes", 1}}));
}

// A type that is not limited gets as far as looking for the way.
TEST_F(Icmp, NoWayToTheSenderOfATypeWithoutLimit) {
  sysctl("net.ipv6.icmp.ratemask", "2");
  EXPECT_FALSE(is_answered(udp_packet("2001:db8:eeee::1", kNowhere)));
  EXPECT_EQ(held_back(DropReason::kIcmpNoRoute), 1U);
  EXPECT_EQ(host(), received(56) + (Counts{{"Ip6InNoRoutes", 1}, {"Ip6OutNoRoutes", 1}}));
  EXPECT_EQ(device("lo"), Counts{});
}

TEST_F(Icmp, UnknownNeighborOfTheSenderLosesTheMessage) {
  EXPECT_TRUE(is_answered(udp_packet("2001:db8:a::77", kNowhere)));
  EXPECT_EQ(answer().reason, DropReason::kNeighborUnresolved);
}

TEST_F(Icmp, QuoteFillsTheMinimumMtu) {
  for (const std::size_t size : {1232U, 1233U, 1500U}) {
    const Bytes packet = udp_packet(kA, kNowhere, size - 48);
    run(packet);
    const Bytes quote(packet.begin(), packet.begin() + 1232);
    EXPECT_EQ(answer().bytes, error_about(quote, 1, 0, 0, kRouterA, kA));
    EXPECT_EQ(answer().bytes.size(), 1280U);
  }
}

TEST_F(Icmp, MessageToTheRouterItselfIsLoopedBack) {
  const Bytes packet = udp_packet(kRouterA, kNowhere);
  run(packet);
  EXPECT_EQ(answer().verdict, Verdict::kDeliver);
  EXPECT_EQ(answer().bytes, error_about(packet, 1, 0, 0, kRouterA, kRouterA));
  const Counts a = received(56) + made("Icmp6OutDestUnreachs", 104) +
                   Counts{{"Ip6InNoRoutes", 1},
                          {"Ip6InDelivers", 1},
                          {"Icmp6InMsgs", 1},
                          {"Icmp6InDestUnreachs", 1}};
  const Counts lo = received(104) + Counts{{"Icmp6InErrors", 1}};
  EXPECT_EQ(device("r-a"), a);
  EXPECT_EQ(device("lo"), lo);
  EXPECT_EQ(host(), a + lo);
}

TEST_F(Icmp, MessageAlongAHeadendRouteIsEncapsulated) {
  sysctl("net.ipv6.auto_flowlabels", "0");
  lookup::RouteChange change;
  change.hops.emplace_back().encap =
      fib::Seg6Encap{.mode = fib::Seg6Mode::kEncapRed, .segments = {addr(kB)}};
  route("2001:db8:47::/64", "", "r-b", change);
  const Bytes packet = udp_packet("2001:db8:47::1", kNowhere);
  EXPECT_TRUE(is_answered(packet));
  EXPECT_EQ(answer().verdict, Verdict::kTransmit);
  EXPECT_EQ(answer().egress, "r-b");
  EXPECT_EQ(answer().bytes, ipv6({.next_header = 41, .source = kRouterB, .destination = kB},
                                 error_about(packet, 1, 0, 0, kRouterA, "2001:db8:47::1")));
}

// A headend that leads to itself, one without a way, and one whose first segment is the router's own.
TEST_F(Icmp, MessageAlongAHeadendRouteThatDoesNotWork) {
  const auto answered_by = [&](const char* prefix, std::string_view segment,
                               std::string_view source) {
    lookup::RouteChange change;
    change.hops.emplace_back().encap = fib::Seg6Encap{.segments = {addr(segment)}};
    route(prefix, "", "r-b", change);
    EXPECT_TRUE(is_answered(udp_packet(source, kNowhere)));
    return answer().reason;
  };
  EXPECT_EQ(answered_by("2001:db8:47::/64", "2001:db8:47::9", "2001:db8:47::1"),
            DropReason::kTunnelRecursion);
  EXPECT_EQ(answered_by("2001:db8:48::/64", kNowhere, "2001:db8:48::1"), DropReason::kNoRoute);
  EXPECT_EQ(answered_by("2001:db8:49::/64", kRouterB, "2001:db8:49::1"),
            DropReason::kNotImplemented);
}

TEST_F(Icmp, OwnPacketsAreNotFragmented) {
  route("2001:db8:48::/64", kA, "r-a", {.mtu = 1000});
  EXPECT_TRUE(is_answered(udp_packet("2001:db8:48::1", kNowhere, 1200)));
  EXPECT_EQ(answer().reason, DropReason::kNotImplemented);
}

TEST_F(Icmp, ThirtyErrorsToOneHostAreSix) {
  const Arrival arrival{.bytes = udp_packet("2001:db8:ff::2", kNowhere)};
  EXPECT_EQ(run_many(arrival, 30).reason, DropReason::kNoRoute);
  EXPECT_EQ(generated.size(), 6U);
  EXPECT_EQ(held_back(DropReason::kIcmpRateLimited), 24U);
  EXPECT_EQ(host()["Icmp6OutRateLimitHost"], 24U);
  EXPECT_EQ(device("r-a").contains("Icmp6OutRateLimitHost"), false);
  EXPECT_EQ(host()["Ip6InNoRoutes"], 30U);
  pass(24);  // a route of /64 gives a host a message every 25 ms
  EXPECT_EQ(run_many(arrival, 2).reason, DropReason::kNoRoute);
  EXPECT_EQ(generated.size(), 0U);
  pass(1);
  run_many(arrival, 2);
  EXPECT_EQ(generated.size(), 1U);
  pass(10'000);
  run_many(arrival, 10);
  EXPECT_EQ(generated.size(), 6U);
}

TEST_F(Icmp, HostsAreLimitedEachForItself) {
  run_many({.bytes = udp_packet("2001:db8:ff::2", kNowhere)}, 30);
  run_many({.bytes = udp_packet("2001:db8:ff::3", kNowhere)}, 30);
  EXPECT_EQ(generated.size(), 6U);
}

TEST_F(Icmp, ThirtyPacketTooBigAreThirty) {
  must(lookup::LinkChange{.name = "r-b", .mtu = 1400});
  run_many({.bytes = udp_packet("2001:db8:ff::4", "2001:db8:c::1", 1440)}, 30);
  EXPECT_EQ(generated.size(), 30U);
  EXPECT_EQ(host()["Ip6InTooBigErrors"], 30U);
  EXPECT_EQ(host()["Icmp6OutPktTooBigs"], 30U);
}

TEST_F(Icmp, RouterAsAWholeIsLimited) {
  sysctl("net.ipv4.icmp_msgs_burst", "10");
  std::size_t answers = 0;
  for (int host_number = 0; host_number < 20; ++host_number) {
    const std::string sender = "2001:db8:ff::" + std::to_string(host_number + 100);
    run(udp_packet(sender, kNowhere));
    answers += generated.size();
  }
  EXPECT_EQ(answers, 10U);
  EXPECT_EQ(held_back(DropReason::kIcmpRateLimited), 1U);
  EXPECT_EQ(host().contains("Icmp6OutRateLimitHost"), false);
  pass(20);
  EXPECT_TRUE(is_answered(udp_packet("2001:db8:ff::9", kNowhere)));
}

TEST_F(Icmp, MessagesComeInTheOrderOfTheirPackets) {
  packet::Batch batch;
  std::vector<packet::Packet> made_packets;
  const Bytes no_route = udp_packet(kA, kNowhere);
  const Bytes bad_option = ipv6({.next_header = 0}, options(17, {0x9e, 4, 0, 0, 0, 0}), udp(1, 2));
  std::uint64_t record = 0;
  for (const Bytes& bytes : {no_route, bad_option, no_route}) {
    packet::Packet& packet = batch.add();
    ASSERT_TRUE(packet.assign(bytes));
    packet.meta.ingress = fib.links().find("r-a")->index;
    packet.meta.received_at = now;
    packet.meta.record = ++record;
  }
  forwarder.process(batch, made_packets);
  ASSERT_EQ(made_packets.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(made_packets[i].meta.record, i + 1);
}

class Redirect : public Lab {
 protected:
  Redirect() { route("2001:db8:d::/64", "fe80::a2", "r-a"); }

  static Bytes redirect(std::string_view target, std::string_view destination, const Bytes& options,
                        std::string_view to) {
    const Bytes body = concat(addr(target).bytes, addr(destination).bytes, options);
    return ipv6({.next_header = 58, .source = kLinkLocalA, .destination = to, .hop_limit = 255},
                icmpv6(137, 0, 0, body, kLinkLocalA, to));
  }
  static Bytes quote_option(const Bytes& packet) {
    Bytes option = concat(zeros(8), packet);
    option.resize(option.size() / 8 * 8);
    option[0] = 4;
    option[1] = static_cast<std::uint8_t>(option.size() / 8);
    return option;
  }
  const Bytes link_layer_option{2, 1, 2, 0, 0, 0, 1, 2};
};

TEST_F(Redirect, ToABetterRouter) {
  const Bytes packet = udp_packet(kA, "2001:db8:d::1");
  const Outcome outcome = run(packet);
  EXPECT_EQ(outcome.verdict, Verdict::kTransmit);
  EXPECT_EQ(outcome.egress, "r-a");
  EXPECT_EQ(outcome.bytes, after_hops(packet));
  ASSERT_EQ(generated.size(), 1U);
  EXPECT_EQ(generated[0].bytes, redirect("fe80::a2", "2001:db8:d::1",
                                         concat(link_layer_option, quote_option(packet)), kA));
  EXPECT_EQ(host(), received(56) + sent(56) + (Counts{{"Ip6OutForwDatagrams", 1}}) +
                        made("Icmp6OutRedirects", 152));
}

TEST_F(Redirect, ToANeighborItselfWithoutItsAddress) {
  const Bytes packet = echo_request("fe80::a2", "fe80::ff:fe00:201");
  run(packet);
  ASSERT_EQ(generated.size(), 1U);
  EXPECT_EQ(generated[0].bytes,
            redirect("fe80::ff:fe00:201", "fe80::ff:fe00:201", quote_option(packet), "fe80::a2"));
}

TEST_F(Redirect, QuoteIsCutToMultiplesOfEight) {
  const Bytes odd = udp_packet(kA, "2001:db8:d::1", 13);
  run(odd);
  EXPECT_EQ(generated.at(0).bytes, redirect("fe80::a2", "2001:db8:d::1",
                                            concat(link_layer_option, quote_option(odd)), kA));
  const Bytes large = udp_packet(kA, "2001:db8:d::2", 1400);
  run(large);
  EXPECT_EQ(generated.at(0).bytes.size(), 1280U);
}

TEST_F(Redirect, NotThroughAGlobalGateway) {
  run(udp_packet(kA, "2001:db8:ff::9"));
  EXPECT_TRUE(generated.empty());
}

TEST_F(Redirect, NotToWhoIsNoNeighbor) {
  run(udp_packet("2001:db8:ff::1", "2001:db8:d::1"));
  EXPECT_TRUE(generated.empty());
}

TEST_F(Redirect, SixAtOnceThenOneASecond) {
  const Arrival arrival{.bytes = udp_packet(kA, "2001:db8:d::1")};
  EXPECT_EQ(run_many(arrival, 30).verdict, Verdict::kTransmit);
  EXPECT_EQ(generated.size(), 6U);
  // Another destination does not help: the sender's own bucket is empty.
  run_many({.bytes = udp_packet(kA, "2001:db8:d::2")}, 5);
  EXPECT_EQ(generated.size(), 0U);
  now.value += kNsPerSecond;
  run_many(arrival, 5);
  EXPECT_EQ(generated.size(), 1U);
}

// Errors and redirects draw on one bucket per host.
TEST_F(Redirect, ErrorsLeaveNothingForRedirects) {
  run_many({.bytes = udp_packet(kA, kNowhere)}, 1);
  EXPECT_EQ(generated.size(), 1U);
  run(udp_packet(kA, "2001:db8:d::1"));
  EXPECT_TRUE(generated.empty());
}

class Learning : public Icmp {
 protected:
  static constexpr std::string_view kFar = "2001:db8:ff::1";
  static Bytes reply_to_far() {
    return ipv6({.next_header = 58, .source = kRouterA, .destination = kFar},
                icmpv6(129, 0, 1, zeros(16), kRouterA, kFar));
  }
  static Bytes too_big(const Bytes& quote) {
    return ipv6({.next_header = 58, .destination = kRouterA},
                icmpv6(2, 0, 1300, quote, kA, kRouterA));
  }
  struct Redirect {
    std::string_view source = "fe80::a2";
    std::uint8_t code = 0;
    std::uint8_t hop_limit = 255;
    Bytes options{};
    std::size_t cut = 0;  // bytes off the end
  };
  Bytes redirect(const Redirect& fields) {
    const auto target = addr("fe80::a3").bytes;
    const auto about = addr(kFar).bytes;
    Bytes body = concat(Bytes(target.begin(), target.end()), Bytes(about.begin(), about.end()),
                        fields.options);
    body.resize(body.size() - fields.cut);
    return ipv6({.next_header = 58,
                 .source = fields.source,
                 .destination = kRouterA,
                 .hop_limit = fields.hop_limit},
                icmpv6(137, fields.code, 0, body, fields.source, kRouterA));
  }
  /// A redirected header option around a packet, which must be a multiple of 8 octets.
  static Bytes redirected_header(const Bytes& quote) {
    const auto units = static_cast<std::uint8_t>(quote.size() / 8 + 1);
    return concat(Bytes{4, units, 0, 0, 0, 0, 0, 0}, quote);
  }
  /// What one packet teaches.
  std::vector<Learned> taught_by(const Bytes& packet) {
    forwarder.clear_learned();
    EXPECT_EQ(run(packet).verdict, Verdict::kDeliver);
    return {forwarder.learned().begin(), forwarder.learned().end()};
  }
};

TEST_F(Learning, APacketTooBigTeachesThePathMtuOfTheQuotedFlow) {
  EXPECT_TRUE(may_teach(too_big(reply_to_far())));
  EXPECT_FALSE(may_teach(echo_request(kA, kRouterA)));
  EXPECT_FALSE(may_teach({}));
  const auto learned = taught_by(too_big(reply_to_far()));
  ASSERT_EQ(learned.size(), 1U);
  EXPECT_EQ(learned[0].when, now);
  EXPECT_EQ(learned[0].change.verb, lookup::ExceptionVerb::kPathMtu);
  EXPECT_EQ(learned[0].change.mtu, 1300U);
  EXPECT_EQ(learned[0].change.flow.source, addr(kRouterA));
  EXPECT_EQ(learned[0].change.flow.destination, addr(kFar));
  EXPECT_TRUE(taught_by(too_big(udp_packet(kRouterA, kFar))).empty());
}

TEST_F(Learning, OnlyAHostLearnsFromARedirect) {
  EXPECT_TRUE(taught_by(redirect({})).empty());
  sysctl("net.ipv6.conf.r-a.forwarding", "0");
  const auto learned = taught_by(redirect({}));
  ASSERT_EQ(learned.size(), 1U);
  EXPECT_EQ(learned[0].change.verb, lookup::ExceptionVerb::kRedirect);
  EXPECT_EQ(learned[0].change.router, addr("fe80::a2"));
  EXPECT_EQ(learned[0].change.gateway, addr("fe80::a3"));
  EXPECT_EQ(learned[0].change.flow.destination, addr(kFar));
  EXPECT_EQ(learned[0].change.flow.oif, fib.links().find("r-a")->index);
  sysctl("net.ipv6.conf.r-a.accept_redirects", "0");
  EXPECT_TRUE(taught_by(redirect({})).empty());
}

TEST_F(Learning, ARedirectMustBeWhatTheRfcAsksFor) {
  sysctl("net.ipv6.conf.r-a.forwarding", "0");
  EXPECT_TRUE(taught_by(redirect({.source = kA})).empty());
  EXPECT_TRUE(taught_by(redirect({.code = 1})).empty());
  EXPECT_TRUE(taught_by(redirect({.hop_limit = 254})).empty());
  EXPECT_TRUE(taught_by(redirect({.cut = 1})).empty());
  EXPECT_TRUE(taught_by(redirect({.options = {1, 0, 0, 0, 0, 0, 0, 0}})).empty());
  EXPECT_TRUE(taught_by(redirect({.options = {1, 2, 0, 0, 0, 0, 0, 0}})).empty());
  EXPECT_TRUE(taught_by(redirect({.options = {1}})).empty());
  EXPECT_EQ(taught_by(redirect({.options = {1, 1, 0, 0, 0, 0, 0, 0}})).size(), 1U);
  EXPECT_EQ(taught_by(redirect({.options = redirected_header(reply_to_far())})).size(), 1U);
  EXPECT_TRUE(
      taught_by(redirect({.options = redirected_header(udp_packet(kRouterA, kFar))})).empty());
  EXPECT_TRUE(
      taught_by(redirect({.options = redirected_header(echo_request(kRouterA, kB))})).empty());
}

TEST_F(Learning, WhatIsNotFetchedIsLostBeyondABatch) {
  run_many({.bytes = too_big(reply_to_far())}, kLearnedMax + 3);
  EXPECT_EQ(forwarder.learned().size(), kLearnedMax);
  EXPECT_EQ(forwarder.learned_lost(), 3U);
}

}  // namespace
}  // namespace sidestep::forward::test
