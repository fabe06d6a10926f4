// SPDX-License-Identifier: Apache-2.0
// The universe is kept small on purpose: nine prefixes that nest, four source prefixes, five tables, a dozen gateways, three metrics.
// In it routes collide, shadow each other, and fail to be added, which is what the two implementations must agree on.
//
//   device k has 2001:db8:k::1/64 and neighbors 2001:db8:k::2 … ::9, fe80::k:2 …
//   destinations live in 2001:db8:100::/40, sources in 2001:db8:200::/40

#include "kernel/random_config.hpp"

#include <array>
#include <string_view>

#include <fmt/format.h>

namespace sidestep::kernel {
namespace {

constexpr std::array<std::string_view, 14> kDestinations = {"default",
                                                            "2001:db8:100::/40",
                                                            "2001:db8:100::/48",
                                                            "2001:db8:100::/64",
                                                            "2001:db8:100:0:8000::/65",
                                                            "2001:db8:101::/48",
                                                            "2001:db8:101::/64",
                                                            "2001:db8:101::1/128",
                                                            "2001:db8:101::2/127",
                                                            "2000::/3",
                                                            "2001:db8:102::/47",
                                                            "fe80:1::/64",
                                                            "2001:db8:1::/64",
                                                            "ff05::/16"};
constexpr std::array<std::string_view, 5> kSources = {
    "2001:db8:200::/40", "2001:db8:200::/48", "2001:db8:201::/64", "2001:db8:1::/64", "::/0"};
constexpr std::array<std::string_view, 5> kTables = {"main", "100", "101", "102", "local"};
constexpr std::array<unsigned, 4> kMetrics = {10, 20, 256, 1024};

class Generator {
 public:
  Generator(RandomConfig& config, Dice& dice) : dice_(dice), config_(config) {}

  void make_router() {
    make_devices();
    make_addresses();
    make_neighbors();
    const auto routes = 4 + dice_.below(22);
    config_.has_objects = dice_.chance(50);
    if (config_.has_objects) make_nexthops();
    for (std::uint64_t i = 0; i < routes; ++i) add(route_line(config_.has_objects));
    if (dice_.chance(70)) make_rules();
    if (dice_.chance(60)) make_events(config_.has_objects);
  }

  void make_updates() {
    const auto count = 1 + dice_.below(8);
    for (std::uint64_t i = 0; i < count; ++i) make_update();
  }

 private:
  void add(std::string line) { config_.lines.push_back(std::move(line)); }
  std::size_t device_count() const { return config_.devices.size(); }
  const std::string& device() { return dice_.pick(config_.devices); }
  std::string any_device() { return dice_.chance(6) ? "lo" : device(); }
  std::string table() { return std::string(dice_.chance(55) ? kTables[0] : dice_.pick(kTables)); }

  void make_devices() {
    static constexpr std::array<std::string_view, 5> kNames = {"west", "east", "north", "south",
                                                               "core"};
    const auto count = 2 + dice_.below(4);
    if (dice_.chance(75)) add("sysctl -w net.ipv6.conf.all.forwarding=1");
    if (dice_.chance(20)) add("sysctl -w net.ipv6.conf.default.accept_dad=0");
    if (dice_.chance(20)) add("sysctl -w net.ipv6.conf.default.ignore_routes_with_linkdown=1");
    for (std::uint64_t i = 0; i < count; ++i) {
      config_.devices.emplace_back(kNames[i]);
      add(fmt::format("link add name {} address 02:00:00:00:00:{:02x} mtu 1500 type dummy",
                      kNames[i], i + 1));
      if (dice_.chance(30)) add(fmt::format("link set {} group {}", kNames[i], 1 + dice_.below(2)));
    }
    for (const auto& name : config_.devices) {
      if (!dice_.chance(5)) add(fmt::format("link set {} up", name));
      if (dice_.chance(15))
        add(fmt::format("sysctl -w net.ipv6.conf.{}.ignore_routes_with_linkdown=1", name));
      if (dice_.chance(15))
        add(fmt::format("sysctl -w net.ipv6.conf.{}.forwarding={}", name, dice_.below(2)));
      if (dice_.chance(10))
        add(fmt::format("sysctl -w net.ipv6.conf.{}.keep_addr_on_down=1", name));
    }
  }

  void make_addresses() {
    for (std::size_t i = 0; i < device_count(); ++i) {
      if (!dice_.chance(7))
        add(fmt::format("address add 2001:db8:{}::1/64 dev {}", i + 1, config_.devices[i]));
      if (dice_.chance(20)) {
        add(fmt::format("address add 2001:db8:{}::{:x}/{} dev {}", 1 + dice_.below(device_count()),
                        1 + dice_.below(3), dice_.pick(std::array{64, 127, 128, 48}),
                        config_.devices[i]));
      }
      if (dice_.chance(10)) {
        add(fmt::format("address add 2001:db8:{}::aa/64 dev {} noprefixroute", i + 1,
                        config_.devices[i]));
      }
      if (dice_.chance(8)) {
        add(fmt::format("address add 2001:db8:7{}::1/64 dev {} metric {}", i, config_.devices[i],
                        dice_.pick(kMetrics)));
      }
      if (dice_.chance(5))
        add(fmt::format("address add 2001:db8:{}::1/64 dev {}", i + 1, config_.devices[i]));
    }
  }

  void make_neighbors() {
    static constexpr std::array<std::string_view, 4> kStates = {"permanent", "failed", "reachable",
                                                                "stale"};
    const auto count = dice_.below(8);
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto k = dice_.below(device_count());
      add(fmt::format("neigh replace 2001:db8:{}::{:x} lladdr 02:00:00:00:0{}:{:02x} dev {} nud {}",
                      k + 1, 2 + dice_.below(6), k + 1, i + 2, config_.devices[k],
                      dice_.chance(50) ? kStates[1] : dice_.pick(kStates)));
    }
  }

  /// A gateway and, most of the time, its device.
  std::string gateway() {
    const auto k = dice_.below(device_count());
    const auto host = 2 + dice_.below(6);
    const auto roll = dice_.below(100);
    if (roll < 45) return fmt::format("via 2001:db8:{}::{:x}", k + 1, host);
    if (roll < 70)
      return fmt::format("via 2001:db8:{}::{:x} dev {}", k + 1, host, config_.devices[k]);
    if (roll < 82) return fmt::format("via fe80::{:x}:{:x} dev {}", k + 1, host, device());
    if (roll < 86) return fmt::format("via fe80::{:x}:{:x}", k + 1, host);  // needs a device
    if (roll < 90)
      return fmt::format("via 2001:db8:{}::1 dev {}", k + 1, device());  // a local address
    if (roll < 94)
      return fmt::format("via 2001:db8:{}::{:x} dev {}", k + 1, host,
                         device());  // maybe the wrong device
    if (roll < 97) return fmt::format("via 2001:db8:5555::{:x} dev {} onlink", host, device());
    return fmt::format("via 2001:db8:101::{:x}", host);  // maybe through a gateway itself
  }

  std::string multipath() {
    std::string text;
    const auto count = 2 + dice_.below(3);
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto k = dice_.below(device_count());
      text += dice_.chance(96)
                  ? fmt::format(" nexthop via 2001:db8:{}::{:x}", k + 1, 2 + dice_.below(6))
                  : fmt::format(" nexthop dev {}", device());
      if (dice_.chance(30)) text += fmt::format(" dev {}", config_.devices[k]);
      if (dice_.chance(40)) text += fmt::format(" weight {}", 1 + dice_.below(5));
    }
    return text;
  }

  /// Protocols are named, never numbered: `ip -batch` of iproute2 6.1 takes a name that follows a number for that number.
  std::string attributes() {
    std::string text;
    if (const auto t = table(); t != "main") text += " table " + t;
    if (dice_.chance(60)) text += fmt::format(" metric {}", dice_.pick(kMetrics));
    if (dice_.chance(15))
      text += fmt::format(" proto {}", dice_.pick(std::array{"static", "bgp", "boot", "babel"}));
    if (dice_.chance(6))
      text += fmt::format(" src 2001:db8:{}::1", 1 + dice_.below(device_count()));
    if (dice_.chance(8))
      text += fmt::format(" mtu {}{}", dice_.chance(30) ? "lock " : "", 1280 + dice_.below(200));
    if (dice_.chance(8))
      text += fmt::format(" pref {}", dice_.pick(std::array{"low", "medium", "high"}));
    if (dice_.chance(4)) text += " expires 1000";
    return text;
  }

  std::string verb() {
    const auto roll = dice_.below(100);
    if (roll < 55) return "add";
    if (roll < 75) return "append";
    if (roll < 85) return "replace";
    if (roll < 89) return "change";
    if (roll < 93) return "prepend";
    return "del";
  }

  std::string route_line(bool objects) {
    const std::string head = "route " + verb() + " ";
    const std::string destination(dice_.pick(kDestinations));
    const std::string source =
        dice_.chance(22) ? fmt::format(" from {}", dice_.pick(kSources)) : "";
    const auto roll = dice_.below(100);
    if (roll < 12) {
      static constexpr std::array<std::string_view, 4> kRejects = {"unreachable", "prohibit",
                                                                   "blackhole", "throw"};
      return fmt::format("{}{} {}{}{}", head, dice_.pick(kRejects), destination, source,
                         attributes());
    }
    if (roll < 15)
      return fmt::format("{}local {}{} dev lo{}", head, destination, source, attributes());
    if (roll < 17)
      return fmt::format("{}anycast {}{} dev {}{}", head, destination, source, any_device(),
                         attributes());
    if (roll < 19)
      return fmt::format("{}multicast {}{} dev {}{}", head, destination, source, device(),
                         attributes());
    if (roll < 40)
      return fmt::format("{}{}{} dev {}{}", head, destination, source, any_device(), attributes());
    if (roll < 55)
      return fmt::format("{}{}{}{}{}", head, destination, source, attributes(), multipath());
    if (objects && roll < 72) {
      return fmt::format("{}{}{} nhid {}{}", head, destination, dice_.chance(15) ? source : "",
                         1 + dice_.below(8), attributes());
    }
    return fmt::format("{}{}{} {}{}", head, destination, source, gateway(), attributes());
  }

  std::string nexthop_line() {
    const std::string head =
        fmt::format("nexthop {} id {} ", dice_.chance(85) ? "add" : "replace", 1 + dice_.below(8));
    const auto roll = dice_.below(100);
    if (roll < 10) return head + "blackhole";
    if (roll < 30) return head + "dev " + device();
    if (roll < 65) {
      const std::string via = gateway();
      // Without a device the language refuses it, as the kernel would.
      return head + via + (via.find(" dev ") == std::string::npos ? " dev " + device() : "");
    }
    std::string group;
    const auto count = 1 + dice_.below(3);
    for (std::uint64_t i = 0; i < count; ++i) {
      if (i != 0) group += "/";
      group += std::to_string(1 + dice_.below(6));
      if (dice_.chance(30)) group += fmt::format(",{}", 1 + dice_.below(4));
    }
    return head + "group " + group;
  }

  void make_nexthops() {
    const auto count = 3 + dice_.below(8);
    for (std::uint64_t i = 0; i < count; ++i) add(nexthop_line());
  }

  std::string selectors() {
    std::string text;
    if (dice_.chance(8)) text += " not";
    if (dice_.chance(30)) text += fmt::format(" from {}", dice_.pick(kSources));
    if (dice_.chance(20)) text += fmt::format(" to {}", kDestinations[1 + dice_.below(7)]);
    if (dice_.chance(15))
      text += fmt::format(" iif {}", dice_.chance(20)   ? "lo"
                                     : dice_.chance(10) ? "absent"
                                                        : device());
    if (dice_.chance(10)) text += fmt::format(" oif {}", device());
    if (dice_.chance(15))
      text += fmt::format(" fwmark {}", dice_.pick(std::array{"1", "0x2/0x3", "0/0xff", "3"}));
    if (dice_.chance(10))
      text += fmt::format(" uidrange {}", dice_.pick(std::array{"0-0", "1-100", "0-1000"}));
    if (dice_.chance(10))
      text += fmt::format(" ipproto {}", dice_.pick(std::array{"tcp", "udp", "ipv6-icmp"}));
    if (dice_.chance(8))
      text += fmt::format(" sport {}", dice_.pick(std::array{"100", "1-200", "1000-2000"}));
    if (dice_.chance(8))
      text += fmt::format(" dport {}", dice_.pick(std::array{"53", "50-60", "100-65534"}));
    if (dice_.chance(3)) text += " tun_id 5";
    if (dice_.chance(10)) {
      text += fmt::format(
          " {}", dice_.pick(std::array{"tos 0x10", "tos 0x20", "dscp 4", "dscp 0", "dscp 4/0x3c"}));
    }
    if (dice_.chance(8))
      text += fmt::format(" flowlabel {}", dice_.pick(std::array{"0x1", "0x5/0xf", "0/0xff"}));
    return text;
  }

  std::string rule_line(unsigned preference) {
    std::string text = fmt::format("rule add pref {}{}", preference, selectors());
    const auto roll = dice_.below(100);
    if (roll < 70) {
      text += " lookup " + std::string(dice_.pick(kTables));
      if (dice_.chance(20))
        text += fmt::format(" suppress_prefixlength {}", dice_.pick(std::array{0, 8, 40, 64, 127}));
      if (dice_.chance(10)) text += fmt::format(" suppress_ifgroup {}", dice_.below(3));
      return text;
    }
    if (roll < 76) return text + fmt::format(" goto {}", preference + 1 + dice_.below(30));
    if (roll < 78) return text + fmt::format(" goto {}", preference);  // backward: refused
    if (roll < 84) return text + " unreachable";
    if (roll < 90) return text + " prohibit";
    if (roll < 95) return text + " blackhole";
    return text + " nop";
  }

  void make_rules() {
    const auto count = 1 + dice_.below(9);
    for (std::uint64_t i = 0; i < count; ++i)
      add(rule_line(static_cast<unsigned>(10 + dice_.below(40))));
    if (dice_.chance(5)) add(fmt::format("rule add pref {} l3mdev", 10 + dice_.below(40)));
    if (dice_.chance(20)) add("rule add lookup 100");
    if (dice_.chance(10)) add("rule add pref 20 lookup 101");
    if (dice_.chance(8)) add("rule del pref 32766");
    if (dice_.chance(4)) add("rule del pref 0");
    if (dice_.chance(15)) add(fmt::format("rule del pref {}", 10 + dice_.below(40)));
    if (dice_.chance(10)) add("rule add pref 0 lookup 102");
  }

  void make_events(bool objects) {
    const auto count = 1 + dice_.below(4);
    for (std::uint64_t i = 0; i < count; ++i) make_event(objects);
  }

  void make_event(bool objects) {
    const auto roll = dice_.below(100);
    if (roll < 20)
      add(fmt::format("link set {} down", device()));
    else if (roll < 40)
      add(fmt::format("link set {} carrier off", device()));
    else if (roll < 48)
      add(fmt::format("link set {} carrier on", device()));
    else if (roll < 56)
      add(fmt::format("link set {} up", device()));
    else if (roll < 62)
      add(fmt::format("sysctl -w net.ipv6.conf.{}.ignore_routes_with_linkdown={}", device(),
                      dice_.below(2)));
    else if (roll < 67)
      add(fmt::format("sysctl -w net.ipv6.conf.all.forwarding={}", dice_.below(2)));
    else if (roll < 73)
      add(fmt::format("address del 2001:db8:{}::1/64 dev {}", 1 + dice_.below(device_count()),
                      device()));
    else if (roll < 78 && objects)
      add(fmt::format("nexthop del id {}", 1 + dice_.below(8)));
    else if (roll < 84 && objects)
      add(nexthop_line());
    else if (roll < 88)
      add(fmt::format("link set {} group {}", device(), dice_.below(3)));
    else
      add(route_line(objects));
  }

  void make_update() {
    const bool objects = config_.has_objects;
    const auto roll = dice_.below(100);
    if (roll < 25) return add(route_line(objects));
    if (roll < 50) return add_variation();
    if (roll < 60) return add(rule_line(static_cast<unsigned>(10 + dice_.below(40))));
    if (roll < 66) return add(fmt::format("rule del pref {}", 10 + dice_.below(40)));
    if (roll < 72 && objects) return add(nexthop_line());
    if (roll < 76 && objects) return add(fmt::format("nexthop del id {}", 1 + dice_.below(8)));
    if (roll < 80) {
      return add(fmt::format("address add 2001:db8:{}::1/64 dev {}",
                             1 + dice_.below(device_count()), device()));
    }
    make_event(objects);
  }

  /// An earlier route or nexthop line again with another verb: what it made goes, changes, or gets company.
  void add_variation() {
    constexpr unsigned kTries = 20;
    for (unsigned i = 0; i < kTries; ++i) {
      const std::string& line = dice_.pick(config_.lines);
      const auto verb_begin = line.find(' ') + 1;
      const auto verb_end = line.find(' ', verb_begin);
      const std::string_view noun = std::string_view(line).substr(0, verb_begin);
      const std::string rest = line.substr(verb_end);
      if (noun == "route ") {
        static constexpr std::array<std::string_view, 7> kVerbs = {
            "del", "del", "del", "replace", "change", "append", "add"};
        return add(fmt::format("route {}{}", dice_.pick(kVerbs), rest));
      }
      if (noun == "nexthop " && line.find(" del ") == std::string::npos)
        return add(fmt::format("nexthop replace{}", rest));
    }
  }

  Dice& dice_;
  RandomConfig& config_;
};

net::Ipv6Address address(const std::string& text) {
  return net::Ipv6Address::parse(text).value_or(net::Ipv6Address{});
}

net::Ipv6Address random_destination(const RandomConfig& config, Dice& dice) {
  const auto k = 1 + dice.below(config.devices.size());
  const auto low = dice.below(4);
  const auto roll = dice.below(100);
  if (roll < 30)
    return address(fmt::format("2001:db8:100:{}:{}::{:x}", dice.pick(std::array{"0", "1", "8000"}),
                               dice.pick(std::array{"0", "8000"}), low));
  if (roll < 50) return address(fmt::format("2001:db8:101:{}::{:x}", dice.below(2), low));
  if (roll < 58) return address(fmt::format("2001:db8:{:x}::{:x}", 0x102 + dice.below(3), low));
  if (roll < 78) return address(fmt::format("2001:db8:{}::{:x}", k, dice.below(9)));
  if (roll < 82) return address(fmt::format("fe80::{:x}:{:x}", k, 2 + dice.below(6)));
  if (roll < 84) return address(fmt::format("fe80::ff:fe00:{:x}", k));
  if (roll < 85) return address("fe80::");
  if (roll < 87) return address(fmt::format("fe80:1::{:x}", low));
  if (roll < 90)
    return address(dice.pick(std::array{"ff02::1", "ff05::2", "ff0e::3", "::1", "::"}));
  if (roll < 93)
    return address(fmt::format("2001:db8:{}::{}", k, dice.pick(std::array{"aa", "1"})));
  if (roll < 95) return address(fmt::format("2001:db8:7{}::{:x}", k - 1, low));
  if (roll < 98)
    return address(fmt::format("{:x}:db8:{:x}::{:x}",
                               dice.pick(std::array{0x2001, 0x2002, 0x3fff, 0x4000}),
                               dice.below(0x300), low));
  return address(fmt::format("64:ff9b::{:x}", low));
}

net::Ipv6Address random_source(const RandomConfig& config, Dice& dice) {
  const auto roll = dice.below(100);
  if (roll < 30)
    return address(
        fmt::format("2001:db8:{:x}:{}::{:x}", 0x200 + dice.below(3), dice.below(2), dice.below(3)));
  if (roll < 60)
    return address(
        fmt::format("2001:db8:{}::{:x}", 1 + dice.below(config.devices.size()), 1 + dice.below(4)));
  if (roll < 70) return address(fmt::format("2001:db8:100::{:x}", dice.below(4)));
  if (roll < 80) return address(fmt::format("fe80::{:x}:2", 1 + dice.below(3)));
  return address(fmt::format("2001:db9::{:x}", dice.below(1000)));
}

}  // namespace

std::string RandomConfig::text() const {
  std::string all;
  for (const auto& line : lines) all += line + "\n";
  return all;
}

RandomConfig random_config(std::uint64_t seed) {
  RandomConfig config;
  Dice dice(seed);
  Generator(config, dice).make_router();
  return config;
}

std::vector<std::string> random_updates(RandomConfig& config, Dice& dice) {
  const std::size_t before = config.lines.size();
  Generator(config, dice).make_updates();
  return {config.lines.begin() + static_cast<std::ptrdiff_t>(before), config.lines.end()};
}

Query random_query(const RandomConfig& config, Dice& dice) {
  Query query;
  query.destination = random_destination(config, dice);
  if (dice.chance(75)) query.source = random_source(config, dice);
  // Asked about a multicast destination and an ingress device, the kernel answers from its multicast routing code.
  if (dice.chance(60) && !query.destination.is_multicast()) {
    query.iif = dice.chance(3) ? "lo" : dice.pick(config.devices);
  } else if (dice.chance(40)) {
    query.oif = dice.pick(config.devices);
  }
  if (dice.chance(30)) query.mark = static_cast<std::uint32_t>(dice.below(5));
  if (dice.chance(25))
    query.tos = dice.pick(std::array<std::uint8_t, 6>{0x10, 0x12, 0x14, 0x20, 0x08, 0x03});
  if (dice.chance(40)) {
    query.ipproto = dice.pick(std::array<std::uint8_t, 3>{6, 17, 58});
    if (query.ipproto != 58) {
      if (dice.chance(70))
        query.sport = dice.pick(std::array<std::uint16_t, 4>{100, 150, 1500, 3000});
      if (dice.chance(70)) query.dport = dice.pick(std::array<std::uint16_t, 4>{53, 55, 80, 61000});
    }
  }
  if (dice.chance(20))
    query.flow_label = dice.pick(std::array<std::uint32_t, 4>{1, 5, 0x15, 0x100});
  if (dice.chance(15)) query.uid = dice.pick(std::array<std::uint32_t, 4>{0, 1, 100, 5000});
  return query;
}

}  // namespace sidestep::kernel
