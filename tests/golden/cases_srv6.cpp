// SPDX-License-Identifier: Apache-2.0
// Segment routing: the End behavior, and a segment routing header for the router's own address.
#include "golden/lab.hpp"

namespace sidestep::golden {
namespace {

constexpr std::string_view kSid = "2001:db8:5::1";
constexpr std::string_view kSid2 = "2001:db8:5::2";
constexpr std::string_view kPspSid = "2001:db8:5::3";
constexpr std::string_view kSidLines =
    "route add 2001:db8:5::1/128 encap seg6local action End dev r-b\n"
    "route add 2001:db8:5::2/128 encap seg6local action End dev r-b\n"
    "route add 2001:db8:5::3/128 encap seg6local action End flavors psp dev r-b\n";
constexpr std::string_view kSeg6On =
    "sysctl -w net.ipv6.conf.all.seg6_enabled=1\n"
    "sysctl -w net.ipv6.conf.r-a.seg6_enabled=1\n";

Bytes routed(std::string_view destination, const Bytes& header, std::uint8_t hop_limit = 64) {
  return ipv6(kA, destination, {.next_header = 43, .hop_limit = hop_limit},
              join({header, filler(16)}));
}

/// As it leaves: next segment in the destination, one segment and one hop less.
Bytes advanced(const Bytes& packet, std::string_view destination, std::uint8_t segments_left,
               std::uint8_t hop_limit = 63) {
  return with_byte(with_hop_limit(with_destination(packet, destination), hop_limit), 43,
                   segments_left);
}

}  // namespace

std::vector<Case> srv6_cases() {
  std::vector<Case> cases;
  const Counters nothing = {
      {"Ip6InHdrErrors", 0}, {"Ip6InNoRoutes", 0}, {"Ip6OutForwDatagrams", 0}};
  const std::string sids = lab_config(kSidLines);

  const Bytes plain = routed(kSid, srh(59, {.segments_left = 1}, {kB, kSid}));
  const Bytes three = routed(kSid, srh(59, {.segments_left = 2, .tag = 0x1234}, {kB, kSid2, kSid}));
  cases.push_back(
      {"end",
       "The End behavior: the next segment becomes the destination.",
       sids,
       {forwards_as("One segment left.", plain, advanced(plain, kB, 0)),
        forwards_as("The next segment is another SID of this router: one hop in total.", three,
                    advanced(three, kB, 0)),
        drops("No segment routing header.", a_to(kSid), "sid_no_srh", nothing),
        drops("No segments left.", routed(kSid, srh(59, {.segments_left = 0}, {kSid, kB})),
              "sid_no_srh", nothing),
        drops("The next segment is the router's own address.",
              routed(kSid, srh(59, {.segments_left = 1}, {kRouterB, kSid})), "sid_local_next",
              nothing)}});

  const Bytes expiring = routed(kSid, srh(59, {.segments_left = 1}, {kB, kSid}), 1);
  const Bytes nowhere = routed(kSid, srh(59, {.segments_left = 1}, {"2001:db9::1", kSid}));
  cases.push_back(
      {"end-errors",
       "Errors after the End behavior quote the packet as it was looked up.",
       sids,
       {refuses("Hop limit 1.", expiring, {.type = 3}, "hop_limit_exceeded",
                {{"Ip6InHdrErrors", 1}, {"Icmp6OutTimeExcds", 1}}, advanced(expiring, kB, 0, 1)),
        refuses("No route to the next segment.", nowhere, {.type = 1}, "no_route",
                {{"Ip6InNoRoutes", 1}, {"Icmp6OutDestUnreachs", 1}},
                advanced(nowhere, "2001:db9::1", 0, 64))}});

  const Bytes zero_tlvs = routed(kSid, srh(59, {.segments_left = 1}, {kB, kSid}, Bytes(8)));
  const Bytes first_done = routed(kSid, join({srh(43, {.segments_left = 0}, {kSid}),
                                              srh(59, {.segments_left = 1}, {kB, kSid})}));
  // The second header begins 24 octets behind the first, which begins at 40.
  const Bytes second_advanced =
      with_byte(with_hop_limit(with_destination(first_done, kB), 63), 40 + 24 + 3, 0);
  const Bytes reduced = routed(kSid, srh(59, {.segments_left = 2}, {kB, kSid2}));
  cases.push_back(
      {"end-header-validity",
       "What End takes for a segment routing header.",
       sids,
       {forwards_as("Eight zero bytes of TLVs.", zero_tlvs, advanced(zero_tlvs, kB, 0)),
        drops("TLVs that end in one byte too many.",
              routed(kSid, srh(59, {.segments_left = 1}, {kB, kSid}, {4, 5, 0, 0, 0, 0, 0, 0})),
              "srh_malformed", nothing),
        drops("Last entry beyond the list.",
              routed(kSid, srh(59, {.segments_left = 1, .last_entry = 200}, {kB, kSid})),
              "srh_malformed", nothing),
        forwards_as("A header without segments left before the one to act on.", first_done,
                    second_advanced),
        forwards_as("Reduced: segments left is one more than the last entry; the next segment is a "
                    "SID here too.",
                    reduced, advanced(reduced, kB, 0))}});

  const Bytes popping = routed(kPspSid, srh(59, {.segments_left = 1}, {kB, kPspSid}));
  const Bytes keeping = routed(kPspSid, srh(59, {.segments_left = 2}, {kB, kSid, kPspSid}));
  const auto behind_used_up = [](const Bytes& live) {
    return routed(kPspSid, join({srh(43, {.segments_left = 0}, {kPspSid}), live}));
  };
  cases.push_back(
      {"end-psp",
       "The PSP flavor takes the header off when its last segment is reached.",
       sids,
       {forwards_as("One segment left: popped.", popping,
                    ipv6(kA, kB, {.next_header = 59, .hop_limit = 63}, filler(16))),
        forwards_as("Two segments left: End first, and the SID behind it does not pop.", keeping,
                    advanced(keeping, kB, 0)),
        drops("No segments left.", routed(kPspSid, srh(59, {.segments_left = 0}, {kPspSid, kB})),
              "sid_no_srh", nothing),
        drops("A header without segments left before the one to pop.",
              behind_used_up(srh(59, {.segments_left = 1}, {kB, kPspSid})), "psp_blocked", nothing),
        drops("The same where End alone would advance.",
              behind_used_up(srh(59, {.segments_left = 2}, {kB, kSid, kPspSid})), "psp_blocked",
              nothing),
        forwards_as("Another routing header behind the one that is popped.",
                    routed(kPspSid, join({srh(43, {.segments_left = 1}, {kB, kPspSid}),
                                          srh(59, {.segments_left = 1}, {kSid, kB})})),
                    ipv6(kA, kB, {.next_header = 43, .hop_limit = 63},
                         join({srh(59, {.segments_left = 1}, {kSid, kB}), filler(16)})))}});

  const auto local = [](const Bytes& header, std::uint8_t hop_limit = 64) {
    return routed(kRouterA, header, hop_limit);
  };
  const Bytes onward = local(srh(59, {.segments_left = 1}, {kB, kRouterA}));
  const Bytes twice = local(srh(59, {.segments_left = 2}, {kB, kRouterB, kRouterA}));
  const Bytes bogus = local(srh(59, {.segments_left = 1, .last_entry = 200}, {kB, kRouterA}));
  const Counters bad = {{"Ip6InHdrErrors", 1}, {"Icmp6OutParmProblems", 1}};
  cases.push_back(
      {"local-srh",
       "A segment routing header for the router's own address, with seg6_enabled.",
       lab_config(std::string(kSidLines) + std::string(kSeg6On)),
       {forwards_as("One segment left.", onward, advanced(onward, kB, 0)),
        forwards_as("Two of the router's own addresses in a row: two hops in total.", twice,
                    advanced(twice, kB, 0, 62)),
        forwards_as("The last entry is not looked at.", bogus, advanced(bogus, kB, 0)),
        refuses("Segments left beyond the list: pointer at segments left.",
                local(srh(59, {.segments_left = 2}, {kB, kRouterA})), {.type = 4, .parameter = 43},
                "segments_left_invalid", bad),
        answers("No segments left: what follows is delivered.",
                ipv6(kA, kRouterA, {.next_header = 43},
                     join({srh(58, {.segments_left = 0}, {kRouterA}),
                           echo(kA, kRouterA, 128, filler(8))})),
                ipv6(kRouterA, kA, {.next_header = 58}, echo(kRouterA, kA, 129, filler(8))))}});
  cases.push_back({"local-srh-disabled",
                   "Without seg6_enabled a segment routing header for the router's own address is "
                   "dropped; a SID does not care.",
                   sids,
                   {drops("One segment left.", onward, "seg6_disabled", nothing),
                    drops("No segments left.",
                          ipv6(kA, kRouterA, {.next_header = 43},
                               join({srh(58, {.segments_left = 0}, {kRouterA}),
                                     echo(kA, kRouterA, 128, filler(8))})),
                          "seg6_disabled", nothing),
                    forwards_as("To a SID.", plain, advanced(plain, kB, 0))}});
  cases.push_back(
      {"sid-on-lo",
       "A SID whose route goes through lo does not work: the route is a reject in disguise.",
       lab_config("route add 2001:db8:5::1/128 encap seg6local action End dev lo\n"),
       {refuses("No route.", plain, {.type = 1}, "no_route",
                {{"Ip6InNoRoutes", 1}, {"Icmp6OutDestUnreachs", 1}})}});
  return cases;
}

}  // namespace sidestep::golden
