// SPDX-License-Identifier: Apache-2.0
// What holds for every packet, tried with packets that are nearly right.
#include <gtest/gtest.h>

#include <sidestep/net/checksum.hpp>

#include "forward/lab_for_test.hpp"
#include "net/mutation_for_test.hpp"

namespace sidestep::forward::test {
namespace {

using packet::Verdict;

class Property : public Lab, public ::testing::WithParamInterface<std::uint32_t> {
 protected:
  Property() {
    enable_segment_routing();
    sysctl("net.ipv6.conf.all.proxy_ndp", "1");
    special_route("2001:db8:21::/64", fib::RouteType::kProhibit);
    special_route("2001:db8:22::/64", fib::RouteType::kBlackhole);
    route("2001:db8:d::/64", "fe80::a2", "r-a");
    route("2001:db8:12::/64", kB, "r-b", {.mtu = 60});
    route("2001:db8:9::/64", kB, "r-b");
    route("fc00::/64", "", "lo", local());
  }
  static lookup::RouteChange local() {
    lookup::RouteChange change;
    change.type = fib::RouteType::kLocal;
    return change;
  }

  static void put_address(Bytes& packet, std::size_t offset, std::string_view text) {
    if (packet.size() < net::kIpv6HeaderSize) return;
    const net::Ipv6Address address = addr(text);
    std::copy(address.bytes.begin(), address.bytes.end(),
              packet.begin() + static_cast<std::ptrdiff_t>(offset));
  }
  /// A damaged packet from somewhere to somewhere that means something to the router.
  Arrival arrival(net::test::Mutator& mutator) {
    static constexpr std::string_view kDestinations[] = {
        kB,        kRouterA,         kRouterB,         kSid,     kSidPsp,    "fc00::1",
        "ff02::1", "2001:db8:a::",   "2001:db8:21::1", kNowhere, "fe80::a2", "2001:db8:d::1",
        "ff02::9", "2001:db8:12::1", "2001:db8:22::1", "::",     kA,         kLinkLocalA};
    static constexpr std::string_view kSources[] = {kA,
                                                    kA,
                                                    "2001:db8:ff::1",
                                                    "fe80::a2",
                                                    kRouterA,
                                                    "::",
                                                    "2001:db8:b::",
                                                    "ff02::1",
                                                    "2001:db8:eeee::1"};
    Arrival arrival;
    arrival.bytes = mutator.next();
    put_address(arrival.bytes, net::kIpv6DestinationOffset,
                kDestinations[mutator.below(std::size(kDestinations))]);
    put_address(arrival.bytes, net::kIpv6SourceOffset,
                kSources[mutator.below(std::size(kSources))]);
    if (mutator.below(8) == 0) arrival.l2_class = packet::L2Class::kMulticast;
    if (mutator.below(8) == 0) arrival.bytes.resize(arrival.bytes.size() + mutator.below(9));
    now.value += mutator.below(50) * 1'000'000;
    return arrival;
  }

  void check_message(const Outcome& message) {
    ASSERT_GE(message.bytes.size(), net::kIpv6HeaderSize + net::kIcmpv6HeaderSize);
    const auto header = net::Ipv6Header::check(message.bytes);
    EXPECT_EQ(header->payload_length() + net::kIpv6HeaderSize, message.bytes.size());
    const auto upper = std::span(message.bytes).subspan(net::kIpv6HeaderSize);
    EXPECT_EQ(net::upper_layer_checksum(header->source(), header->destination(), 58, upper), 0);
    EXPECT_FALSE(header->source().is_multicast());
    EXPECT_FALSE(header->destination().is_multicast());
    EXPECT_FALSE(header->destination().is_unspecified());
    EXPECT_NE(message.verdict, Verdict::kPending);
    if (upper[0] < net::kIcmpv6InformationalFirst) {
      EXPECT_LE(message.bytes.size(), net::kIpv6MtuMin);
    }
  }
  void check_counters() {
    const Counts all = host();
    for (const char* name : {"r-a", "r-b", "lo"}) {
      for (const auto& [counter, count] : device(name)) {
        EXPECT_LE(count, all.contains(counter) ? all.at(counter) : 0) << counter;
      }
    }
    EXPECT_GE(all.contains("Ip6InReceives") ? all.at("Ip6InReceives") : 0, 1U);
  }
};

TEST_P(Property, EveryPacketLeavesOrIsCountedAndDropsAreAsReceived) {
  net::test::Mutator mutator(GetParam());
  std::map<Verdict, std::uint64_t> outcomes;
  constexpr int kPackets = 3000;
  for (int i = 0; i < kPackets && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    const Arrival packet = arrival(mutator);
    const Outcome outcome = run(packet);
    ++outcomes[outcome.verdict];
    if (outcome.verdict == Verdict::kDrop) {
      EXPECT_EQ(outcome.bytes, packet.bytes);
      EXPECT_NE(outcome.reason, packet::DropReason::kNone);
    }
    EXPECT_LE(generated.size(), 2U);
    for (const Outcome& message : generated) check_message(message);
    check_counters();
  }
  std::uint64_t dropped = 0;
  for (const auto reason : packet::all_drop_reasons())
    dropped += forwarder.counters().drops(reason);
  EXPECT_EQ(dropped, outcomes[Verdict::kDrop]);
  EXPECT_EQ(outcomes[Verdict::kPending], 0U);
  for (const Verdict verdict : {Verdict::kTransmit, Verdict::kDeliver, Verdict::kDrop}) {
    EXPECT_GT(outcomes[verdict], 10U);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Property, ::testing::Values(1U, 2U, 3U, 4U));

}  // namespace
}  // namespace sidestep::forward::test
