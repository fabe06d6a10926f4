// SPDX-License-Identifier: Apache-2.0
// What is left out on purpose, because it is not forwarding: upper layers that a host would answer (UDP and TCP to the router), and
// ICMPv6 messages to the router that change its state (neighbor discovery, Packet Too Big, redirects).

#include "kernel/random_packets.hpp"

#include <array>

#include <fmt/format.h>

#include "golden/packets.hpp"

namespace sidestep::kernel {
namespace {

using golden::filler;
using golden::join;

constexpr std::array<std::string_view, 3> kDevices = {"r-a", "r-b", "r-c"};

std::string host(char link, unsigned number) {
  return fmt::format("2001:db8:{}::1:{:x}", link, number);
}

std::string random_route(Dice& dice) {
  static constexpr std::array<std::string_view, 6> kPrefixes = {
      "2001:db8:100::/40",   "2001:db8:100::/48", "2001:db8:101::/48",
      "2001:db8:101::1/128", "default",           "2001:db8:102::/64"};
  const std::string prefix(dice.pick(kPrefixes));
  const std::string table = dice.chance(25) ? " table 100" : "";
  const char link = "abc"[dice.below(3)];
  const std::string mtu = dice.chance(15)
                              ? fmt::format(" mtu {}{}", dice.chance(40) ? "lock " : "",
                                            dice.pick(std::array{1000, 1280, 1300, 1400}))
                              : "";
  const auto roll = dice.below(100);
  if (roll < 8) return fmt::format("route add unreachable {}{}", prefix, table);
  if (roll < 14) return fmt::format("route add prohibit {}{}", prefix, table);
  if (roll < 20) return fmt::format("route add blackhole {}{}", prefix, table);
  if (roll < 25) return fmt::format("route add throw {}{}", prefix, table);
  if (roll < 28) return fmt::format("route add {} dev lo{}", prefix, table);
  if (roll < 33 && prefix != "default") return fmt::format("route add local {} dev lo", prefix);
  if (roll < 45) {
    return fmt::format("route add {} from 2001:db8:a::/64 via {}{}{}", prefix,
                       host(link, dice.below(4) != 0 ? 1 : 2), table, mtu);
  }
  return fmt::format("route add {} via {}{}{}", prefix,
                     host(link, static_cast<unsigned>(dice.below(4))), table, mtu);
}

std::string random_rule(Dice& dice, unsigned preference) {
  static constexpr std::array<std::string_view, 7> kSelectors = {
      "dport 2000-2100",      "ipproto udp", "ipproto ipv6-icmp", "tos 0x10",
      "to 2001:db8:101::/48", "iif r-a",     "uidrange 0-0"};
  static constexpr std::array<std::string_view, 5> kActions = {
      "lookup 100", "unreachable", "prohibit", "blackhole", "lookup 100 suppress_prefixlength 0"};
  return fmt::format("rule add pref {} {} {}", preference, dice.pick(kSelectors),
                     dice.chance(70) ? kActions[0] : dice.pick(kActions));
}

std::string destination(Dice& dice) {
  const auto roll = dice.below(100);
  if (roll < 30) return fmt::format("2001:db8:{:x}::{:x}", 0x100 + dice.below(4), dice.below(3));
  if (roll < 50) return host("bc"[dice.below(2)], static_cast<unsigned>(dice.below(64)));
  if (roll < 55)
    return host('a', static_cast<unsigned>(64 + dice.below(64)));  // back out of the same link
  if (roll < 70) return fmt::format("2001:db8:5::{}", 1 + dice.below(4));     // SIDs
  if (roll < 85) return fmt::format("2001:db8:{}::1", "abc"[dice.below(3)]);  // the router
  if (roll < 87) return fmt::format("2001:db8:{}::", "abc"[dice.below(3)]);
  if (roll < 90)
    return dice.pick(std::array<std::string, 4>{"ff02::1", "ff05::77", "ff01::1", "ff0e::1"});
  if (roll < 92) return dice.pick(std::array<std::string, 3>{"::1", "::", "fe80::ff:fe00:a"});
  return fmt::format("2001:db9::{:x}", dice.below(5));
}

bool is_router(const std::string& address) {
  for (const char link : {'a', 'b', 'c'}) {
    if (address == fmt::format("2001:db8:{}::1", link) ||
        address == fmt::format("2001:db8:{}::", link))
      return true;
  }
  return address.starts_with("fe80::") || address.starts_with("ff") ||
         address.starts_with("2001:db8:1");
}

/// An upper layer and its number.
struct Upper {
  std::uint8_t number = 59;
  Bytes bytes;
};

Upper random_upper(Dice& dice, const std::string& source, const std::string& target,
                   std::size_t size) {
  if (is_router(target)) {
    if (dice.chance(70)) return {58, golden::echo(source, target, 128, filler(size))};
    return {dice.chance(50) ? std::uint8_t{59} : std::uint8_t{200}, filler(size)};
  }
  const auto roll = dice.below(100);
  if (roll < 45) {
    return {17, golden::udp(source, target, 1000, static_cast<std::uint16_t>(1990 + dice.below(30)),
                            filler(size))};
  }
  if (roll < 60) return {58, golden::echo(source, target, 128, filler(size))};
  if (roll < 70) {
    return {58,
            golden::icmpv6(source, target, dice.pick(std::array<std::uint8_t, 5>{1, 2, 3, 4, 135}),
                           0, filler(size + 8))};
  }
  if (roll < 80) return {41, golden::ipv6(source, target, {.next_header = 59}, filler(size))};
  return {59, filler(size)};
}

Bytes random_tlvs(Dice& dice) {
  Bytes tlvs;
  const auto count = dice.below(11);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto roll = dice.below(100);
    if (roll < 50)
      tlvs = join({tlvs, {0x1e, 0}});
    else if (roll < 60)
      tlvs = join({tlvs, {1, 2, 0, 0}});
    else if (roll < 65)
      tlvs = join({tlvs, {1, 2, 0, 1}});
    else if (roll < 70)
      tlvs = join({tlvs, {0x5e, 1, 0}});
    else if (roll < 75)
      tlvs = join({tlvs, {0x9e, 1, 0}});
    else if (roll < 80)
      tlvs = join({tlvs, {0xde, 0}});
    else if (roll < 85)
      tlvs = join({tlvs, {5, 2, 0, 0}});
    else if (roll < 88)
      tlvs = join({tlvs, {0xc2, 4, 0, 1, 0, 0}});
    else
      tlvs.push_back(0);
  }
  while ((tlvs.size() + 2) % 8 != 0) tlvs.push_back(0);
  return tlvs;
}

std::string random_segment(Dice& dice) {
  const auto roll = dice.below(100);
  if (roll < 50) return host("bc"[dice.below(2)], static_cast<unsigned>(dice.below(64)));
  if (roll < 70) return fmt::format("2001:db8:5::{}", 1 + dice.below(4));
  if (roll < 80) return fmt::format("2001:db8:{}::1", "abc"[dice.below(3)]);
  return destination(dice);
}

Bytes random_srh(Dice& dice, std::uint8_t next, std::string& target) {
  const auto count = 1 + dice.below(3);
  std::vector<std::string> segments;
  for (std::uint64_t i = 0; i < count; ++i) segments.push_back(random_segment(dice));
  std::vector<std::string_view> views(segments.begin(), segments.end());
  golden::SrhFields fields;
  fields.segments_left =
      static_cast<std::uint8_t>(dice.chance(80) ? dice.below(count + 1) : dice.below(5));
  if (dice.chance(8)) fields.last_entry = static_cast<int>(dice.below(6));
  if (fields.segments_left > 0 && fields.segments_left <= count) target = segments[0];
  return golden::srh(
      next, fields, views,
      dice.chance(15) ? (dice.chance(70) ? Bytes(8) : Bytes{4, 5, 0, 0, 0, 0, 0, 0}) : Bytes{});
}

/// Puts a random extension header before what is there.
void prepend_header(Dice& dice, Upper& upper, std::string& target) {
  const auto roll = dice.below(100);
  if (roll < 15) {
    upper = {0, join({golden::options(upper.number, random_tlvs(dice)), upper.bytes})};
  } else if (roll < 30) {
    upper = {60, join({golden::options(upper.number, random_tlvs(dice)), upper.bytes})};
  } else if (roll < 38) {
    upper = {44, join({golden::fragment(upper.number, static_cast<std::uint16_t>(dice.below(3)),
                                        dice.chance(50), 7),
                       upper.bytes})};
  } else if (roll < 48) {
    const auto type = dice.pick(std::array<std::uint8_t, 4>{0, 2, 3, 253});
    upper = {43, join({golden::routing(upper.number, type, static_cast<std::uint8_t>(dice.below(2)),
                                       random_segment(dice)),
                       upper.bytes})};
  } else {
    const Bytes header = random_srh(dice, upper.number, target);
    upper = {43, join({header, upper.bytes})};
  }
}

}  // namespace

std::vector<std::string> random_forwarding_config(std::uint64_t seed) {
  Dice dice(seed);
  std::vector<std::string> lines = {"sysctl -w net.ipv6.icmp.ratelimit=0",
                                    "sysctl -w net.ipv6.auto_flowlabels=0"};
  lines.push_back(
      fmt::format("sysctl -w net.ipv6.conf.all.forwarding={}", dice.chance(93) ? 1 : 0));
  for (std::size_t i = 0; i < kDevices.size(); ++i) {
    const char link = "abc"[i];
    lines.push_back(fmt::format("link add name {} address 02:00:00:00:00:0{} mtu {} type dummy",
                                kDevices[i], link,
                                i == 0 ? 9000 : dice.pick(std::array{1280, 1400, 1500, 1500})));
    lines.push_back(fmt::format("link set {} up", kDevices[i]));
    lines.push_back(fmt::format("address add 2001:db8:{}::1/64 dev {}", link, kDevices[i]));
  }
  for (unsigned number = 0; number < 128; ++number) {
    for (std::size_t i = 0; i < kDevices.size(); ++i) {
      if (i != 0 && number >= 64) continue;
      lines.push_back(fmt::format("neigh add {} lladdr 02:00:00:0{}:01:{:02x} dev {} nud permanent",
                                  host("abc"[i], number), "abc"[i], number, kDevices[i]));
    }
  }
  if (dice.chance(20)) lines.push_back("sysctl -w net.ipv6.conf.r-b.mtu=1300");
  if (dice.chance(70)) {
    lines.push_back("sysctl -w net.ipv6.conf.all.seg6_enabled=1");
    lines.push_back("sysctl -w net.ipv6.conf.r-a.seg6_enabled=1");
  }
  if (dice.chance(15)) lines.push_back("sysctl -w net.ipv6.conf.r-a.forwarding=0");
  if (dice.chance(10)) lines.push_back("sysctl -w net.ipv6.conf.r-a.force_forwarding=1");
  if (dice.chance(10))
    lines.push_back("sysctl -w net.ipv6.conf.r-a.drop_unicast_in_l2_multicast=1");
  if (dice.chance(10)) lines.push_back("sysctl -w net.ipv6.icmp.echo_ignore_anycast=1");
  if (dice.chance(5)) lines.push_back("sysctl -w net.ipv6.icmp.echo_ignore_all=1");
  lines.push_back("route add 2001:db8:5::1/128 encap seg6local action End dev r-b");
  lines.push_back("route add 2001:db8:5::2/128 encap seg6local action End flavors psp dev r-b");
  lines.push_back("route add 2001:db8:5::3/128 encap seg6local action End dev r-c table 100");
  const auto routes = 2 + dice.below(8);
  for (std::uint64_t i = 0; i < routes; ++i) lines.push_back(random_route(dice));
  const auto rules = dice.chance(60) ? 1 + dice.below(3) : 0;
  for (std::uint64_t i = 0; i < rules; ++i)
    lines.push_back(random_rule(dice, static_cast<unsigned>(10 + i)));
  return lines;
}

DeviceFrame random_frame(Dice& dice, unsigned index) {
  std::string source = host('a', index);
  if (dice.chance(4)) {
    source = dice.pick(std::array<std::string, 4>{"::", "::1", "ff02::5", "fe80::77"});
  }
  const std::string first = destination(dice);
  std::string last = first;
  const std::size_t size = dice.chance(80) ? dice.below(100) : 1200 + dice.below(400);
  Upper upper = random_upper(dice, source, first, size);
  for (unsigned i = 0; i < 2 && dice.chance(40); ++i) prepend_header(dice, upper, last);
  // An upper layer that the router would answer must not reach it behind a segment routing header.
  if (is_router(last) && !is_router(first) && (upper.number != 59)) upper = {59, upper.bytes};
  golden::Header header{.next_header = upper.number};
  header.hop_limit = dice.chance(85) ? std::uint8_t{64} : static_cast<std::uint8_t>(dice.below(4));
  if (dice.chance(15)) header.traffic_class = static_cast<std::uint8_t>(dice.below(256));
  if (dice.chance(15)) header.flow_label = static_cast<std::uint32_t>(dice.below(0x100000));
  if (dice.chance(6)) header.payload_length = static_cast<int>(dice.below(upper.bytes.size() + 12));
  Bytes packet = golden::ipv6(source, first, header, upper.bytes);
  if (dice.chance(4)) packet.resize(dice.below(packet.size()) + 1);
  if (dice.chance(5)) packet = join({packet, filler(1 + dice.below(10))});
  if (dice.chance(2)) packet[0] = static_cast<std::uint8_t>(packet[0] ^ 0x10);
  const std::string own = "02:00:00:00:00:0a";
  const auto roll = dice.below(100);
  const std::string mac = roll < 92   ? own
                          : roll < 94 ? "ff:ff:ff:ff:ff:ff"
                          : roll < 97 ? "33:33:00:00:00:01"
                                      : "02:00:00:00:00:99";
  return {"r-a", golden::frame(mac, fmt::format("02:00:00:0a:01:{:02x}", index), packet)};
}

}  // namespace sidestep::kernel
