// SPDX-License-Identifier: Apache-2.0
#include "forward/lab_for_test.hpp"

#include <algorithm>

namespace sidestep::forward::test {
namespace {

constexpr const char* kMacRouterA = "02:00:00:00:01:01";
constexpr const char* kMacRouterB = "02:00:00:00:02:01";
constexpr const char* kMacA = "02:00:00:00:01:02";
constexpr const char* kMacB = "02:00:00:00:02:02";

lookup::LinkChange link(const char* name, const char* mac) {
  return {.name = name, .create = true, .mac = net::MacAddress::parse(mac), .up = true};
}

Counts named(const packet::SnmpSet& set, const packet::SnmpSet* before) {
  Counts counts;
  for (std::size_t i = 0; i < set.size(); ++i) {
    const std::uint64_t moved = set[i] - (before != nullptr ? (*before)[i] : 0);
    if (moved != 0) counts[std::string(packet::kSnmpNames[i])] = moved;
  }
  return counts;
}

void clear_flow_label(Bytes& packet) {
  auto header = net::MutableIpv6Header::check(packet);
  if (header) header->set_version_class_label(header->traffic_class(), 0);
}

}  // namespace

Counts operator+(const Counts& left, const Counts& right) {
  Counts sum = left;
  for (const auto& [name, count] : right) sum[name] += count;
  return sum;
}

Counts received(std::size_t size) {
  return {{"Ip6InReceives", 1}, {"Ip6InOctets", size}, {"Ip6InNoECTPkts", 1}};
}

Counts sent(std::size_t size) { return {{"Ip6OutTransmits", 1}, {"Ip6OutOctets", size}}; }

Counts made(const char* icmp_counter, std::size_t size) {
  return sent(size) + Counts{{"Ip6OutRequests", 1}, {"Icmp6OutMsgs", 1}, {icmp_counter, 1}};
}

Lab::Lab() {
  sysctl("net.ipv6.conf.all.forwarding", "1");
  sysctl("net.ipv6.icmp.ratelimit", "100");
  must(link("r-a", kMacRouterA));
  must(link("r-b", kMacRouterB));
  address(kRouterA, 64, "r-a");
  address(kRouterB, 64, "r-b");
  neighbor("r-a", kA, kMacA);
  neighbor("r-a", "fe80::a2", kMacA);
  neighbor("r-b", kB, kMacB);
  neighbor("r-b", "fe80::b2", kMacB);
  route("2001:db8:ff::/64", kA, "r-a");
  route("2001:db8:c::/64", kB, "r-b");
}

void Lab::must(const lookup::Change& change) {
  const auto result = fib.apply(change, now);
  if (!result) FAIL() << result.error().message;
}

void Lab::sysctl(const std::string& key, const std::string& value) {
  must(lookup::SysctlChange{key, value});
}

void Lab::address(std::string_view text, std::uint8_t length, const char* device) {
  lookup::AddressChange change;
  change.device = device;
  change.address.address = addr(text);
  change.address.prefix_length = length;
  must(change);
}

void Lab::route(std::string_view destination, std::string_view gateway, const char* device,
                lookup::RouteChange change) {
  change.destination = net::Prefix::parse(destination).value();
  if (change.hops.empty()) change.hops.emplace_back();
  change.hops[0].device = device;
  if (!gateway.empty()) change.hops[0].gateway = addr(gateway);
  must(change);
}

void Lab::special_route(std::string_view destination, fib::RouteType type) {
  lookup::RouteChange change;
  change.destination = net::Prefix::parse(destination).value();
  change.type = type;
  must(change);
}

void Lab::neighbor(const char* device, std::string_view address, const char* mac,
                   neighbor::State state) {
  neighbor::Neighbor neighbor;
  neighbor.device = fib.links().find(device)->index;
  neighbor.address = addr(address);
  neighbor.has_mac = mac != nullptr;
  if (neighbor.has_mac) neighbor.mac = net::MacAddress::parse(mac).value();
  neighbor.state = state;
  ASSERT_TRUE(neighbors.insert(neighbor, true).has_value());
}

void Lab::enable_segment_routing() {
  sysctl("net.ipv6.conf.all.seg6_enabled", "1");
  sysctl("net.ipv6.conf.r-a.seg6_enabled", "1");
  fib::Seg6LocalEncap end;
  lookup::RouteChange change;
  change.hops.emplace_back().encap = end;
  route(std::string(kSid) + "/128", "", "r-b", change);
  end.flavor_psp = true;
  change.hops[0].encap = end;
  route(std::string(kSidPsp) + "/128", "", "r-b", change);
}

Outcome Lab::outcome_of(const packet::Packet& packet) const {
  const auto bytes = packet.bytes();
  const packet::PacketMeta& meta = packet.meta;
  return {.verdict = meta.verdict,
          .reason = meta.drop_reason,
          .egress = meta.egress ? fib.links().name(meta.egress) : "",
          .bytes = Bytes(bytes.begin(), bytes.end()),
          .source_mac = meta.source_mac,
          .destination_mac = meta.destination_mac,
          .record = meta.record};
}

Outcome Lab::run(const Arrival& arrival) { return run_many(arrival, 1); }

Outcome Lab::run_many(const Arrival& arrival, std::size_t count) {
  before_ = forwarder.counters();
  for (const auto reason : packet::all_drop_reasons()) {
    held_back_before_[reason] = forwarder.generated_drops(reason);
  }
  packet::Batch batch;
  std::vector<packet::Packet> made_packets;
  Outcome last;
  for (std::size_t done = 0; done < count; done += batch.size()) {
    batch.clear();
    while (!batch.full() && done + batch.size() < count) {
      packet::Packet& packet = batch.add();
      EXPECT_TRUE(packet.assign(arrival.bytes));
      const fib::Link* const ingress = fib.links().find(arrival.device);
      packet.meta.ingress = ingress != nullptr ? ingress->index : IfIndex{99};
      packet.meta.received_at = now;
      packet.meta.l2_class = arrival.l2_class;
      packet.meta.mark = arrival.mark;
      packet.meta.record = 7;
    }
    forwarder.process(batch, made_packets);
    for (const packet::Packet& packet : batch)
      EXPECT_NE(packet.meta.verdict, packet::Verdict::kPending);
    last = outcome_of(batch[batch.size() - 1]);
  }
  generated.clear();
  for (const packet::Packet& packet : made_packets) generated.push_back(outcome_of(packet));
  return last;
}

Counts Lab::host() const { return named(forwarder.counters().host(), &before_.host()); }

Counts Lab::device(const char* name) const {
  const IfIndex index = fib.links().find(name)->index;
  const auto& now_sets = forwarder.counters().devices();
  const auto& before_sets = before_.devices();
  const auto found = now_sets.find(index);
  if (found == now_sets.end()) return {};
  const auto before = before_sets.find(index);
  return named(found->second, before == before_sets.end() ? nullptr : &before->second);
}

std::uint64_t Lab::held_back(packet::DropReason reason) const {
  return forwarder.generated_drops(reason) - held_back_before_.at(reason);
}

Outcome Lab::answer() const {
  EXPECT_EQ(generated.size(), 1U);
  if (generated.empty()) return {};
  Outcome answer = generated.front();
  clear_flow_label(answer.bytes);
  return answer;
}

Bytes Lab::error_about(const Bytes& quote, std::uint8_t type, std::uint8_t code,
                       std::uint32_t parameter, std::string_view source,
                       std::string_view destination) {
  const Bytes message = icmpv6(type, code, parameter, quote, source, destination);
  return ipv6({.next_header = net::kNextHeaderIcmpv6, .source = source, .destination = destination},
              message);
}

Bytes after_hops(Bytes packet, std::uint8_t hops) {
  auto header = net::MutableIpv6Header::check(packet).value();
  header.set_hop_limit(static_cast<std::uint8_t>(header.hop_limit() - hops));
  return packet;
}

Bytes udp_packet(std::string_view source, std::string_view destination, std::size_t data_size,
                 std::uint8_t hop_limit) {
  return ipv6({.source = source, .destination = destination, .hop_limit = hop_limit},
              udp(1000, 2000, zeros(data_size)));
}

Bytes echo_request(std::string_view source, std::string_view destination,
                   std::uint8_t traffic_class) {
  const Bytes data{'h', 'e', 'l', 'l', 'o', '1', '2', '3'};
  return ipv6({.next_header = net::kNextHeaderIcmpv6,
               .source = source,
               .destination = destination,
               .traffic_class = traffic_class},
              icmpv6(net::kIcmpv6EchoRequest, 0, 0x12340001, data, source, destination));
}

}  // namespace sidestep::forward::test
