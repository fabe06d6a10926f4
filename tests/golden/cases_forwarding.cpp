// SPDX-License-Identifier: Apache-2.0
// What every forwarded packet goes through: validation, the checks of forwarding, MTU, ICMPv6 errors.
#include "golden/lab.hpp"

namespace sidestep::golden {
namespace {

constexpr ErrorFields kNoRouteError{.type = 1, .code = 0};
constexpr ErrorFields kProhibitedError{.type = 1, .code = 1};
constexpr ErrorFields kHopLimitError{.type = 3, .code = 0};

Counters no_route_counters() {
  return {{"Ip6InNoRoutes", 1}, {"Ip6InNoRoutes@r-a", 1}, {"Icmp6OutDestUnreachs", 1}};
}

Step in_frame(Step step, std::string_view destination_mac) {
  const Bytes bytes = mac(destination_mac);
  std::copy(bytes.begin(), bytes.end(), step.in.frame.begin());
  return step;
}

}  // namespace

std::vector<Case> validation_cases() {
  std::vector<Case> cases;
  const Bytes packet = a_to_b();
  const Counters header_error = {{"Ip6InHdrErrors", 1}, {"Ip6InHdrErrors@r-a", 1}};

  const Bytes trailing = join({packet, filler(8)});
  const Bytes empty = ipv6(kA, kB, {.next_header = 59, .payload_length = 0}, {});
  cases.push_back(
      {"payload-length-against-frame",
       "The payload length decides how long a packet is, not the frame.",
       lab_config(),
       {drops(
            "The payload length promises ten bytes more than came: counted as truncated, no error.",
            with_byte(packet, 5, static_cast<std::uint8_t>(packet[5] + 10)), "payload_truncated",
            {{"Ip6InTruncatedPkts", 1}, {"Ip6InTruncatedPkts@r-a", 1}}),
        forwards_as("Eight bytes behind the packet are cut off.", trailing,
                    with_hop_limit(packet, 63)),
        forwards_as("Payload length 0 with next header 59: forwarded as 40 bytes.",
                    join({empty, filler(6)}), with_hop_limit(empty, 63))}});

  cases.push_back(
      {"header-errors-are-silent",
       "What fails the first checks is counted as a header error and nothing is sent.",
       lab_config(),
       {drops("The version is 5.", with_byte(packet, 0, 0x50), "bad_version", header_error),
        drops("The source is ::1.", ipv6("::1", kB, {.next_header = 59}, {}), "loopback_from_wire",
              header_error),
        drops("The destination is ::1.", ipv6(kA, "::1", {.next_header = 59}, {}),
              "loopback_from_wire", header_error),
        drops("The source is multicast.", ipv6("ff0e::1", kB, {.next_header = 59}, {}),
              "source_multicast", header_error),
        drops("The destination is interface-local multicast.",
              ipv6(kA, "ff01::1", {.next_header = 59}, {}), "multicast_scope", header_error),
        drops("The destination is multicast of the reserved scope 0.",
              ipv6(kA, "ff00::1", {.next_header = 59}, {}), "multicast_scope", header_error),
        drops("Only 30 bytes of the header.", Bytes(packet.begin(), packet.begin() + 30),
              "header_truncated", header_error)}});

  Step other =
      drops("Another station's frame: no IPv6 counter moves at all.", packet, "other_host", {});
  other.counters = {{"Ip6InReceives", 0}};
  Case link_layer{"link-layer-class",
                  "How the frame was addressed on the link matters.",
                  lab_config("route add unreachable 2001:db8:bad::/48\n"),
                  {}};
  link_layer.steps.push_back(in_frame(std::move(other), "02:00:00:00:00:99"));
  link_layer.steps.push_back(in_frame(
      drops("To be forwarded, but in a broadcast frame: received, dropped, no other counter.",
            packet, "l2_not_unicast",
            {{"Ip6InHdrErrors", 0},
             {"Ip6InAddrErrors", 0},
             {"Ip6InDiscards", 0},
             {"Ip6OutForwDatagrams", 0}}),
      "ff:ff:ff:ff:ff:ff"));
  link_layer.steps.push_back(in_frame(
      drops("No route, in a multicast frame: counted, but no error is sent.",
            a_to("2001:db8:bad::1"), "no_route", {{"Ip6InNoRoutes", 1}, {"Ip6InNoRoutes@r-a", 1}}),
      "33:33:00:00:00:01"));
  cases.push_back(std::move(link_layer));
  return cases;
}

std::vector<Case> forwarding_cases() {
  std::vector<Case> cases;
  const Bytes packet = a_to_b();

  cases.push_back(
      {"plain-forwarding",
       "A packet leaves with one hop less and nothing else changed.",
       lab_config(),
       {forwards("UDP from A to B.", packet),
        forwards("Traffic class and flow label stay.",
                 ipv6(kA, kB, {.next_header = 59, .traffic_class = 0xb8, .flow_label = 0x12345},
                      filler(9)))}});

  const Counters expired = {
      {"Ip6InHdrErrors", 1}, {"Ip6InHdrErrors@r-a", 1}, {"Icmp6OutTimeExcds", 1}};
  cases.push_back(
      {"hop-limit-exceeded",
       "Hop limit 1 and 0 are answered alike.",
       lab_config(),
       {refuses("Hop limit 1.", a_to_b(16, 1), kHopLimitError, "hop_limit_exceeded", expired),
        refuses("Hop limit 0.", a_to_b(16, 0), kHopLimitError, "hop_limit_exceeded", expired),
        forwards("Hop limit 2 passes.", a_to_b(16, 2))}});

  cases.push_back(
      {"no-route-reject-blackhole",
       "Nothing matched, unreachable, prohibit, blackhole, throw: what is sent and what is "
       "counted.",
       lab_config("route add unreachable 2001:db8:c1::/48\n"
                  "route add prohibit 2001:db8:c2::/48\n"
                  "route add blackhole 2001:db8:c3::/48\n"
                  "route add throw 2001:db8:c4::/48\n"
                  "nexthop add id 9 blackhole\n"
                  "route add 2001:db8:c5::/48 nhid 9\n"
                  "route add 2001:db8:c6::/48 dev lo\n"),
       {refuses("Nothing matches.", a_to("2001:db9::1"), kNoRouteError, "no_route",
                no_route_counters()),
        refuses("An unreachable route.", a_to("2001:db8:c1::1"), kNoRouteError, "no_route",
                no_route_counters()),
        refuses("A prohibit route.", a_to("2001:db8:c2::1"), kProhibitedError, "prohibited",
                no_route_counters()),
        drops("A blackhole route: silent, not counted.", a_to("2001:db8:c3::1"), "blackhole",
              {{"Ip6InNoRoutes", 0}, {"Ip6InDiscards", 0}}),
        refuses("A throw route in the last table.", a_to("2001:db8:c4::1"), kNoRouteError,
                "no_route", no_route_counters()),
        drops("A blackhole nexthop object.", a_to("2001:db8:c5::1"), "blackhole",
              {{"Ip6InNoRoutes", 0}}),
        refuses("A unicast route through lo is a reject in disguise.", a_to("2001:db8:c6::1"),
                kNoRouteError, "no_route", no_route_counters())}});

  Case scope{"source-address-scope",
             "What a source may not be: checked when forwarding, but not on the way back out of "
             "the same link.",
             lab_config("neigh add fe80::2 lladdr 02:00:00:00:0a:02 dev r-a nud permanent\n"
                        "neigh add 2001:db8:a::9 lladdr 02:00:00:00:0a:09 dev r-a nud permanent\n"),
             {}};
  const Bytes link_local = ipv6("fe80::2", kB, {.next_header = 59}, filler(8));
  Step beyond =
      refuses("A link-local source toward another link: beyond scope.", link_local,
              {.type = 1, .code = 2}, "source_scope",
              {{"Ip6InAddrErrors", 1}, {"Ip6InAddrErrors@r-a", 1}, {"Icmp6OutDestUnreachs", 1}});
  beyond.out = {to_a(icmp_error(kLinkLocalA, "fe80::2", 1, 2, 0, link_local))};
  const Bytes hairpin = ipv6("fe80::2", "2001:db8:a::9", {.next_header = 59}, filler(8));
  Step back =
      forwards("A link-local source back out of its own link: forwarded, and redirected.", hairpin);
  back.out = {
      {.device = "r-a", .frame = frame("02:00:00:00:0a:09", kMacA, with_hop_limit(hairpin, 63))},
      to_a(redirect(kLinkLocalA, "fe80::2", "2001:db8:a::9", "2001:db8:a::9", "02:00:00:00:0a:09",
                    hairpin))};
  back.counters = {{"Ip6InReceives", 1}, {"Ip6OutForwDatagrams@r-a", 1}, {"Icmp6OutRedirects", 1}};
  Step again = back;
  again.words =
      "The same again: errors and redirects to one host share a bucket, and the error has emptied "
      "it.";
  again.out.pop_back();
  again.counters.back().second = 0;
  scope.steps.push_back(std::move(back));
  scope.steps.push_back(std::move(beyond));
  scope.steps.push_back(std::move(again));
  scope.steps.push_back(drops("An unspecified source.",
                              ipv6("::", kB, {.next_header = 59}, filler(8)), "source_unspecified",
                              {{"Ip6InAddrErrors", 1}, {"Ip6InAddrErrors@r-a", 1}}));
  cases.push_back(std::move(scope));

  const Counters refused = {
      {"Ip6InAddrErrors", 1}, {"Ip6InAddrErrors@r-a", 1}, {"Ip6OutForwDatagrams", 0}};
  cases.push_back({"forwarding-off",
                   "A host does not forward, and says nothing.",
                   lab_config("sysctl -w net.ipv6.conf.all.forwarding=0\n"),
                   {drops("all.forwarding is 0.", packet, "forwarding_off", refused)}});
  cases.push_back({"forwarding-off-on-the-device-only",
                   "The ingress device's own forwarding is not asked when a packet is forwarded.",
                   lab_config("sysctl -w net.ipv6.conf.r-a.forwarding=0\n"),
                   {forwards("r-a.forwarding is 0, all.forwarding is 1.", packet)}});
  cases.push_back(
      {"force-forwarding",
       "A device's force_forwarding forwards what it receives although the router is a host.",
       lab_config("sysctl -w net.ipv6.conf.all.forwarding=0\n"
                  "sysctl -w net.ipv6.conf.r-a.force_forwarding=1\n"),
       {forwards("all.forwarding is 0, r-a.force_forwarding is 1.", packet)}});

  Case hairpins{
      "hairpin-redirects",
      "A packet that leaves through the link it came from is redirected, if the next hop is on "
      "that link.",
      lab_config("neigh add 2001:db8:a::9 lladdr 02:00:00:00:0a:09 dev r-a nud permanent\n"
                 "neigh add fe80::9 lladdr 02:00:00:00:0a:09 dev r-a nud permanent\n"
                 "route add 2001:db8:d1::/48 via 2001:db8:a::9 dev r-a\n"
                 "route add 2001:db8:d2::/48 via fe80::9 dev r-a\n"),
      {}};
  const auto hairpin_step = [&](std::string words, std::string_view destination,
                                std::string_view target) {
    const Bytes sent = a_to(destination);
    Step step = forwards(std::move(words), sent);
    step.out = {
        {.device = "r-a", .frame = frame("02:00:00:00:0a:09", kMacA, with_hop_limit(sent, 63))}};
    step.counters = {{"Ip6OutForwDatagrams@r-a", 1}, {"Icmp6OutRedirects", target.empty() ? 0 : 1}};
    if (!target.empty()) {
      step.out.push_back(
          to_a(redirect(kLinkLocalA, kA, target, destination, "02:00:00:00:0a:09", sent)));
    }
    return step;
  };
  hairpins.steps.push_back(
      hairpin_step("Through a global gateway: no redirect.", "2001:db8:d1::1", ""));
  hairpins.steps.push_back(
      hairpin_step("Through a link-local gateway.", "2001:db8:d2::1", "fe80::9"));
  cases.push_back(std::move(hairpins));
  Case on_link{
      "hairpin-redirect-on-link",
      "The destination itself is on the link.",
      lab_config("neigh add 2001:db8:a::9 lladdr 02:00:00:00:0a:09 dev r-a nud permanent\n"),
      {}};
  on_link.steps.push_back(hairpin_step("To a neighbor of A.", "2001:db8:a::9", "2001:db8:a::9"));
  cases.push_back(std::move(on_link));

  Case foreign_link_local{
      "link-local-destination-not-ours",
      "A link-local destination that is not the router's goes back out of the link it came from, "
      "never elsewhere.",
      lab_config("neigh add fe80::9 lladdr 02:00:00:00:0a:09 dev r-a nud permanent\n"
                 "neigh add fe80::9 lladdr 02:00:00:00:0b:09 dev r-b nud permanent\n"),
      {}};
  foreign_link_local.steps.push_back(hairpin_step("From A to fe80::9.", "fe80::9", "fe80::9"));
  cases.push_back(std::move(foreign_link_local));

  cases.push_back(
      {"multicast-route-type-forwards",
       "A route of type multicast to a unicast prefix forwards like any other.",
       lab_config("neigh add 2001:db8:e1::5 lladdr 02:00:00:00:0b:02 dev r-b nud permanent\n"
                  "route add multicast 2001:db8:e1::/64 dev r-b\n"),
       {forwards("From A into the prefix.", a_to("2001:db8:e1::5"))}});
  Step unresolved = drops("Counted as forwarded when it is sent, which it never is.",
                          a_to("2001:db8:b::77"), "neighbor_unresolved", {});
  unresolved.counters = {{"Ip6InReceives", 1}};
  cases.push_back({"neighbor-unknown",
                   "A neighbor that is not in the table: neighbors are static, so the packet is "
                   "dropped with its own reason.",
                   lab_config(),
                   {unresolved}});
  return cases;
}

namespace {

/// A tells the router at its address on that link that `about`, which the router would have sent, is longer than `mtu`.
Step too_big(std::string words, const Bytes& about, std::uint32_t mtu, std::int64_t errors = 0) {
  return drops(
      std::move(words),
      ipv6(kA, kRouterA, {.next_header = 58}, icmpv6(kA, kRouterA, 2, 0, join({be32(mtu), about}))),
      "delivered", {{"Icmp6InPktTooBigs", 1}, {"Icmp6InErrors", errors}});
}

void add_learned_mtus(std::vector<Case>& cases, const Bytes& large, const Counters& by_route) {
  const Bytes reply = ipv6(kRouterA, kB, {.next_header = 58}, echo(kRouterA, kB, 129, filler(16)));
  const Bytes datagram =
      ipv6(kRouterA, kB, {.next_header = 17}, udp(kRouterA, kB, 1000, 2000, filler(16)));
  cases.push_back(
      {"path-mtu-learned",
       "A Packet Too Big about a packet of the router's own limits what is forwarded to the same "
       "destination, too.",
       lab_config("neigh add 2001:db8:b::9 lladdr 02:00:00:00:0b:02 dev r-b nud permanent\n"),
       {forwards("1400 bytes pass.", large),
        too_big("A Packet Too Big about an echo reply that nobody sent.", reply, 1300),
        refuses("1400 bytes are refused by the second test.", large, {.type = 2, .parameter = 1300},
                "too_big_output", by_route, with_hop_limit(large, 63)),
        forwards("1300 bytes pass.", a_to_b(1300 - 48)),
        forwards("Another destination is not concerned.",
                 ipv6(kA, "2001:db8:b::9", {.next_header = 59}, filler(1360))),
        too_big("A larger MTU than is known changes nothing.", reply, 1400),
        refuses("1400 bytes are refused as before.", large, {.type = 2, .parameter = 1300},
                "too_big_output", by_route, with_hop_limit(large, 63)),
        too_big("A smaller one does.", reply, 1280),
        refuses("1300 bytes are refused now.", a_to_b(1300 - 48), {.type = 2, .parameter = 1280},
                "too_big_output", by_route, with_hop_limit(a_to_b(1300 - 48), 63))}});
  cases.push_back(
      {"path-mtu-not-believed",
       "What a Packet Too Big must be to be believed.",
       lab_config(),
       {too_big("Below 1280.", reply, 1279), too_big("Not below the device's.", reply, 1500),
        too_big("About UDP, for which nobody here has a socket.", datagram, 1300, 1),
        too_big("About seven bytes of an upper layer.", Bytes(reply.begin(), reply.begin() + 47),
                1300, 1),
        forwards("1400 bytes pass.", large)}});

  constexpr std::string_view kFar = "2001:db8:f::1";
  constexpr std::string_view kGateway = "fe80::a2";
  const Bytes request =
      ipv6(kFar, kRouterA, {.next_header = 58}, echo(kFar, kRouterA, 128, filler(16)));
  const Bytes answer =
      ipv6(kRouterA, kFar, {.next_header = 58}, echo(kRouterA, kFar, 129, filler(16)));
  const auto answered = [&](std::string words, std::string_view to) {
    Step step = answers(std::move(words), request, answer);
    step.out.front().frame = frame(to, kMacA, answer);
    return step;
  };
  const auto redirected = [&](std::string words, std::string_view source, std::string_view target) {
    return drops(std::move(words), redirect(source, kRouterA, target, kFar, "", answer),
                 "delivered", {{"Icmp6InMsgs", 1}, {"Icmp6InErrors", 0}});
  };
  cases.push_back({"redirect-believed",
                   "A device that does not forward takes a redirect from the present first hop.",
                   lab_config("sysctl -w net.ipv6.conf.r-a.forwarding=0\n"
                              "neigh add fe80::a2 lladdr 02:00:00:00:0a:a2 dev r-a nud permanent\n"
                              "neigh add fe80::a3 lladdr 02:00:00:00:0a:a3 dev r-a nud permanent\n"
                              "neigh add fe80::a4 lladdr 02:00:00:00:0a:a4 dev r-a nud permanent\n"
                              "route add 2001:db8:f::/48 via fe80::a2 dev r-a\n"),
                   {answered("An echo reply goes by the gateway.", "02:00:00:00:0a:a2"),
                    redirected("Somebody else's redirect.", "fe80::a4", "fe80::a3"),
                    redirected("A redirect that does not come from the link.", kA, "fe80::a3"),
                    redirected("To an address that is not the link's.", kGateway, "2001:db8:a::3"),
                    answered("Nothing has changed.", "02:00:00:00:0a:a2"),
                    redirected("The gateway's.", kGateway, "fe80::a3"),
                    answered("An echo reply goes to whom the redirect named.", "02:00:00:00:0a:a3"),
                    redirected("The one that it named may redirect again.", "fe80::a3", "fe80::a4"),
                    answered("On to the next.", "02:00:00:00:0a:a4")}});
  cases.push_back({"redirect-not-taken-by-a-router",
                   "A device that forwards takes no redirect.",
                   lab_config("neigh add fe80::a2 lladdr 02:00:00:00:0a:a2 dev r-a nud permanent\n"
                              "neigh add fe80::a3 lladdr 02:00:00:00:0a:a3 dev r-a nud permanent\n"
                              "route add 2001:db8:f::/48 via fe80::a2 dev r-a\n"),
                   {redirected("The gateway's.", kGateway, "fe80::a3"),
                    answered("Nothing has changed.", "02:00:00:00:0a:a2")}});
}

}  // namespace

std::vector<Case> mtu_cases() {
  std::vector<Case> cases;
  const Bytes large = a_to_b(1400 - 48);
  const Counters by_device = {{"Ip6InTooBigErrors", 1},   {"Ip6InTooBigErrors@r-a", 1},
                              {"Ip6FragFails", 1},        {"Ip6FragFails@r-b", 1},
                              {"Ip6OutForwDatagrams", 1}, {"Icmp6OutPktTooBigs", 1}};
  const Counters by_route = {{"Ip6InTooBigErrors", 0},
                             {"Ip6FragFails", 1},
                             {"Ip6OutForwDatagrams", 1},
                             {"Icmp6OutPktTooBigs", 1}};
  cases.push_back(
      {"too-big-for-the-device",
       "The egress device's IPv6 MTU, which may be below the device's own.",
       lab_config("sysctl -w net.ipv6.conf.r-b.mtu=1300\n"),
       {refuses("1400 bytes, MTU 1300: the quoted packet has its hop limit as received.", large,
                {.type = 2, .parameter = 1300}, "too_big", by_device),
        forwards("1300 bytes pass.", a_to_b(1300 - 48))}});
  cases.push_back(
      {"too-big-for-the-route",
       "A route's mtu that is not locked is enforced after the hop limit was lowered.",
       lab_config("neigh add 2001:db8:b::9 lladdr 02:00:00:00:0b:02 dev r-b nud permanent\n"
                  "route add 2001:db8:b::2/128 dev r-b mtu 1300\n"),
       {refuses("1400 bytes, route mtu 1300: the quoted hop limit is one lower, only the second "
                "test counts.",
                large, {.type = 2, .parameter = 1300}, "too_big_output", by_route,
                with_hop_limit(large, 63)),
        forwards("1300 bytes pass.", a_to_b(1300 - 48))}});
  cases.push_back({"too-big-for-the-locked-route",
                   "A locked route mtu is enforced like a device's.",
                   lab_config("route add 2001:db8:b::2/128 dev r-b mtu lock 1300\n"),
                   {refuses("1400 bytes, mtu lock 1300.", large, {.type = 2, .parameter = 1300},
                            "too_big", by_device)}});
  const Bytes below = a_to_b(1248 - 48);
  cases.push_back({"route-mtu-below-1280",
                   "A route's mtu below 1280 is taken at its word: even a packet below the minimum "
                   "MTU is refused.",
                   lab_config("route add 2001:db8:b::2/128 dev r-b mtu 1000\n"),
                   {refuses("1248 bytes, route mtu 1000.", below, {.type = 2, .parameter = 1000},
                            "too_big_output", by_route, with_hop_limit(below, 63)),
                    forwards("1000 bytes pass.", a_to_b(1000 - 48))}});
  add_learned_mtus(cases, large, by_route);
  return cases;
}

std::vector<Case> icmp_cases() {
  std::vector<Case> cases;
  const Counters expired = {{"Ip6InHdrErrors", 1}, {"Icmp6OutTimeExcds", 1}};
  const Counters expired_silently = {{"Ip6InHdrErrors", 1}, {"Icmp6OutTimeExcds", 0}};

  const auto transit = [](std::uint8_t type, std::uint8_t hop_limit) {
    return ipv6(kA, kB, {.next_header = 58, .hop_limit = hop_limit},
                icmpv6(kA, kB, type, 0, join({be32(0), filler(48)})));
  };
  // Destination options that claim sixteen bytes, of which eight are there; behind them would be ICMPv6.
  const Bytes cut_off =
      ipv6(kA, kB, {.next_header = 60, .hop_limit = 1}, {58, 1, 1, 4, 0, 0, 0, 0});
  const Bytes second_fragment = ipv6(kA, kB, {.next_header = 44, .hop_limit = 1},
                                     join({fragment(17, 2, false, 7), filler(24)}));
  cases.push_back({"errors-about-errors",
                   "No error is sent about an ICMPv6 error; about any other ICMPv6 message and "
                   "about fragments it is.",
                   lab_config(),
                   {drops("A destination unreachable with hop limit 1.", transit(1, 1),
                          "hop_limit_exceeded", expired_silently),
                    refuses("A neighbor solicitation that is passing by, hop limit 1.",
                            transit(135, 1), {.type = 3}, "hop_limit_exceeded", expired),
                    drops("ICMPv6 that is cut off before its type, hop limit 1.", cut_off,
                          "hop_limit_exceeded", expired_silently),
                    refuses("A fragment that is not the first, hop limit 1.", second_fragment,
                            {.type = 3}, "hop_limit_exceeded", expired)}});

  Case limit{"error-rate-limit",
             "Errors to one host are limited by a bucket of six; Packet Too Big is exempt.",
             lab_config("sysctl -w net.ipv6.icmp.ratelimit=1000\n"
                        "sysctl -w net.ipv6.conf.r-b.mtu=1300\n"),
             {}};
  Step burst = refuses("Thirty packets without a route at once: six errors.", a_to("2001:db9::1"),
                       kNoRouteError, "no_route", {});
  burst.in.count = 30;
  burst.out[0].count = 6;
  burst.counters = {{"Ip6InReceives", 30},
                    {"Ip6InNoRoutes", 30},
                    {"Icmp6OutMsgs", 6},
                    {"Icmp6OutDestUnreachs", 6},
                    {"Icmp6OutRateLimitHost", 24}};
  limit.steps.push_back(std::move(burst));
  const Bytes large = a_to_b(1400 - 48);
  Step too_big = refuses("Thirty packets that are too big: thirty errors.", large,
                         {.type = 2, .parameter = 1300}, "too_big", {});
  too_big.in.count = 30;
  too_big.out[0].count = 30;
  too_big.counters = {
      {"Ip6InReceives", 30}, {"Icmp6OutPktTooBigs", 30}, {"Icmp6OutRateLimitHost", 0}};
  limit.steps.push_back(std::move(too_big));
  cases.push_back(std::move(limit));

  const auto request = [](std::string_view destination) {
    return ipv6(kA, destination, {.next_header = 58}, echo(kA, destination, 128, filler(32)));
  };
  const auto reply = [](std::string_view source) {
    return ipv6(source, kA, {.next_header = 58}, echo(source, kA, 129, filler(32)));
  };
  cases.push_back(
      {"echo",
       "The router answers for every address of its own, whatever link the request came by.",
       lab_config(),
       {answers("To its address on A's link.", request(kRouterA), reply(kRouterA)),
        answers("To its address on the other link.", request(kRouterB), reply(kRouterB)),
        answers("To the link's subnet anycast address: answered from a unicast address.",
                request("2001:db8:a::"), reply(kRouterA))}});

  const Bytes unknown = ipv6(kA, kRouterA, {.next_header = 200}, filler(16));
  cases.push_back(
      {"unknown-next-header",
       "A next header that nobody here takes: parameter problem, pointing at the octet that says "
       "so.",
       lab_config(),
       {refuses("Protocol 200 to the router.", unknown, {.type = 4, .code = 1, .parameter = 6},
                "unknown_protocol", {{"Ip6InUnknownProtos", 1}, {"Icmp6OutParmProblems", 1}}),
        refuses("IPv6 in IPv6 to the router without a segment routing header.",
                ipv6(kA, kRouterA, {.next_header = 41}, a_to_b()),
                {.type = 4, .code = 1, .parameter = 6}, "unknown_protocol",
                {{"Ip6InUnknownProtos", 1}, {"Icmp6OutParmProblems", 1}})}});
  return cases;
}

}  // namespace sidestep::golden
