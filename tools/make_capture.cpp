// SPDX-License-Identifier: Apache-2.0
//
// Writes a capture of made-up packets, as many as asked for: input for trying replays of any length. The same options give
// the same file. Without options to the contrary the packets suit examples/srv6-end/router.conf on its device west: UDP
// from a:b:c:1::/64 to a:b:c:3::/64; with --sid the packets visit that SID first, by way of a segment routing header.
#include <cstdio>
#include <cstdlib>
#include <random>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <sidestep/net/checksum.hpp>
#include <sidestep/net/prefix.hpp>
#include <sidestep/net/protocol.hpp>

#include "io/capture_writer.hpp"

namespace {

using namespace sidestep;

constexpr std::size_t kUdpHeaderSize = 8;
constexpr std::size_t kSrhSize = 40;                           // two segments
constexpr std::uint64_t kFirstNs = 1'700'000'000'000'000'000;  // 2023-11-14

struct Options {
  std::uint64_t packet_count = 1000;
  std::string out;
  std::size_t size = 94;  // bytes of the IPv6 packet
  std::string source = "a:b:c:1::/64";
  std::string destination = "a:b:c:3::/64";
  std::string sid;
  std::string mac = "02:00:00:00:02:01";
  std::uint64_t interval_ns = 1000;
  std::uint64_t seed = 1;
};

/// Everything of the options, understood.
struct Plan {
  net::Prefix source;
  net::Prefix destination;
  std::optional<net::Ipv6Address> sid;
  net::MacAddress mac;
};

void put16(std::vector<std::uint8_t>& bytes, std::size_t at, std::size_t value) {
  bytes[at] = static_cast<std::uint8_t>(value >> 8);
  bytes[at + 1] = static_cast<std::uint8_t>(value);
}

void put_address(std::vector<std::uint8_t>& bytes, std::size_t at,
                 const net::Ipv6Address& address) {
  std::copy(address.bytes.begin(), address.bytes.end(),
            bytes.begin() + static_cast<std::ptrdiff_t>(at));
}

/// A random address of the prefix.
net::Ipv6Address pick(const net::Prefix& prefix, std::mt19937_64& random) {
  net::Ipv6Address address = prefix.address();
  for (unsigned bit = prefix.length(); bit < 128; ++bit) {
    if ((random() & 1) != 0) address.bytes[bit / 8] |= static_cast<std::uint8_t>(0x80 >> (bit % 8));
  }
  return address;
}

/// Rewrites `packet` as the next one.
void make_packet(std::vector<std::uint8_t>& packet, const Plan& plan, std::mt19937_64& random) {
  const auto source = pick(plan.source, random);
  const auto destination = pick(plan.destination, random);
  const std::size_t udp = net::kIpv6HeaderSize + (plan.sid ? kSrhSize : 0);
  std::fill(packet.begin(), packet.end(), std::uint8_t{0});
  packet[0] = 0x60;
  put16(packet, 4, packet.size() - net::kIpv6HeaderSize);
  packet[6] = plan.sid ? net::kNextHeaderRouting : net::kNextHeaderUdp;
  packet[7] = 64;
  put_address(packet, 8, source);
  put_address(packet, 24, plan.sid.value_or(destination));
  if (plan.sid) {  // RFC 8754 §2: two segments, the last one first
    packet[40] = net::kNextHeaderUdp;
    packet[41] = kSrhSize / 8 - 1;
    packet[42] = net::kRoutingTypeSegment;
    packet[43] = 1;  // segments left
    packet[44] = 1;  // last entry
    put_address(packet, 48, destination);
    put_address(packet, 64, *plan.sid);
  }
  put16(packet, udp, 49'152 + random() % 16'384);
  put16(packet, udp + 2, 9);  // discard
  put16(packet, udp + 4, packet.size() - udp);
  const std::uint16_t checksum = net::upper_layer_checksum(
      source, destination, net::kNextHeaderUdp, std::span<const std::uint8_t>(packet).subspan(udp));
  put16(packet, udp + 6, checksum == 0 ? 0xffff : checksum);
}

std::optional<Plan> understand(const Options& options) {
  Plan plan;
  const auto source = net::Prefix::parse(options.source);
  const auto destination = net::Prefix::parse(options.destination);
  const auto mac = net::MacAddress::parse(options.mac);
  if (!options.sid.empty() && !(plan.sid = net::Ipv6Address::parse(options.sid)))
    return std::nullopt;
  const std::size_t size_min = net::kIpv6HeaderSize + kUdpHeaderSize + (plan.sid ? kSrhSize : 0);
  if (!source || !destination || !mac || options.size < size_min || options.size > 65'535)
    return std::nullopt;
  plan.source = *source;
  plan.destination = *destination;
  plan.mac = *mac;
  return plan;
}

int write_capture(const Options& options, const Plan& plan) {
  auto writer = io::CaptureWriter::create(options.out, io::LinkType::kEthernet);
  if (!writer) {
    fmt::print(stderr, "make_capture: {}\n", writer.error().message);
    return 1;
  }
  std::mt19937_64 random(options.seed);
  std::vector<std::uint8_t> packet(options.size);
  const net::MacAddress sender{{2, 0, 0, 0, 1, 2}};
  for (std::uint64_t i = 0; i < options.packet_count; ++i) {
    make_packet(packet, plan, random);
    writer->write_ethernet(kFirstNs + i * options.interval_ns, plan.mac, sender, packet);
  }
  if (const auto finished = writer->finish(); !finished) {
    fmt::print(stderr, "make_capture: {}\n", finished.error().message);
    return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App program("Writes a capture of made-up UDP packets.", "make_capture");
  // A number below 0 would be taken for a very large one.
  program.add_option("--packets", options.packet_count, "how many")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1'000'000'000}))
      ->capture_default_str();
  program.add_option("--out", options.out, "the pcap file")->required();
  program.add_option("--size", options.size, "bytes of each IPv6 packet")->capture_default_str();
  program.add_option("--source", options.source, "prefix of the sources")->capture_default_str();
  program.add_option("--destination", options.destination, "prefix of the destinations")
      ->capture_default_str();
  program.add_option("--sid", options.sid, "SID to visit first");
  program.add_option("--mac", options.mac, "destination MAC")->capture_default_str();
  program.add_option("--interval", options.interval_ns, "nanoseconds between packets")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{3'600'000'000'000}))
      ->capture_default_str();
  program.add_option("--seed", options.seed, "of the random numbers")->capture_default_str();
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return program.exit(error) == 0 ? 0 : 2;
  }
  const auto plan = understand(options);
  if (!plan) {
    fmt::print(stderr,
               "make_capture: an address, prefix or MAC is none, or the size is too small or above "
               "65535\n");
    return 2;
  }
  return write_capture(options, *plan);
}
