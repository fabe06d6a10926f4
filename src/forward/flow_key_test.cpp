// SPDX-License-Identifier: Apache-2.0
#include "forward/flow_key.hpp"

#include <set>

#include <gtest/gtest.h>

#include "forward/lab_for_test.hpp"

namespace sidestep::forward::test {
namespace {

class FlowKey : public Lab {
 protected:
  std::uint32_t hash(const Bytes& packet) {
    const rcu::ReadSection section;
    return multipath_hash_of(pipeline, packet);
  }
  std::uint32_t flow_hash(std::string_view source, std::string_view destination,
                          std::uint8_t protocol, std::uint32_t flow_label = 0) {
    const rcu::ReadSection section;
    rules::Flow flow;
    flow.source = addr(source);
    flow.destination = addr(destination);
    flow.protocol = protocol;
    flow.flow_label = flow_label;
    return fib.multipath_hash(flow);
  }
  static Bytes error_quoting(const Bytes& quote, std::uint8_t type = 2) {
    return ipv6({.next_header = 58, .source = kA, .destination = kB},
                icmpv6(type, 0, 0, quote, kA, kB));
  }
  const Context context{fib, neighbors, srv6_settings};
  Pipeline pipeline{context};
};

TEST_F(FlowKey, PlainPacketsLeaveTheHashToTheLookup) {
  EXPECT_EQ(hash(udp_packet(kA, kB)), 0U);
  EXPECT_EQ(hash(echo_request(kA, kB)), 0U);
}

TEST_F(FlowKey, ErrorsAreHashedAsThePacketTheyQuote) {
  const Bytes quote =
      ipv6({.source = kB, .destination = "2001:db8:ff::1", .flow_label = 0x777}, udp(1, 2));
  EXPECT_EQ(hash(error_quoting(quote)), flow_hash(kB, "2001:db8:ff::1", 17, 0x777));
  EXPECT_EQ(hash(error_quoting(quote, 128)), 0U);                                // no error
  EXPECT_EQ(hash(error_quoting(Bytes(quote.begin(), quote.begin() + 39))), 0U);  // no quote
}

TEST_F(FlowKey, OwnErrorsAreHashedAsThePacketTheyAreAbout) {
  const rcu::ReadSection section;
  EXPECT_EQ(quoted_hash_of(pipeline, udp_packet(kA, kB)), flow_hash(kA, kB, 17));
}

TEST_F(FlowKey, PolicyOneSpreadsByPortsButNotFragments) {
  sysctl("net.ipv6.fib_multipath_hash_policy", "1");
  std::set<std::uint32_t> whole;
  std::set<std::uint32_t> fragments;
  for (std::uint16_t port = 1; port <= 50; ++port) {
    whole.insert(hash(ipv6({.flow_label = port}, udp(port, 2000))));
    fragments.insert(hash(ipv6({.next_header = 44, .flow_label = port},
                               fragment(17, 0, port % 2 == 0), udp(port, 2000))));
  }
  EXPECT_EQ(whole.size(), 50U);
  EXPECT_EQ(fragments.size(), 1U);
  // Ports behind an SRH are seen.
  const Bytes path = srh({.segments_left = 1, .segments = {kB, kSid}});
  EXPECT_NE(hash(ipv6({.next_header = 43}, path, udp(1, 2))),
            hash(ipv6({.next_header = 43}, path, udp(3, 2))));
}

TEST_F(FlowKey, PolicyTwoLooksInside) {
  sysctl("net.ipv6.fib_multipath_hash_policy", "2");
  const auto around = [](const Bytes& inner) {
    return ipv6({.next_header = 43},
                srh({.next_header = 41, .segments_left = 1, .segments = {kB, kSid}}), inner);
  };
  EXPECT_EQ(hash(around(udp_packet(kB, kSid))), flow_hash(kB, kSid, 17));
  EXPECT_EQ(hash(udp_packet(kA, kB)), flow_hash(kA, kB, 17));
}

/// An IPv4 header with UDP ports behind it.
Bytes ipv4_udp(std::uint8_t last_of_source, std::uint16_t source_port, std::uint16_t fragment = 0) {
  const auto high = [](std::uint16_t value) { return static_cast<std::uint8_t>(value >> 8); };
  const auto low = [](std::uint16_t value) { return static_cast<std::uint8_t>(value); };
  return {0x45,
          0,
          0,
          28,
          0,
          0,
          high(fragment),
          low(fragment),
          64,
          17,
          0,
          0,
          10,
          0,
          0,
          last_of_source,
          10,
          0,
          0,
          9,
          high(source_port),
          low(source_port),
          0,
          53,
          0,
          8,
          0,
          0};
}

TEST_F(FlowKey, PolicyTwoTakesTheAddressesOfAnInnerIpv4Packet) {
  sysctl("net.ipv6.fib_multipath_hash_policy", "2");
  const auto around = [](const Bytes& inner, std::uint32_t label = 0) {
    return ipv6({.next_header = 4, .flow_label = label}, inner);
  };
  EXPECT_NE(hash(around(ipv4_udp(1, 7))), hash(around(ipv4_udp(2, 7))));
  EXPECT_EQ(hash(around(ipv4_udp(1, 7))), hash(around(ipv4_udp(1, 8))));     // no ports
  EXPECT_EQ(hash(around(ipv4_udp(1, 7))), hash(around(ipv4_udp(1, 7), 5)));  // nothing of the outer
}

TEST_F(FlowKey, PolicyThreeTakesTheFieldsItIsTold) {
  sysctl("net.ipv6.fib_multipath_hash_policy", "3");
  const auto v6 = [](std::uint16_t port, std::uint32_t label = 0) {
    return ipv6({.next_header = 41, .flow_label = label}, ipv6({.source = kB}, udp(port, 2000)));
  };
  const auto v4 = [](std::uint16_t port, std::uint16_t fragment = 0) {
    return ipv6({.next_header = 4}, ipv4_udp(1, port, fragment));
  };
  sysctl("net.ipv6.fib_multipath_hash_fields", "0x400");  // inner source port
  EXPECT_NE(hash(v6(1)), hash(v6(2)));
  EXPECT_EQ(hash(v6(1)), hash(v6(1, 9)));
  EXPECT_NE(hash(v4(1)), hash(v4(2)));
  EXPECT_EQ(hash(v4(1, 0x2000)), hash(v4(2, 0x2000)));  // a fragment has none
  sysctl("net.ipv6.fib_multipath_hash_fields", "0x8");  // outer flow label
  EXPECT_EQ(hash(v6(1)), hash(v6(2)));
  EXPECT_NE(hash(v6(1)), hash(v6(1, 9)));
}

TEST_F(FlowKey, ProtocolIsTheFirstNextHeaderUnlessARuleAsks) {
  packet::Packet packet;
  ASSERT_TRUE(packet.assign(ipv6({.next_header = 60}, options(17), udp(7, 8))));
  Transit transit{.packet = &packet};
  const auto key = [&](KeyDepth depth) {
    const rcu::ReadSection section;
    return flow_of(pipeline, transit, depth);
  };
  EXPECT_EQ(key(KeyDepth::kFull).protocol, 60);
  EXPECT_EQ(key(KeyDepth::kFull).destination_port, 0);
  lookup::RuleChange rule;
  rule.rule.preference = 10;
  rule.preference_given = true;
  rule.rule.ipproto = 6;
  rule.rule.table = TableId{100};
  rule.table_given = true;
  must(rule);
  EXPECT_EQ(key(KeyDepth::kFull).protocol, 17);
  EXPECT_EQ(key(KeyDepth::kFull).source_port, 7);
  EXPECT_EQ(key(KeyDepth::kFull).destination_port, 8);
  EXPECT_EQ(key(KeyDepth::kReduced).protocol, 60);
  EXPECT_EQ(key(KeyDepth::kReduced).destination_port, 0);
}

}  // namespace
}  // namespace sidestep::forward::test
