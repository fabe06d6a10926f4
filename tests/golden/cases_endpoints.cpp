// SPDX-License-Identifier: Apache-2.0
// Endpoint behaviors beside End: to a neighbor, into a table, out of the outer headers, onto another path. Every SID counts.
#include "golden/lab.hpp"

namespace sidestep::golden {
namespace {

constexpr std::string_view kSid = "2001:db8:5::1";
constexpr std::string_view kNowhere = "2001:db9::1";  ///< no route leads there

std::string sid_line(std::string_view action, std::string_view sid = kSid) {
  return "route add " + std::string(sid) + " encap seg6local action " + std::string(action) +
         " count dev r-b\n";
}

/// What a SID counted.
Counters sid_packet(const Bytes& packet, std::string_view sid = kSid) {
  const std::string name(sid);
  return {{"SidPackets@" + name, 1},
          {"SidBytes@" + name, static_cast<std::int64_t>(packet.size())},
          {"SidErrors@" + name, 0}};
}
Counters sid_error(std::string_view sid = kSid) {
  const std::string name(sid);
  return {{"SidPackets@" + name, 0}, {"SidBytes@" + name, 0}, {"SidErrors@" + name, 1}};
}
Step counting(Step step, const Counters& counters) {
  step.counters.insert(step.counters.end(), counters.begin(), counters.end());
  return step;
}
/// Nothing leaves, nobody but the SID counts.
Step refused(std::string words, const Bytes& packet, std::string verdict) {
  return drops(std::move(words), packet, std::move(verdict),
               {{"Ip6InHdrErrors", 0},
                {"Ip6OutForwDatagrams", 0},
                {"Ip6InNoRoutes", 0},
                {"SidPackets@2001:db8:5::1", 0},
                {"SidErrors@2001:db8:5::1", 1}});
}

/// A packet on a path whose SRH begins behind the IPv6 header.
Bytes on_path(const Bytes& header, std::uint8_t hop_limit = 64, std::string_view sid = kSid) {
  return ipv6(kA, sid, {.next_header = 43, .hop_limit = hop_limit}, join({header, filler(16)}));
}
Bytes advanced(const Bytes& packet, std::string_view destination, std::uint8_t segments_left,
               std::uint8_t hop_limit = 63) {
  return with_byte(with_hop_limit(with_destination(packet, destination), hop_limit), 43,
                   segments_left);
}

/// What all behaviors that need segments left do without them.
std::vector<Step> needs_srh() {
  return {refused("No segment routing header.", a_to(kSid), "sid_no_srh"),
          refused("No segments left.", on_path(srh(59, {.segments_left = 0}, {kSid, kB})),
                  "sid_no_srh"),
          refused("Last entry beyond the list.",
                  on_path(srh(59, {.segments_left = 1, .last_entry = 200}, {kB, kSid})),
                  "srh_malformed"),
          refused("A routing header of type 0.",
                  ipv6(kA, kSid, {.next_header = 43}, join({routing(59, 0, 1, kB), filler(16)})),
                  "srh_malformed")};
}

/// Inner packet from a source behind the tunnel, and the same as it leaves.
Bytes inner(std::uint8_t hop_limit = 10, std::string_view destination = kB) {
  return ipv6(
      "2001:db8:77::7", destination,
      {.next_header = 17, .hop_limit = hop_limit, .traffic_class = 0x2a, .flow_label = 0x12345},
      udp("2001:db8:77::7", destination, 1000, 2000, filler(16)));
}
Bytes carrying(std::uint8_t protocol, const Bytes& payload) {
  return ipv6(kA, kSid, {.next_header = protocol, .traffic_class = 0xb8}, payload);
}
Bytes carrying_behind(const Bytes& header, const Bytes& payload) {
  return ipv6(kA, kSid, {.next_header = 43}, join({header, payload}));
}

/// What all behaviors that decapsulate accept and refuse; `sent` is what must leave for `payload`.
std::vector<Step> decapsulates(std::uint8_t protocol, const Bytes& payload, const Step& sent) {
  const auto as = [&](std::string words, const Bytes& packet) {
    Step step = sent;
    step.words = std::move(words);
    step.in = from_a(packet);
    return counting(step, sid_packet(packet));
  };
  const auto header = [&](SrhFields fields, const Bytes& tlvs = {}) {
    return srh(protocol, fields, {kSid, kB}, tlvs);
  };
  const Bytes odd_tlvs{4, 5, 0, 0, 0, 0, 0, 0};
  return {
      as("No segment routing header.", carrying(protocol, payload)),
      as("No segments left.", carrying_behind(header({.segments_left = 0}), payload)),
      refused("Segments left.", carrying_behind(header({.segments_left = 1}), payload),
              "sid_segments_left"),
      as("Segments left in a header that is not valid.",
         carrying_behind(header({.segments_left = 1, .last_entry = 200}), payload)),
      as("Segments left, and TLVs that do not tile.",
         carrying_behind(header({.segments_left = 1}, odd_tlvs), payload)),
      as("A routing header of type 0 with segments left.",
         carrying_behind(routing(protocol, 0, 1, kB), payload)),
      as("Behind destination options.",
         ipv6(kA, kSid, {.next_header = 60},
              join({options(protocol, {1, 4, 0, 0, 0, 0}), payload}))),
      as("In a first fragment.",
         ipv6(kA, kSid, {.next_header = 44}, join({fragment(protocol, 0, true, 7), payload}))),
      refused("In a fragment that is not the first.",
              ipv6(kA, kSid, {.next_header = 44}, join({fragment(protocol, 3, true, 7), payload})),
              "sid_no_payload"),
      refused("Something else inside.", a_to(kSid), "sid_no_payload"),
      refused("Too short inside.", carrying(protocol, Bytes(payload.begin(), payload.begin() + 9)),
              "sid_no_payload"),
  };
}

Bytes with_payload_length(Bytes packet, std::uint16_t length) {
  return with_byte(with_byte(std::move(packet), 4, static_cast<std::uint8_t>(length >> 8)), 5,
                   static_cast<std::uint8_t>(length));
}

void join_steps(std::vector<Step>& all, std::vector<Step> more) {
  for (auto& step : more) all.push_back(std::move(step));
}

Case end_x() {
  const Bytes one = on_path(srh(59, {.segments_left = 1}, {kNowhere, kSid}));
  const Bytes two = on_path(srh(59, {.segments_left = 2}, {kB, "2001:db8:5::2", kSid}));
  const Bytes reduced = on_path(srh(59, {.segments_left = 2}, {kB, kNowhere}));
  const Bytes expiring = on_path(srh(59, {.segments_left = 1}, {kNowhere, kSid}), 1);
  Case golden{
      "end-x",
      "End.X: the next segment becomes the destination, and the packet goes to the SID's "
      "neighbor whatever the destination.",
      lab_config(sid_line("End.X nh6 2001:db8:b::2") +
                 "route add 2001:db8:5::2 encap seg6local action End dev r-b\n"),
      {counting(forwards_as("One segment left.", one, advanced(one, kNowhere, 0)), sid_packet(one)),
       counting(forwards_as("Two segments left: the next is a SID of this router, but the "
                            "neighbor gets it.",
                            two, advanced(two, "2001:db8:5::2", 1)),
                sid_packet(two)),
       counting(forwards_as("Reduced.", reduced, advanced(reduced, kNowhere, 1)),
                sid_packet(reduced)),
       counting(refuses("Hop limit 1.", expiring, {.type = 3}, "hop_limit_exceeded",
                        {{"Ip6InHdrErrors", 1}}, advanced(expiring, kNowhere, 0, 1)),
                sid_error())}};
  join_steps(golden.steps, needs_srh());
  return golden;
}

Case end_x_neighbors() {
  const auto to = [](std::string_view sid) {
    return on_path(srh(59, {.segments_left = 1}, {kNowhere, sid}), 64, sid);
  };
  const Bytes gateway = to("2001:db8:5::2");
  const Bytes lost = to("2001:db8:5::3");
  const Bytes self = to("2001:db8:5::4");
  const Bytes bound = to("2001:db8:5::5");
  return {
      "end-x-neighbors",
      "Which neighbor End.X finds.",
      lab_config("neigh add fe80::99 lladdr 02:00:00:00:0a:99 dev r-a nud permanent\n"
                 "neigh add fe80::99 lladdr 02:00:00:00:0b:02 dev r-b nud permanent\n"
                 "route add 2001:db8:66::/64 via 2001:db8:b::2\n" +
                 sid_line("End.X nh6 2001:db8:66::6", "2001:db8:5::2") +
                 sid_line("End.X nh6 2001:db9::9", "2001:db8:5::3") +
                 sid_line("End.X nh6 2001:db8:b::1", "2001:db8:5::4") +
                 sid_line("End.X nh6 fe80::99 oif r-b", "2001:db8:5::5")),
      {counting(forwards_as("Behind a gateway.", gateway, advanced(gateway, kNowhere, 0)),
                sid_packet(gateway, "2001:db8:5::2")),
       counting(refuses("No route to it.", lost, {.type = 1}, "no_route", {{"Ip6InNoRoutes", 1}},
                        advanced(lost, kNowhere, 0, 64)),
                sid_packet(lost, "2001:db8:5::3")),
       counting(
           drops("An address of the router.", self, "sid_local_next", {{"Ip6OutForwDatagrams", 0}}),
           sid_packet(self, "2001:db8:5::4")),
       counting(forwards_as("Link-local on a given device.", bound, advanced(bound, kNowhere, 0)),
                sid_packet(bound, "2001:db8:5::5"))}};
}

Case end_x_link_local() {
  const Bytes strict = on_path(srh(59, {.segments_left = 1}, {kNowhere, kSid}));
  Step turned =
      forwards_as("It turns round, and the sender is told.", strict, advanced(strict, kNowhere, 0));
  const Bytes leaving = with_hop_limit(advanced(strict, kNowhere, 0), 64);
  turned.out = {
      {.device = "r-a", .frame = frame("02:00:00:00:0a:99", kMacA, advanced(strict, kNowhere, 0))},
      to_a(redirect(kLinkLocalA, kA, kNowhere, kNowhere, "02:00:00:00:0a:99", leaving))};
  turned.counters = {{"Ip6OutForwDatagrams@r-a", 1}, {"Icmp6OutRedirects", 1}};
  return {"end-x-link-local",
          "Without a device a link-local neighbor is one of the link that the packet came by.",
          lab_config("neigh add fe80::99 lladdr 02:00:00:00:0a:99 dev r-a nud permanent\n" +
                     sid_line("End.X nh6 fe80::99")),
          {counting(turned, sid_packet(strict))}};
}

Case end_x_csid() {
  constexpr std::string_view kContainer = "fcbb:0:1:2:3::";
  const Bytes shifts =
      ipv6(kA, kContainer, {.next_header = 43},
           join({srh(59, {.segments_left = 9, .last_entry = 77}, {kB}), filler(16)}));
  const Bytes plain = a_to(kContainer);
  const Bytes last =
      ipv6(kA, "fcbb:0:1::", {.next_header = 43},
           join({srh(59, {.segments_left = 1}, {kNowhere, "fcbb:0:1::"}), filler(16)}));
  return {"end-x-next-csid",
          "End.X with the NEXT-C-SID flavor: shifts while there is an argument, whatever the "
          "segment routing header, and goes to its neighbor.",
          lab_config("route add fcbb:0:1::/48 encap seg6local action End.X nh6 2001:db8:b::2 "
                     "flavors next-csid dev r-b\n"),
          {forwards_as("An argument, and a broken header.", shifts,
                       with_hop_limit(with_destination(shifts, "fcbb:0:2:3::"), 63)),
           forwards_as("An argument, and no header.", plain,
                       with_hop_limit(with_destination(plain, "fcbb:0:2:3::"), 63)),
           forwards_as("No argument: End.X.", last, advanced(last, kNowhere, 0)),
           drops("No argument and no header.", a_to("fcbb:0:1::"), "sid_no_srh",
                 {{"Ip6OutForwDatagrams", 0}})}};
}

Case end_t() {
  const Bytes inside = on_path(srh(59, {.segments_left = 1}, {"2001:db8:88::1", kSid}));
  const Bytes outside = on_path(srh(59, {.segments_left = 1}, {kB, kSid}));
  const Bytes thrown = on_path(srh(59, {.segments_left = 1}, {"2001:db8:99::1", kSid}));
  const Bytes holed = on_path(srh(59, {.segments_left = 1}, {"2001:db8:98::1", kSid}));
  const Bytes own = on_path(srh(59, {.segments_left = 1}, {"2001:db8:97::1", kSid}));
  const Bytes missing =
      on_path(srh(59, {.segments_left = 1}, {kB, "2001:db8:5::2"}), 64, "2001:db8:5::2");
  Case golden{
      "end-t",
      "End.T: the next segment is looked up in the SID's table, and nowhere else.",
      lab_config(sid_line("End.T table 100") + sid_line("End.T table 101", "2001:db8:5::2") +
                 "route add 2001:db8:88::/64 via 2001:db8:b::2 table 100\n"
                 "route add throw 2001:db8:99::/64 table 100\n"
                 "route add blackhole 2001:db8:98::/64 table 100\n"
                 "route add local 2001:db8:97::/64 dev lo table 100\n"),
      {counting(forwards_as("In the table.", inside, advanced(inside, "2001:db8:88::1", 0)),
                sid_packet(inside)),
       counting(refuses("Not in the table, though in main.", outside, {.type = 1}, "no_route",
                        {{"Ip6InNoRoutes", 1}}, advanced(outside, kB, 0, 64)),
                sid_packet(outside)),
       counting(refuses("A throw.", thrown, {.type = 1}, "no_route", {{"Ip6InNoRoutes", 1}},
                        advanced(thrown, "2001:db8:99::1", 0, 64)),
                sid_packet(thrown)),
       counting(drops("A blackhole.", holed, "blackhole", {{"Ip6InNoRoutes", 0}}),
                sid_packet(holed)),
       counting(drops("A local route.", own, "sid_local_next", {{"Ip6InDelivers", 0}}),
                sid_packet(own)),
       counting(drops("There is no such table.", missing, "blackhole", {{"Ip6InNoRoutes", 0}}),
                sid_packet(missing, "2001:db8:5::2"))}};
  join_steps(golden.steps, needs_srh());
  return golden;
}

/// Decapsulated IPv6 that leaves to B.
Step decapsulated(const Bytes& packet) {
  return forwards_as("", packet, with_hop_limit(packet, static_cast<std::uint8_t>(packet[7] - 1)));
}

Case end_dx6() {
  const Bytes far = carrying(41, inner(10, kNowhere));
  const Bytes any = ipv6(kA, "2001:db8:5::2", {.next_header = 41}, inner());
  const Bytes own = ipv6(kA, "2001:db8:5::2", {.next_header = 41}, inner(10, kRouterB));
  Case golden{
      "end-dx6",
      "End.DX6: the outer headers go, and the packet goes to the SID's neighbor; to its own "
      "destination when that is ::.",
      lab_config(sid_line("End.DX6 nh6 2001:db8:b::2") +
                 sid_line("End.DX6 nh6 ::", "2001:db8:5::2")),
      {counting(forwards_as("The destination does not matter.", far, inner(9, kNowhere)),
                sid_packet(far)),
       counting(forwards_as("Without a neighbor: to its destination.", any, inner(9)),
                sid_packet(any, "2001:db8:5::2")),
       counting(drops("Without a neighbor: to the router itself.", own, "sid_local_next",
                      {{"Ip6InDelivers", 0}}),
                sid_packet(own, "2001:db8:5::2"))}};
  join_steps(golden.steps, decapsulates(41, inner(), decapsulated(inner())));
  return golden;
}

Case end_dt6() {
  Case golden{
      "end-dt6", "End.DT6: the outer headers go, and the packet is looked up in the SID's table.",
      lab_config(sid_line("End.DT6 table main")), decapsulates(41, inner(), decapsulated(inner()))};
  const auto forwarded = [](std::string words, const Bytes& within, const Bytes& sent) {
    return counting(forwards_as(std::move(words), carrying(41, within), sent),
                    sid_packet(carrying(41, within)));
  };
  const Bytes version_4 = with_byte(inner(), 0, 0x42);
  const Bytes too_long = with_payload_length(inner(), 2000);
  const Bytes loopback = ipv6("::1", kB, {.next_header = 59}, filler(8));
  golden.steps.push_back(
      forwarded("The version is not looked at.", version_4, with_hop_limit(version_4, 9)));
  golden.steps.push_back(
      forwarded("Nor is the payload length.", too_long, with_hop_limit(too_long, 9)));
  golden.steps.push_back(
      counting(drops("A source of ::1 fails when forwarded.", carrying(41, loopback),
                     "source_unspecified", {{"Ip6InAddrErrors", 1}}),
               sid_error()));
  return golden;
}

Case end_dt6_tables() {
  const auto to = [](std::string_view sid, const Bytes& within) {
    return ipv6(kA, sid, {.next_header = 41}, within);
  };
  const auto asks = [](std::string_view destination) {
    return ipv6(kA, destination, {.next_header = 58}, echo(kA, destination, 128, filler(8)));
  };
  const Bytes miss = to("2001:db8:5::2", a_to_b());
  const Bytes local = to("2001:db8:5::3", asks(kRouterB));
  const Bytes expiring = to("2001:db8:5::4", a_to_b(16, 1));
  Step answered =
      answers("Table 255: the router's own address.", local,
              ipv6(kRouterB, kA, {.next_header = 58}, echo(kRouterB, kA, 129, filler(8))));
  return {"end-dt6-tables",
          "Which tables End.DT6 looks into, and what the sender of the inner packet hears.",
          lab_config(sid_line("End.DT6 table 100", "2001:db8:5::2") +
                     sid_line("End.DT6 table local", "2001:db8:5::3") +
                     sid_line("End.DT6 table main", "2001:db8:5::4") +
                     "route add 2001:db8:88::/64 via 2001:db8:b::2 table 100\n"),
          {counting(refuses("Not in the table.", miss, {.type = 1}, "no_route",
                            {{"Ip6InNoRoutes", 1}}, a_to_b()),
                    sid_packet(miss, "2001:db8:5::2")),
           counting(answered, sid_packet(local, "2001:db8:5::3")),
           counting(refuses("Hop limit 1 inside.", expiring, {.type = 3}, "hop_limit_exceeded",
                            {{"Ip6InHdrErrors", 1}}, a_to_b(16, 1)),
                    sid_error("2001:db8:5::4"))}};
}

Case end_dx2() {
  const Bytes within = frame("02:00:00:00:99:01", "02:00:00:00:99:02", inner());
  Step sent;
  sent.out = {{.device = "r-b", .frame = within}};
  sent.counters = {{"Ip6InReceives", 1}, {"Ip6OutForwDatagrams", 0}, {"Ip6OutTransmits", 0}};
  sent.verdict = "forwarded";
  Case golden{"end-dx2", "End.DX2: the frame inside leaves by the SID's device as it is.",
              lab_config(sid_line("End.DX2 oif r-b")), decapsulates(143, within, sent)};
  const auto as_type = [&](std::uint8_t high, std::uint8_t low) {
    return with_byte(with_byte(within, 12, high), 13, low);
  };
  Step arp = sent;
  arp.words = "What the frame carries does not matter.";
  arp.in = from_a(carrying(143, as_type(0x08, 0x06)));
  arp.out[0].frame = as_type(0x08, 0x06);
  golden.steps.push_back(counting(arp, sid_packet(carrying(143, within))));
  golden.steps.push_back(
      refused("An 802.3 length.", carrying(143, as_type(0x05, 0xdc)), "sid_no_payload"));
  return golden;
}

Case end_b6() {
  const auto made = [](std::uint8_t next_header, std::uint8_t left, std::string_view segment) {
    return join({srh(next_header, {.segments_left = 2}, {kSid, kB, "2001:db8:b::9"}),
                 srh(59, {.segments_left = left}, {segment, kSid}), filler(16)});
  };
  const Bytes one = on_path(srh(59, {.segments_left = 1}, {kNowhere, kSid}));
  const Bytes sent =
      ipv6(kA, "2001:db8:b::9", {.next_header = 43, .hop_limit = 63}, made(43, 1, kNowhere));
  const Bytes lost =
      on_path(srh(59, {.segments_left = 1}, {kNowhere, "2001:db8:5::2"}), 64, "2001:db8:5::2");
  const Bytes lost_sent =
      ipv6(kA, kNowhere, {.next_header = 43},
           join({srh(43, {.segments_left = 1}, {"2001:db8:5::2", kNowhere}),
                 srh(59, {.segments_left = 1}, {kNowhere, "2001:db8:5::2"}), filler(16)}));
  Case golden{"end-b6",
              "End.B6: segments are inserted in front; the packet's own path stays where it is.",
              lab_config(sid_line("End.B6 srh segs 2001:db8:b::9,2001:db8:b::2") +
                         sid_line("End.B6 srh segs 2001:db9::1", "2001:db8:5::2") +
                         "neigh add 2001:db8:b::9 lladdr 02:00:00:00:0b:02 dev r-b nud "
                         "permanent\n"),
              {counting(forwards_as("One segment left.", one, sent), sid_packet(one)),
               counting(refuses("No route to the first of them.", lost, {.type = 1}, "no_route",
                                {{"Ip6InNoRoutes", 1}}, lost_sent),
                        sid_packet(lost, "2001:db8:5::2"))}};
  join_steps(golden.steps, needs_srh());
  return golden;
}

Case end_b6_encaps() {
  const Bytes one =
      ipv6(kA, kSid, {.next_header = 43, .traffic_class = 0x2a, .flow_label = 0x54321},
           join({srh(59, {.segments_left = 1}, {kNowhere, kSid}), filler(16)}));
  const Bytes sent = ipv6(
      kRouterB, "2001:db8:b::9",
      {.next_header = 43, .hop_limit = 63, .traffic_class = 0x2a, .flow_label = 0x54321},
      join({srh(41, {.segments_left = 1}, {kB, "2001:db8:b::9"}), advanced(one, kNowhere, 0, 64)}));
  const Bytes expiring = on_path(srh(59, {.segments_left = 1}, {kNowhere, kSid}), 1);
  Case golden{
      "end-b6-encaps",
      "End.B6.Encaps: advances, and puts a header with the SID's path in front.",
      lab_config(sid_line("End.B6.Encaps srh segs 2001:db8:b::9,2001:db8:b::2") +
                 "neigh add 2001:db8:b::9 lladdr 02:00:00:00:0b:02 dev r-b nud permanent\n"),
      {counting(forwards_as("One segment left.", one, sent), sid_packet(one)),
       counting(drops("Hop limit 1: the router tells itself.", expiring, "hop_limit_exceeded",
                      {{"Ip6InHdrErrors", 1}}),
                sid_error())}};
  // The error is one of the router's own, to the router.
  golden.steps.back().counters[0] = {"Ip6InReceives@r-a", 1};
  golden.steps.back().counters[1] = {"Icmp6OutMsgs", 1};
  join_steps(golden.steps, needs_srh());
  return golden;
}

}  // namespace

std::vector<Case> endpoint_cases() {
  return {end_x(),   end_x_neighbors(), end_x_link_local(), end_x_csid(), end_t(),        end_dx6(),
          end_dt6(), end_dt6_tables(),  end_dx2(),          end_b6(),     end_b6_encaps()};
}

}  // namespace sidestep::golden
