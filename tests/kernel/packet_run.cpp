// SPDX-License-Identifier: Apache-2.0
#include "kernel/packet_run.hpp"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <sstream>

#include <fmt/format.h>

#include "packet/counters.hpp"

namespace sidestep::kernel {
namespace {

constexpr std::size_t kEthernetSize = 14;
constexpr std::size_t kIpv6Size = 40;
constexpr std::uint8_t kIcmpv6 = 58;

bool is_ipv6(const Bytes& frame) {
  return frame.size() >= kEthernetSize + kIpv6Size && frame[12] == 0x86 && frame[13] == 0xdd;
}

/// ICMPv6 type of a frame the router itself made for neighbor discovery or MLD; 0: not such a frame.
/// MLD reports stand behind a hop-by-hop header with a router alert.
std::uint8_t housekeeping_type(const Bytes& frame) {
  if (!is_ipv6(frame)) return 0;
  std::size_t at = kEthernetSize + kIpv6Size;
  std::uint8_t next = frame[kEthernetSize + 6];
  if (next == 0 && frame.size() >= at + 8) {
    next = frame[at];
    at += (frame[at + 1] + 1U) * 8U;
  }
  if (next != kIcmpv6 || at >= frame.size()) return 0;
  const std::uint8_t type = frame[at];
  const bool discovery = type >= 133 && type <= 136 && frame[kEthernetSize + 7] == 255;
  const bool mld = (type >= 130 && type <= 132) || type == 143;
  return discovery || mld ? type : 0;
}

/// Takes the share of one such frame off the counters.
void forget(const DeviceFrame& sent, CounterDeltas& counters) {
  const auto octets = static_cast<std::int64_t>(sent.frame.size() - kEthernetSize);
  const bool multicast = sent.frame[kEthernetSize + 24] == 0xff;
  const auto take = [&](std::string_view name, std::int64_t amount) {
    for (const std::string& key : {std::string(name), fmt::format("{}@{}", name, sent.device)}) {
      auto found = counters.find(key);
      if (found == counters.end()) continue;
      found->second -= amount;
      if (found->second == 0) counters.erase(found);
    }
  };
  take("Ip6OutRequests", 1);
  take("Ip6OutTransmits", 1);
  take("Icmp6OutMsgs", 1);
  take("Ip6OutOctets", octets);
  if (!multicast) return;
  take("Ip6OutMcastPkts", 1);
  take("Ip6OutMcastOctets", octets);
}

/// Adds the counters of a /proc file that we know too.
void read_counter_file(const std::string& text, const std::string& suffix,
                       CounterDeltas& counters) {
  std::istringstream lines(text);
  std::string name;
  std::int64_t value = 0;
  while (lines >> name >> value) {
    if (std::find(packet::kSnmpNames.begin(), packet::kSnmpNames.end(), name) !=
        packet::kSnmpNames.end()) {
      counters[name + suffix] = value;
    }
  }
}

/// Counters at the end of a line of `ip -6 -s route show`: `packets N bytes N errors N`.
void read_sid_line(const std::string& line, CounterDeltas& counters) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kNames{
      {{"packets", "SidPackets@"}, {"bytes", "SidBytes@"}, {"errors", "SidErrors@"}}};
  std::istringstream words(line);
  std::string prefix;
  std::string word;
  words >> prefix;
  while (words >> word) {
    for (const auto& [key, name] : kNames) {
      if (word == key) words >> counters[std::string(name) + prefix];
    }
  }
}

}  // namespace

KernelPackets::KernelPackets(const KernelRouter& router) : router_(router) {
  router.peers().inside([this] {
    for (const auto& device : router_.cabled_devices()) {
      const int descriptor =
          socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, htons(ETH_P_ALL));
      sockaddr_ll address{};
      address.sll_family = AF_PACKET;
      address.sll_protocol = htons(ETH_P_ALL);
      address.sll_ifindex = static_cast<int>(if_nametoindex(device.c_str()));
      constexpr int kReceiveBuffer = 8 << 20;  // bytes; what a whole group of frames leads to
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, &kReceiveBuffer, sizeof kReceiveBuffer);
      if (bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        std::abort();
      ports_.push_back({device, descriptor});
    }
  });
  std::vector<DeviceFrame> early;
  has_sid_counters_ = !read_sid_counters().empty();
  receive(early, 30, SIZE_MAX);  // reports of the groups that the new devices joined
}

KernelPackets::~KernelPackets() {
  for (const auto& port : ports_) close(port.socket);
}

void KernelPackets::receive(std::vector<DeviceFrame>& sent, int timeout_ms, std::size_t wanted) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  std::vector<pollfd> waiting;
  for (const auto& port : ports_) waiting.push_back({port.socket, POLLIN, 0});
  std::array<std::uint8_t, 70'000> buffer{};
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() < 0 || sent.size() >= wanted) return;
    if (poll(waiting.data(), waiting.size(), static_cast<int>(left.count())) <= 0) return;
    for (const auto& port : ports_) {
      for (;;) {
        sockaddr_ll from{};
        socklen_t size = sizeof from;
        const ssize_t count = recvfrom(port.socket, buffer.data(), buffer.size(), 0,
                                       reinterpret_cast<sockaddr*>(&from), &size);
        if (count < 0) break;
        if (from.sll_pkttype == PACKET_OUTGOING) continue;
        sent.push_back({port.device, Bytes(buffer.begin(), buffer.begin() + count)});
      }
    }
  }
}

CounterDeltas KernelPackets::read_counters() const {
  CounterDeltas counters;
  read_counter_file(router_.router().read_file("/proc/net/snmp6"), "", counters);
  for (const auto& device : router_.cabled_devices()) {
    read_counter_file(router_.router().read_file("/proc/net/dev_snmp6/" + device), "@" + device,
                      counters);
  }
  return counters;
}

CounterDeltas KernelPackets::read_sid_counters() const {
  CounterDeltas counters;
  if (!has_sid_counters_) return counters;
  std::istringstream lines(
      router_.router().run({"ip", "-6", "-s", "route", "show", "table", "all"}).output);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" seg6local ") != std::string::npos) read_sid_line(line, counters);
  }
  return counters;
}

// The counters of an instant: they are in several files, and the kernel may send something of its own between reading
// two of them. Frames captured until then are forgotten, since their share is in these counters.
CounterDeltas KernelPackets::quiet_counters() {
  constexpr int kTries = 20;
  CounterDeltas counters = read_counters();
  for (int i = 0; i < kTries; ++i) {
    std::vector<DeviceFrame> earlier;
    receive(earlier, 0, SIZE_MAX);
    CounterDeltas again = read_counters();
    const bool quiet = again == counters && earlier.empty();
    counters = std::move(again);
    if (quiet) break;
  }
  return counters;
}

void KernelPackets::transmit(const DeviceFrame& frame) {
  for (const auto& port : ports_) {
    if (port.device != frame.device) continue;
    if (::send(port.socket, frame.frame.data(), frame.frame.size(), 0) >= 0) continue;
    fmt::print(stderr, "cannot send {} bytes to {}: {}\n", frame.frame.size(), frame.device,
               std::strerror(errno));
  }
}

PacketOutcome KernelPackets::send(const std::string& device, const Bytes& frame,
                                  std::size_t expected, unsigned count) {
  return send(std::vector<DeviceFrame>(count, {device, frame}), expected);
}

PacketOutcome KernelPackets::send(const std::vector<DeviceFrame>& frames, std::size_t expected) {
  PacketOutcome outcome;
  std::vector<DeviceFrame> captured;
  const CounterDeltas sids_before = read_sid_counters();
  const CounterDeltas before = quiet_counters();
  for (const auto& frame : frames) transmit(frame);
  if (expected > 0) receive(captured, 250, expected);
  receive(captured, 4, SIZE_MAX);
  CounterDeltas after = read_counters();
  for (CounterDeltas again = read_counters(); again != after; again = read_counters()) {
    after = std::move(again);
    receive(captured, 4, SIZE_MAX);
  }
  outcome.counters = counter_deltas(before, after);
  outcome.counters.merge(counter_deltas(sids_before, read_sid_counters()));
  for (auto& one : captured) {
    if (housekeeping_type(one.frame) != 0) {
      forget(one, outcome.counters);
    } else {
      outcome.sent.push_back(std::move(one));
    }
  }
  std::sort(outcome.sent.begin(), outcome.sent.end());
  return outcome;
}

CounterDeltas counter_deltas(const CounterDeltas& before, const CounterDeltas& after) {
  CounterDeltas deltas;
  for (const auto& [name, value] : after) {
    const auto old = before.find(name);
    const std::int64_t delta = value - (old == before.end() ? 0 : old->second);
    if (delta != 0) deltas[name] = delta;
  }
  return deltas;
}

std::string hex_of(const Bytes& bytes, std::string_view indent) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i % 32 == 0) text += fmt::format("{}{}", i == 0 ? "" : "\n", indent);
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text;
}

std::string beginning_of(const Bytes& bytes) {
  constexpr std::size_t kShown = 192;
  if (bytes.size() <= kShown) return hex_of(bytes);
  return hex_of(Bytes(bytes.begin(), bytes.begin() + kShown)) +
         fmt::format("… ({} bytes)", bytes.size());
}

std::string describe_difference(const PacketOutcome& kernel, const PacketOutcome& ours) {
  std::string text;
  if (kernel.sent != ours.sent) {
    const auto list = [&](std::string_view who, const std::vector<DeviceFrame>& frames) {
      text += fmt::format("  {} sent {} frames\n", who, frames.size());
      for (const auto& one : frames)
        text += fmt::format("   out {}\n{}\n", one.device, beginning_of(one.frame));
    };
    list("the kernel", kernel.sent);
    list("ours", ours.sent);
  }
  CounterDeltas names = kernel.counters;
  names.insert(ours.counters.begin(), ours.counters.end());
  for (const auto& [name, unused] : names) {
    const auto value = [&](const CounterDeltas& counters) {
      const auto found = counters.find(name);
      return found == counters.end() ? std::int64_t{0} : found->second;
    };
    if (value(kernel.counters) != value(ours.counters)) {
      text += fmt::format("  {}: kernel {}, ours {}\n", name, value(kernel.counters),
                          value(ours.counters));
    }
  }
  if (!text.empty()) text += fmt::format("  our verdict: {}\n", ours.verdict);
  return text;
}

}  // namespace sidestep::kernel
