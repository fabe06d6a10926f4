// SPDX-License-Identifier: Apache-2.0
#include "golden/lab.hpp"

namespace sidestep::golden {

std::string lab_config(std::string_view more) {
  return "sysctl -w net.ipv6.conf.all.forwarding=1\n"
         "sysctl -w net.ipv6.icmp.ratelimit=0\n"
         "sysctl -w net.ipv6.auto_flowlabels=0\n"
         "link add name r-a address 02:00:00:00:00:0a mtu 1500 type dummy\n"
         "link add name r-b address 02:00:00:00:00:0b mtu 1500 type dummy\n"
         "link set r-a up\n"
         "link set r-b up\n"
         "address add 2001:db8:a::1/64 dev r-a\n"
         "address add 2001:db8:b::1/64 dev r-b\n"
         "neigh add 2001:db8:a::2 lladdr 02:00:00:00:0a:02 dev r-a nud permanent\n"
         "neigh add 2001:db8:b::2 lladdr 02:00:00:00:0b:02 dev r-b nud permanent\n" +
         std::string(more);
}

GoldenFrame from_a(const Bytes& packet) {
  return {.device = "r-a", .frame = frame(kMacA, kMacHostA, packet)};
}
GoldenFrame to_a(const Bytes& packet) {
  return {.device = "r-a", .frame = frame(kMacHostA, kMacA, packet)};
}
GoldenFrame to_b(const Bytes& packet) {
  return {.device = "r-b", .frame = frame(kMacHostB, kMacB, packet)};
}

Bytes a_to_b(std::size_t size, std::uint8_t hop_limit) {
  return ipv6(kA, kB, {.next_header = 17, .hop_limit = hop_limit},
              udp(kA, kB, 1000, 2000, filler(size)));
}

Bytes a_to(std::string_view destination, std::uint8_t hop_limit) {
  return ipv6(kA, destination, {.next_header = 17, .hop_limit = hop_limit},
              udp(kA, destination, 1000, 2000, filler(16)));
}

Step forwards_as(std::string words, const Bytes& packet, const Bytes& sent) {
  Step step;
  step.words = std::move(words);
  step.in = from_a(packet);
  step.out = {to_b(sent)};
  step.counters = {{"Ip6InReceives", 1},       {"Ip6InReceives@r-a", 1},
                   {"Ip6OutForwDatagrams", 1}, {"Ip6OutForwDatagrams@r-b", 1},
                   {"Ip6OutTransmits@r-b", 1}, {"Icmp6OutMsgs", 0}};
  step.verdict = "forwarded";
  return step;
}

Step forwards(std::string words, const Bytes& packet) {
  return forwards_as(std::move(words), packet,
                     with_hop_limit(packet, static_cast<std::uint8_t>(packet[7] - 1)));
}

Step drops(std::string words, const Bytes& packet, std::string verdict, Counters counters) {
  Step step;
  step.words = std::move(words);
  step.in = from_a(packet);
  step.counters = {{"Ip6InReceives", 1}, {"Icmp6OutMsgs", 0}};
  step.counters.insert(step.counters.end(), counters.begin(), counters.end());
  step.verdict = std::move(verdict);
  return step;
}

Step refuses(std::string words, const Bytes& packet, ErrorFields error, std::string verdict,
             Counters counters, const Bytes& quoted) {
  Step step = drops(std::move(words), packet, std::move(verdict), {});
  step.out = {to_a(icmp_error(kRouterA, kA, error.type, error.code, error.parameter, quoted))};
  step.counters = {{"Ip6InReceives", 1}, {"Icmp6OutMsgs", 1}, {"Ip6OutRequests", 1}};
  step.counters.insert(step.counters.end(), counters.begin(), counters.end());
  return step;
}

Step refuses(std::string words, const Bytes& packet, ErrorFields error, std::string verdict,
             Counters counters) {
  return refuses(std::move(words), packet, error, std::move(verdict), std::move(counters), packet);
}

Step answers(std::string words, const Bytes& request, const Bytes& reply) {
  Step step;
  step.words = std::move(words);
  step.in = from_a(request);
  step.out = {to_a(reply)};
  step.counters = {{"Ip6InReceives", 1}, {"Ip6InDelivers", 1},       {"Icmp6InMsgs", 1},
                   {"Icmp6InEchos", 1},  {"Icmp6OutEchoReplies", 1}, {"Ip6OutRequests", 1}};
  step.verdict = "answered";
  return step;
}

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (const auto make :
       {validation_cases, forwarding_cases, mtu_cases, icmp_cases, extension_header_cases,
        rule_cases, srv6_cases, endpoint_cases, headend_cases, hmac_cases}) {
    for (auto& one : make()) all.push_back(std::move(one));
  }
  return all;
}

}  // namespace sidestep::golden
