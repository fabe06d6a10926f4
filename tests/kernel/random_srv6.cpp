// SPDX-License-Identifier: Apache-2.0
// The router is small, so that packets meet what is configured:
//
//     2001:db8:5::1 … ::12          SIDs, each with a behavior of its own
//     fcbb:0:1::/48, fcbb:0:2::/48  SIDs with NEXT-C-SID
//     2001:db8:47::/64 … 4c::/64    routes that encapsulate
//     2001:db8:b::1:0 … ::1:7       neighbors on r-b, the same on r-c; 2001:db8:66::/64 is behind one of them
//
// Packets never go back out of the device that they came by, because redirects are limited by time; what a host would do
// (answer UDP) is left out as well.

#include "kernel/random_srv6.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "golden/packets.hpp"
#include "srv6/hmac.hpp"

namespace sidestep::kernel {
namespace {

using golden::filler;
using golden::join;

constexpr unsigned kSids = 12;
constexpr unsigned kHeadends = 6;
constexpr unsigned kNeighbors = 8;
constexpr std::string_view kSender = "2001:db8:a::2";
constexpr std::string_view kSecret5 = "sidestep";
constexpr std::string_view kSecret6 = "another-secret";

std::string neighbor(Dice& dice) {
  return fmt::format("2001:db8:{}::1:{}", "bc"[dice.below(2)], dice.below(kNeighbors));
}
std::string sid(Dice& dice) { return fmt::format("2001:db8:5::{}", 1 + dice.below(kSids)); }

/// Where a packet or a segment may lead.
std::string address(Dice& dice) {
  const auto roll = dice.below(100);
  if (roll < 35) return neighbor(dice);
  if (roll < 65) return sid(dice);
  if (roll < 72) return fmt::format("fcbb:0:{}::", 1 + dice.below(2));
  if (roll < 78) return fmt::format("fcbb:0:1:2:{}::", 1 + dice.below(3));
  if (roll < 84) return fmt::format("2001:db8:{}::1", "abc"[dice.below(3)]);
  if (roll < 88) return fmt::format("2001:db8:66::{}", dice.below(4));
  if (roll < 95) return fmt::format("2001:db8:{:x}::1", 0x47 + dice.below(kHeadends));
  return "2001:db9::1";
}

std::string segments(Dice& dice, unsigned most) {
  std::string text;
  const auto count = 1 + dice.below(most);
  for (std::uint64_t i = 0; i < count; ++i) text += (i == 0 ? "" : ",") + address(dice);
  return text;
}
std::string hmac(Dice& dice) {
  return dice.chance(20) ? fmt::format(" hmac {}", 5 + dice.below(3)) : "";
}
std::string table(Dice& dice) {
  return std::string(dice.pick(std::array<std::string_view, 4>{"main", "100", "local", "101"}));
}

std::string behavior(Dice& dice) {
  switch (dice.below(10)) {
    case 0:
      return "End";
    case 1:
      return "End flavors psp";
    case 2:
      return "End.X nh6 " + address(dice);
    case 3:
      return fmt::format("End.X nh6 fe80::99 oif r-{}", "bc"[dice.below(2)]);
    case 4:
      return "End.T table " + table(dice);
    case 5:
      return "End.DX6 nh6 " + (dice.chance(40) ? std::string("::") : neighbor(dice));
    case 6:
      return "End.DT6 table " + table(dice);
    case 7:
      return fmt::format("End.DX2 oif r-{}", "bc"[dice.below(2)]);
    case 8:
      return "End.B6 srh segs " + segments(dice, 3) + hmac(dice);
    default:
      return "End.B6.Encaps srh segs " + segments(dice, 3) + hmac(dice);
  }
}

void add_devices(std::vector<std::string>& lines) {
  for (const char link : {'a', 'b', 'c'}) {
    lines.push_back(
        fmt::format("link add name r-{0} address 02:00:00:00:00:0{0} mtu {1} type dummy", link,
                    link == 'a' ? 9000 : 1500));
    lines.push_back(fmt::format("link set r-{} up", link));
    lines.push_back(fmt::format("address add 2001:db8:{0}::1/64 dev r-{0}", link));
    lines.push_back(
        fmt::format("neigh add fe80::99 lladdr 02:00:00:00:0{0}:99 dev r-{0} nud permanent", link));
  }
  lines.push_back(
      fmt::format("neigh add {} lladdr 02:00:00:00:0a:02 dev r-a nud permanent", kSender));
  for (const char link : {'b', 'c'}) {
    for (unsigned i = 0; i < kNeighbors; ++i) {
      lines.push_back(fmt::format(
          "neigh add 2001:db8:{0}::1:{1} lladdr 02:00:00:00:0{0}:1{1} dev r-{0} nud permanent",
          link, i));
    }
  }
}

/// An inner packet, or what else the outer one may carry.
struct Payload {
  std::uint8_t number = 59;
  Bytes bytes;
};

std::size_t size_of(Dice& dice) {
  return dice.chance(90) ? dice.below(60) : 1300 + dice.below(300);
}

Bytes inner_packet(Dice& dice) {
  const std::string source = dice.chance(85) ? std::string(kSender) : "2001:db8:77::1";
  golden::Header header;
  header.hop_limit = dice.chance(90) ? std::uint8_t{64} : static_cast<std::uint8_t>(dice.below(3));
  header.traffic_class = static_cast<std::uint8_t>(dice.below(256));
  header.flow_label = static_cast<std::uint32_t>(dice.below(0x100000));
  return golden::ipv6(source, address(dice), header, filler(size_of(dice)));
}

Payload random_payload(Dice& dice) {
  const auto roll = dice.below(100);
  if (roll < 45) return {41, inner_packet(dice)};
  if (roll < 65) {
    const Bytes frame = golden::frame("02:00:00:00:77:01", "02:00:00:00:77:02", inner_packet(dice));
    return {143, frame};
  }
  return {59, filler(size_of(dice))};
}

/// The keys of the configuration; nobody knows number 7.
const srv6::HmacSecrets& secrets() {
  using srv6::HmacAlgorithm;
  using srv6::HmacSecret;
  static const srv6::HmacSecrets known = {{5, HmacSecret(HmacAlgorithm::kSha256, kSecret5)},
                                          {6, HmacSecret(HmacAlgorithm::kSha1, kSecret6)}};
  return known;
}

Bytes hmac_tlv(std::uint8_t key) {
  Bytes tlv{5, 38, 0, 0, 0, 0, 0, key};
  tlv.resize(40);
  return tlv;
}

/// Fills in what the TLV at the end of the SRH should say, when the key is known.
void sign(Bytes& srh, std::uint8_t key) {
  const auto found = secrets().find(key);
  if (found == secrets().end()) return;
  const auto digest = srv6::sign_srh(srh, *net::Ipv6Address::parse(kSender), key, found->second);
  std::copy(digest.begin(), digest.end(), srh.end() - 32);
}

/// Puts an SRH in front; the packet's destination is to be `target`.
void prepend_srh(Dice& dice, Payload& payload, std::string& target) {
  const auto count = 1 + dice.below(4);
  std::vector<std::string> list;
  for (std::uint64_t i = 0; i < count; ++i) list.push_back(address(dice));
  golden::SrhFields fields;
  fields.segments_left = static_cast<std::uint8_t>(dice.chance(95) ? dice.below(count + 1) : 6);
  if (dice.chance(50) && fields.segments_left < count) list[fields.segments_left] = target;
  Bytes tlvs;
  if (dice.chance(10)) tlvs = Bytes(8);
  const auto key = static_cast<std::uint8_t>(5 + dice.below(3));
  const bool has_hmac = dice.chance(20);
  if (has_hmac) {
    tlvs = hmac_tlv(key);
    fields.flags = 8;
  }
  const std::vector<std::string_view> views(list.begin(), list.end());
  Bytes srh = golden::srh(payload.number, fields, views, tlvs);
  if (has_hmac && dice.chance(75)) sign(srh, key);
  payload = {43, join({srh, payload.bytes})};
}

void prepend_other(Dice& dice, Payload& payload) {
  const auto roll = dice.below(100);
  if (roll < 40) {
    payload = {60, join({golden::options(payload.number, {1, 4, 0, 0, 0, 0}), payload.bytes})};
  } else if (roll < 60) {
    payload = {
        44,
        join({golden::fragment(payload.number, static_cast<std::uint16_t>(dice.below(2)), true, 7),
              payload.bytes})};
  } else {
    payload = {43, join({golden::routing(payload.number, static_cast<std::uint8_t>(dice.below(5)),
                                         static_cast<std::uint8_t>(dice.below(2)), address(dice)),
                         payload.bytes})};
  }
}

/// Changes bytes, most of them where headers have their lengths, types and counts. The source stays: errors go there.
void mutate(Dice& dice, Bytes& packet) {
  constexpr std::size_t kHeader = 40;
  static constexpr std::array<std::uint8_t, 18> kTelling = {
      0, 1, 2, 3, 5, 6, 8, 40, 41, 43, 44, 59, 60, 127, 143, 200, 254, 255};
  const auto changes = 1 + dice.below(3);
  for (std::uint64_t i = 0; i < changes; ++i) {
    const auto roll = dice.below(100);
    std::size_t at = kHeader + 8 * dice.below(8) + dice.below(6);
    if (roll < 10) at = 4 + dice.below(4);
    if (roll >= 10 && roll < 20) at = 24 + dice.below(16);
    if (roll >= 80) at = kHeader + dice.below(packet.size() - kHeader + 1);
    if (at >= packet.size()) continue;
    packet[at] = dice.chance(70) ? dice.pick(kTelling) : static_cast<std::uint8_t>(dice.below(256));
  }
  if (dice.chance(20)) packet.resize(kHeader + dice.below(packet.size() - kHeader + 1));
  if (dice.chance(60)) {  // a length that is true again, so that what is inside is reached
    packet[4] = static_cast<std::uint8_t>((packet.size() - kHeader) >> 8);
    packet[5] = static_cast<std::uint8_t>(packet.size() - kHeader);
  }
}

}  // namespace

std::vector<std::string> random_srv6_config(std::uint64_t seed) {
  Dice dice(seed);
  std::vector<std::string> lines = {
      "sysctl -w net.ipv6.conf.all.forwarding=1", "sysctl -w net.ipv6.icmp.ratemask=0",
      "sysctl -w net.ipv6.auto_flowlabels=0", fmt::format("sr hmac set 5 sha256 {}", kSecret5),
      fmt::format("sr hmac set 6 sha1 {}", kSecret6)};
  add_devices(lines);
  if (dice.chance(75)) {
    lines.emplace_back("sysctl -w net.ipv6.conf.all.seg6_enabled=1");
    lines.emplace_back("sysctl -w net.ipv6.conf.r-a.seg6_enabled=1");
  }
  const int require_hmac = dice.chance(60) ? 0 : static_cast<int>(dice.below(3)) - 1;
  lines.push_back(fmt::format("sysctl -w net.ipv6.conf.r-a.seg6_require_hmac={}", require_hmac));
  lines.push_back(fmt::format("sysctl -w net.ipv6.seg6_flowlabel={}", dice.chance(70) ? 0 : -1));
  if (dice.chance(50)) lines.emplace_back("sr tunsrc set 2001:db8:1234::1");
  lines.emplace_back("route add 2001:db8:66::/64 via 2001:db8:b::1:1");
  lines.emplace_back("route add 2001:db8:66::/64 via 2001:db8:c::1:2 table 100");
  lines.emplace_back("route add 2001:db8:b::/64 dev r-b table 100");
  lines.emplace_back("route add throw 2001:db8:c::/64 table 100");
  if (dice.chance(30)) lines.emplace_back("route add blackhole 2001:db9::/64");
  for (unsigned i = 1; i <= kSids; ++i) {
    lines.push_back(fmt::format("route add 2001:db8:5::{} encap seg6local action {} count dev r-{}",
                                i, behavior(dice), "bc"[dice.below(2)]));
  }
  lines.push_back(fmt::format(
      "route add fcbb:0:1::/48 encap seg6local action End flavors next-csid{} count dev r-b",
      dice.chance(30) ? ",psp" : ""));
  lines.push_back(fmt::format(
      "route add fcbb:0:2::/48 encap seg6local action End.X nh6 {} flavors next-csid count dev r-b",
      neighbor(dice)));
  static constexpr std::array<std::string_view, 5> kModes = {"encap", "encap.red", "inline",
                                                             "l2encap", "l2encap.red"};
  for (unsigned i = 0; i < kHeadends; ++i) {
    lines.push_back(
        fmt::format("route add 2001:db8:{:x}::/64 encap seg6 mode {} segs {}{} dev r-{}", 0x47 + i,
                    dice.pick(kModes), segments(dice, 3), hmac(dice), "bc"[dice.below(2)]));
  }
  return lines;
}

DeviceFrame random_srv6_frame(Dice& dice) {
  Payload payload = random_payload(dice);
  std::string target = dice.chance(70) ? sid(dice) : address(dice);
  if (dice.chance(75)) prepend_srh(dice, payload, target);
  if (dice.chance(15)) prepend_srh(dice, payload, target);
  if (dice.chance(15)) prepend_other(dice, payload);
  golden::Header header{.next_header = payload.number};
  header.hop_limit = dice.chance(90) ? std::uint8_t{64} : static_cast<std::uint8_t>(dice.below(4));
  header.traffic_class = static_cast<std::uint8_t>(dice.below(256));
  header.flow_label = static_cast<std::uint32_t>(dice.below(0x100000));
  Bytes packet = golden::ipv6(kSender, target, header, payload.bytes);
  if (dice.chance(60)) mutate(dice, packet);
  return {"r-a", golden::frame("02:00:00:00:00:0a", "02:00:00:00:0a:02", packet)};
}

}  // namespace sidestep::kernel
