// SPDX-License-Identifier: Apache-2.0
// Extension headers on the way and at the destination, and rules that look at them.
#include "golden/lab.hpp"

namespace sidestep::golden {
namespace {

/// `count` options of an unknown type whose high bits say "skip" (00), two bytes each; with PadN to whole 8 octets.
Bytes skippable_options(unsigned count) {
  Bytes tlvs;
  for (unsigned i = 0; i < count; ++i) tlvs = join({tlvs, {0x1e, 0}});
  const std::size_t rest = (8 - (tlvs.size() + 2) % 8) % 8;
  if (rest == 1) return join({tlvs, {0}});
  if (rest > 1) tlvs = join({tlvs, {1, static_cast<std::uint8_t>(rest - 2)}, Bytes(rest - 2)});
  return tlvs;
}

Bytes hop_by_hop(const Bytes& tlvs) {
  return ipv6(kA, kB, {.next_header = 0}, join({options(59, tlvs), filler(8)}));
}

Bytes echo_behind(const Bytes& header, std::uint8_t header_type) {
  return ipv6(kA, kRouterA, {.next_header = header_type},
              join({header, echo(kA, kRouterA, 128, filler(8))}));
}

Bytes echo_reply() {
  return ipv6(kRouterA, kA, {.next_header = 58}, echo(kRouterA, kA, 129, filler(8)));
}

}  // namespace

std::vector<Case> extension_header_cases() {
  std::vector<Case> cases;
  const Counters silent = {{"Ip6InHdrErrors", 1}, {"Ip6InHdrErrors@r-a", 1}};
  const Counters problem = {{"Ip6InHdrErrors", 1}, {"Icmp6OutParmProblems", 1}};

  cases.push_back(
      {"hop-by-hop-limits",
       "Every node reads hop-by-hop options: at most eight, padding short and of zeros.",
       lab_config(),
       {forwards("Eight options to be skipped.", hop_by_hop(skippable_options(8))),
        drops("Nine.", hop_by_hop(skippable_options(9)), "hop_by_hop_malformed", silent),
        drops("A PadN with a byte that is not zero.", hop_by_hop({1, 4, 0, 7, 0, 0}),
              "hop_by_hop_malformed", silent),
        drops("Two PadN of eight and six bytes: more than seven bytes of padding in a row.",
              hop_by_hop({1, 6, 0, 0, 0, 0, 0, 0, 1, 4, 0, 0, 0, 0}), "hop_by_hop_malformed",
              silent),
        forwards("One PadN of six bytes.", hop_by_hop({1, 4, 0, 0, 0, 0}))}});
  cases.push_back(
      {"hop-by-hop-unknown-options",
       "An unknown option's two high bits say what to do with the packet.",
       lab_config(),
       {drops("01: drop.", hop_by_hop({0x5e, 4, 0, 0, 0, 0}), "hop_by_hop_unknown_option", silent),
        refuses("10: parameter problem, pointing at the option.", hop_by_hop({0x9e, 4, 0, 0, 0, 0}),
                {.type = 4, .code = 2, .parameter = 42}, "hop_by_hop_unknown_option", problem),
        refuses("11: the same, as the destination is not multicast.",
                hop_by_hop({0xde, 4, 0, 0, 0, 0}), {.type = 4, .code = 2, .parameter = 42},
                "hop_by_hop_unknown_option", problem)}});

  const Bytes unknown_option = options(58, {0x9e, 4, 0, 0, 0, 0});
  cases.push_back({"destination-options",
                   "Destination options are the destination's business.",
                   lab_config(),
                   {forwards("An option that asks for an error, on the way to B: untouched.",
                             ipv6(kA, kB, {.next_header = 60},
                                  join({unknown_option, echo(kA, kB, 128, filler(8))}))),
                    refuses("The same to the router.", echo_behind(unknown_option, 60),
                            {.type = 4, .code = 2, .parameter = 42}, "unknown_option", problem),
                    answers("A harmless one to the router.",
                            echo_behind(options(58, {1, 4, 0, 0, 0, 0}), 60), echo_reply())}});

  cases.push_back(
      {"routing-headers",
       "Routing headers: untouched on the way; at the destination followed only if there is "
       "nothing left to do.",
       lab_config(),
       {forwards("Type 0 with a segment left, on the way to B.",
                 ipv6(kA, kB, {.next_header = 43}, join({routing(59, 0, 1, kRouterA), filler(8)}))),
        answers("Type 0 without segments left, to the router.",
                echo_behind(routing(58, 0, 0, kB), 43), echo_reply()),
        answers("Type 253 without segments left, to the router.",
                echo_behind(routing(58, 253, 0, kB), 43), echo_reply()),
        refuses("Type 0 with a segment left, to the router: pointer at the type.",
                echo_behind(routing(58, 0, 1, kB), 43), {.type = 4, .code = 0, .parameter = 42},
                "routing_header_refused", problem)}});
  return cases;
}

std::vector<Case> rule_cases() {
  std::vector<Case> cases;
  const auto udp_to = [](std::uint16_t port) {
    return ipv6(kA, kB, {.next_header = 17}, udp(kA, kB, 1000, port, filler(8)));
  };
  const Counters prohibited = {{"Ip6InNoRoutes", 1}, {"Icmp6OutDestUnreachs", 1}};
  const ErrorFields denied{.type = 1, .code = 1};

  cases.push_back({"rule-uid-of-forwarded-packets",
                   "Forwarded packets belong to uid 0.",
                   lab_config("rule add pref 10 uidrange 1-100 blackhole\n"
                              "rule add pref 20 to 2001:db8:b::2 uidrange 0-0 prohibit\n"),
                   {refuses("uidrange 1-100 does not match, 0-0 does.", a_to_b(), denied,
                            "prohibited", prohibited)}});

  const Bytes behind_options =
      ipv6(kA, kB, {.next_header = 60},
           join({options(17, {1, 4, 0, 0, 0, 0}), udp(kA, kB, 1000, 2100, filler(8))}));
  const Bytes first_fragment =
      ipv6(kA, kB, {.next_header = 44},
           join({fragment(17, 0, true, 9), udp(kA, kB, 1000, 2100, filler(8))}));
  const Bytes later_fragment =
      ipv6(kA, kB, {.next_header = 44}, join({fragment(17, 2, false, 9), filler(24)}));
  cases.push_back(
      {"rule-ports",
       "Port selectors see through extension headers, but never into a fragment.",
       lab_config("rule add pref 10 dport 2000-2300 prohibit\n"),
       {refuses("Port 2000.", udp_to(2000), denied, "prohibited", prohibited),
        forwards("Port 2301.", udp_to(2301)),
        refuses("Behind destination options.", behind_options, denied, "prohibited", prohibited),
        forwards("The first fragment, ports inside.", first_fragment),
        forwards("A later fragment.", later_fragment)}});

  const auto classed = [](std::uint8_t traffic_class) {
    return ipv6(kA, kB, {.next_header = 59, .traffic_class = traffic_class}, filler(8));
  };
  cases.push_back({"rule-tos-ignores-ecn",
                   "The traffic class is compared without its ECN bits.",
                   lab_config("rule add pref 10 tos 0x10 prohibit\n"),
                   {refuses("Class 0x12.", classed(0x12), denied, "prohibited", prohibited),
                    forwards("Class 0x14.", classed(0x14))}});

  cases.push_back({"rule-suppress",
                   "A suppressed route is as if it were not there, and the walk goes on.",
                   lab_config("route add default via 2001:db8:a::2 table 100\n"
                              "rule add pref 10 lookup 100 suppress_prefixlength 0\n"),
                   {forwards("Table 100's default is suppressed; main answers.", a_to_b())}});
  cases.push_back({"rule-suppress-last",
                   "When the suppressing rule is the last one, the packet has no route.",
                   lab_config("route add default via 2001:db8:b::2 table 100\n"
                              "rule add pref 40000 lookup 100 suppress_prefixlength 0\n"),
                   {refuses("Only table 100's default matches, and it is suppressed.",
                            a_to("2001:db9::1"), {.type = 1, .code = 0}, "no_route", prohibited)}});

  cases.push_back({"rule-actions",
                   "What a rule's action sends back.",
                   lab_config("rule add pref 10 fwmark 0/0xff to 2001:db8:c1::/48 unreachable\n"
                              "rule add pref 11 to 2001:db8:c2::/48 prohibit\n"
                              "rule add pref 12 to 2001:db8:c3::/48 blackhole\n"
                              "rule add pref 13 to 2001:db8:b::/64 goto 20\n"
                              "rule add pref 14 to 2001:db8:b::/64 blackhole\n"
                              "rule add pref 20 nop\n"),
                   {refuses("unreachable", a_to("2001:db8:c1::1"), {.type = 1, .code = 0},
                            "no_route", prohibited),
                    refuses("prohibit", a_to("2001:db8:c2::1"), denied, "prohibited", prohibited),
                    drops("blackhole", a_to("2001:db8:c3::1"), "blackhole", {{"Ip6InNoRoutes", 0}}),
                    forwards("goto passes over a blackhole.", a_to_b())}});

  const Bytes through_sid = ipv6(kA, "2001:db8:5::1", {.next_header = 43},
                                 join({srh(17, {.segments_left = 1}, {kB, "2001:db8:5::1"}),
                                       udp(kA, kB, 1000, 2000, filler(8))}));
  cases.push_back(
      {"rule-protocol-after-end",
       "The lookup after a SID sees the first next header, which is the routing header, and no "
       "ports.",
       lab_config("route add 2001:db8:5::1/128 encap seg6local action End dev r-b\n"
                  "rule add pref 10 to 2001:db8:b::2 ipproto udp prohibit\n"
                  "rule add pref 11 to 2001:db8:b::2 dport 2000 prohibit\n"),
       {refuses("UDP to B.", udp_to(2000), denied, "prohibited", prohibited),
        forwards_as("The same through a SID.", through_sid,
                    with_byte(with_hop_limit(with_destination(through_sid, kB), 63), 43, 0))}});

  cases.push_back(
      {"source-specific-routes",
       "A prefix with source-specific routes hides its own plain route from other sources.",
       lab_config("neigh add 2001:db8:b::3 lladdr 02:00:00:00:0b:03 dev r-b nud permanent\n"
                  "route add 2001:db8:f0::/44 via 2001:db8:b::2\n"
                  "route add 2001:db8:f1::/48 via 2001:db8:b::3\n"
                  "route add blackhole 2001:db8:f1::/48 from 2001:db8:5::/48\n"),
       {forwards(
            "A's source does not match: the shorter prefix is used, not the plain route beside.",
            a_to("2001:db8:f1::1")),
        drops("A source that matches.",
              ipv6("2001:db8:5::1", "2001:db8:f1::1", {.next_header = 59}, filler(8)), "blackhole",
              {})}});
  return cases;
}

}  // namespace sidestep::golden
