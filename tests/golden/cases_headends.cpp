// SPDX-License-Identifier: Apache-2.0
// Headends: packets that a route puts onto a path, and HMACs on both ends.
#include "golden/lab.hpp"

namespace sidestep::golden {
namespace {

constexpr std::string_view kFirst =
    "2001:db8:b::9";  ///< a neighbor on r-b, with B's Ethernet address
constexpr std::string_view kInside = "2001:db8:47::1";
constexpr std::string_view kNowhere = "2001:db9::1";
constexpr std::string_view kNeighbor =
    "neigh add 2001:db8:b::9 lladdr 02:00:00:00:0b:02 dev r-b nud permanent\n";

std::string headend(std::string_view mode, std::string_view prefix = "2001:db8:47::/64") {
  return std::string(kNeighbor) + "route add " + std::string(prefix) + " encap seg6 mode " +
         std::string(mode) + " dev r-b\n";
}

/// A packet that is to be encapsulated.
Bytes entering(std::uint8_t hop_limit = 33, std::string_view source = kA) {
  return ipv6(
      source, kInside,
      {.next_header = 17, .hop_limit = hop_limit, .traffic_class = 0x2b, .flow_label = 0x12345},
      udp(source, kInside, 1000, 2000, filler(16)));
}
/// The outer header around it, as it leaves.
Bytes around(std::uint8_t next_header, std::string_view destination, const Bytes& payload,
             std::string_view source = kRouterB, std::uint32_t flow_label = 0x12345) {
  return ipv6(source, destination,
              {.next_header = next_header,
               .hop_limit = 32,
               .traffic_class = 0x2b,
               .flow_label = flow_label},
              payload);
}

Case encap() {
  const Bytes one =
      ipv6(kA, "2001:db8:48::1", {.next_header = 17}, udp(kA, "2001:db8:48::1", 1, 2, filler(4)));
  const Bytes link_local = entering(33, "fe80::77");
  return {
      "headend-encap",
      "A route that encapsulates: the outer header has the traffic class, flow label and hop limit "
      "of the packet, which stays as it is.",
      lab_config(headend("encap segs 2001:db8:b::9,2001:db8:b::2") +
                 "route add 2001:db8:48::/64 encap seg6 mode encap segs 2001:db8:b::2 dev r-b\n"),
      {forwards_as(
           "Two segments.", entering(),
           around(43, kFirst, join({srh(41, {.segments_left = 1}, {kB, kFirst}), entering()}))),
       forwards_as("One segment has its header too.", one,
                   ipv6(kRouterB, kB, {.next_header = 43, .hop_limit = 63},
                        join({srh(41, {.segments_left = 0}, {kB}), one}))),
       forwards_as(
           "A link-local source goes through.", link_local,
           around(43, kFirst, join({srh(41, {.segments_left = 1}, {kB, kFirst}), link_local})))}};
}

Case encap_red() {
  const Bytes one =
      ipv6(kA, "2001:db8:48::1", {.next_header = 17}, udp(kA, "2001:db8:48::1", 1, 2, filler(4)));
  return {"headend-encap-red",
          "A route that encapsulates and leaves the first segment out of the list.",
          lab_config(
              headend("encap.red segs 2001:db8:b::9,2001:db8:b::2") +
              "route add 2001:db8:48::/64 encap seg6 mode encap.red segs 2001:db8:b::2 dev r-b\n"),
          {forwards_as("Two segments: one in the list.", entering(),
                       around(43, kFirst, join({srh(41, {.segments_left = 1}, {kB}), entering()}))),
           forwards_as("One segment: no segment routing header.", one,
                       ipv6(kRouterB, kB, {.next_header = 41, .hop_limit = 63}, one))}};
}

Case inserted() {
  const Bytes plain = entering();
  const Bytes body(plain.begin() + 40, plain.end());
  const Bytes with_options =
      ipv6(kA, kInside, {.next_header = 0}, join({options(59, {1, 4, 0, 0, 0, 0}), filler(8)}));
  return {
      "headend-inline",
      "A route that inserts a segment routing header: the destination becomes the last segment.",
      lab_config(headend("inline segs 2001:db8:b::9,2001:db8:b::2")),
      {forwards_as("Two segments.", plain,
                   around(43, kFirst,
                          join({srh(17, {.segments_left = 2}, {kInside, kB, kFirst}), body}), kA)),
       forwards_as("In front of hop-by-hop options.", with_options,
                   ipv6(kA, kFirst, {.next_header = 43, .hop_limit = 63},
                        join({srh(0, {.segments_left = 2}, {kInside, kB, kFirst}),
                              options(59, {1, 4, 0, 0, 0, 0}), filler(8)})))}};
}

Case source() {
  const auto sent = [](std::string_view source) { return around(41, kB, entering(), source); };
  const Bytes other = ipv6(kA, "2001:db8:48::1", {.next_header = 59}, filler(8));
  return {"headend-source",
          "The outer source suits the device of the route that encapsulates, not the way to the "
          "segment.",
          lab_config("route add 2001:db8:47::/64 encap seg6 mode encap.red segs 2001:db8:b::2 dev "
                     "r-b\n"
                     "route add 2001:db8:48::/64 encap seg6 mode encap.red segs 2001:db8:b::2 dev "
                     "r-a\n"),
          {forwards_as("By the segment's device.", entering(), sent(kRouterB)),
           forwards_as("By the other device.", other,
                       ipv6(kRouterA, kB, {.next_header = 41, .hop_limit = 63}, other))}};
}

Case tunnel_source() {
  return {"headend-tunsrc",
          "`sr tunsrc` gives the outer source, and seg6_flowlabel -1 no flow label.",
          lab_config("sr tunsrc set 2001:db8:1234::1\n"
                     "sysctl -w net.ipv6.seg6_flowlabel=-1\n"
                     "route add 2001:db8:47::/64 encap seg6 mode encap.red segs 2001:db8:b::2 dev "
                     "r-b\n"),
          {forwards_as("Both.", entering(), around(41, kB, entering(), "2001:db8:1234::1", 0))}};
}

/// Nothing leaves; the router's own message to itself is counted.
Step tells_itself(std::string words, const Bytes& packet, std::string verdict, Counters counters) {
  Step step = drops(std::move(words), packet, std::move(verdict), std::move(counters));
  step.counters[0] = {"Ip6InReceives@r-a", 1};
  step.counters[1] = {"Icmp6OutMsgs", 1};
  return step;
}

Case errors() {
  const Bytes large =
      ipv6(kA, kInside, {.next_header = 17}, udp(kA, kInside, 1000, 2000, filler(1452 - 8)));
  const Bytes lost = ipv6(kA, "2001:db8:48::1", {.next_header = 59}, filler(8));
  const Bytes loop = ipv6(kA, "2001:db8:49::1", {.next_header = 59}, filler(8));
  return {"headend-errors",
          "What goes wrong after encapsulation the router tells itself; the sender hears nothing.",
          lab_config("route add 2001:db8:47::/64 encap seg6 mode encap segs 2001:db8:b::2 dev r-b\n"
                     "route add 2001:db8:48::/64 encap seg6 mode encap segs 2001:db9::1 dev r-b\n"
                     "route add 2001:db8:49::/64 encap seg6 mode encap segs 2001:db8:49::9 dev "
                     "r-b\n"),
          {tells_itself("Hop limit 1.", entering(1), "hop_limit_exceeded",
                        {{"Ip6InHdrErrors", 1}, {"Icmp6OutTimeExcds", 1}}),
           tells_itself("Too big with the outer headers.", large, "too_big",
                        {{"Ip6InTooBigErrors", 1}, {"Icmp6OutPktTooBigs", 1}}),
           tells_itself("No route to the segment.", lost, "no_route",
                        {{"Ip6InNoRoutes", 1}, {"Icmp6OutDestUnreachs", 1}}),
           drops("The segment is reached through the same route.", loop, "tunnel_recursion",
                 {{"Ip6OutForwDatagrams", 0}})}};
}

Case own_packets() {
  const Bytes request = ipv6("2001:db8:47::7", kRouterA, {.next_header = 58},
                             echo("2001:db8:47::7", kRouterA, 128, filler(8)));
  const Bytes reply = ipv6(kRouterA, "2001:db8:47::7", {.next_header = 58},
                           echo(kRouterA, "2001:db8:47::7", 129, filler(8)));
  Step step = answers("An echo reply.", request, reply);
  step.out = {to_b(ipv6(kRouterB, kFirst, {.next_header = 43},
                        join({srh(41, {.segments_left = 1}, {kB, kFirst}), reply})))};
  return {"headend-own-packets",
          "What the router itself sends is encapsulated too, with its whole hop limit.",
          lab_config(headend("encap segs 2001:db8:b::9,2001:db8:b::2")),
          {step}};
}

Case frames() {
  const Bytes packet = entering();
  const Bytes whole = frame(kMacA, kMacHostA, packet);
  return {
      "headend-l2encap",
      "The frame is encapsulated as it came.",
      lab_config(headend("l2encap segs 2001:db8:b::9,2001:db8:b::2") +
                 "route add 2001:db8:48::/64 encap seg6 mode l2encap.red segs 2001:db8:b::2 dev "
                 "r-b\n"),
      {forwards_as("Two segments.", packet,
                   around(43, kFirst, join({srh(143, {.segments_left = 1}, {kB, kFirst}), whole}))),
       forwards_as("One segment, reduced.", a_to("2001:db8:48::1"),
                   ipv6(kRouterB, kB, {.next_header = 143, .hop_limit = 63},
                        frame(kMacA, kMacHostA, a_to("2001:db8:48::1"))))}};
}

}  // namespace

std::vector<Case> headend_cases() {
  return {encap(),         encap_red(), inserted(),    source(),
          tunnel_source(), errors(),    own_packets(), frames()};
}

}  // namespace sidestep::golden
