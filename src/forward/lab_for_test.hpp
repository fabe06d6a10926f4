// SPDX-License-Identifier: Apache-2.0
// A router between two links, for tests: what goes in, what comes out, what was counted.
//
//      A ── r-a ┌───┐ r-b ── B        r-a 2001:db8:a::1/64, A is 2001:db8:a::2 and fe80::a2
//               │ R │                 r-b 2001:db8:b::1/64, B is 2001:db8:b::2 and fe80::b2
//               └───┘                 2001:db8:ff::/64 is behind A, 2001:db8:c::/64 behind B
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <sidestep/rcu/rcu.hpp>

#include "forward/forwarder.hpp"
#include "net/bytes_for_test.hpp"

namespace sidestep::forward::test {

using namespace net::test;  // NOLINT: the vocabulary of every test here

inline constexpr std::string_view kA = "2001:db8:a::2";
inline constexpr std::string_view kB = "2001:db8:b::2";
inline constexpr std::string_view kRouterA = "2001:db8:a::1";
inline constexpr std::string_view kRouterB = "2001:db8:b::1";
inline constexpr std::string_view kLinkLocalA = "fe80::ff:fe00:101";  ///< of r-a
inline constexpr std::string_view kNowhere = "2001:db8:aaaa::1";      ///< no route leads there
inline constexpr std::string_view kSid = "2001:db8:e::1";             ///< End, on request
inline constexpr std::string_view kSidPsp = "2001:db8:e::2";          ///< End with PSP, on request

/// Counters by name, those that are 0 left out.
using Counts = std::map<std::string, std::uint64_t, std::less<>>;
[[nodiscard]] Counts operator+(const Counts& left, const Counts& right);

/// A packet of `size` bytes came in, or went out, without ECN.
[[nodiscard]] Counts received(std::size_t size);
[[nodiscard]] Counts sent(std::size_t size);
/// An ICMPv6 message of `size` bytes that the router made and sent; the counter of its type.
[[nodiscard]] Counts made(const char* icmp_counter, std::size_t size);

/// What became of a packet.
struct Outcome {
  packet::Verdict verdict{};
  packet::DropReason reason{};
  std::string egress{};  ///< device name; empty: none
  Bytes bytes{};
  net::MacAddress source_mac{};
  net::MacAddress destination_mac{};
  std::uint64_t record = 0;
};

/// How a packet comes in.
struct Arrival {
  Bytes bytes{};
  const char* device = "r-a";
  packet::L2Class l2_class = packet::L2Class::kHost;
  std::uint32_t mark = 0;
};

class Lab : public ::testing::Test {
 protected:
  Lab();

  void must(const lookup::Change& change);
  void sysctl(const std::string& key, const std::string& value);
  void address(std::string_view text, std::uint8_t length, const char* device);
  /// `hop`: gateway or empty; `change` says the rest.
  void route(std::string_view destination, std::string_view gateway, const char* device,
             lookup::RouteChange change = {});
  void special_route(std::string_view destination, fib::RouteType type);
  void neighbor(const char* device, std::string_view address, const char* mac,
                neighbor::State state = neighbor::State::kPermanent);
  /// kSid and kSidPsp, and SRHs for the router's own addresses from r-a.
  void enable_segment_routing();

  /// Runs one packet; `generated` and the counters of this packet alone are left for inspection.
  Outcome run(const Arrival& arrival);
  Outcome run(const Bytes& bytes) { return run(Arrival{.bytes = bytes}); }
  /// Runs one packet several times, in batches; gives the last outcome.
  Outcome run_many(const Arrival& arrival, std::size_t count);

  /// What the last run moved: of the host, or of a device.
  [[nodiscard]] Counts host() const;
  [[nodiscard]] Counts device(const char* name) const;
  /// Messages that the last run held back or could not send.
  [[nodiscard]] std::uint64_t held_back(packet::DropReason reason) const;

  /// The only packet made by the last run, with the flow label of ICMPv6 messages cleared.
  [[nodiscard]] Outcome answer() const;
  /// An ICMPv6 error about `quote`, as it must look without a flow label.
  [[nodiscard]] static Bytes error_about(const Bytes& quote, std::uint8_t type, std::uint8_t code,
                                         std::uint32_t parameter, std::string_view source,
                                         std::string_view destination);

  rcu::Reader reader;
  lookup::Fib fib;
  neighbor::Table neighbors;
  srv6::Settings srv6_settings;
  Forwarder forwarder{Context{fib, neighbors, srv6_settings}};
  TimeNs now{kNsPerSecond};
  std::vector<Outcome> generated;

 private:
  [[nodiscard]] Outcome outcome_of(const packet::Packet& packet) const;
  packet::Counters before_;
  std::map<packet::DropReason, std::uint64_t> held_back_before_;
};

/// The bytes with the hop limit that they have after `hops` hops.
[[nodiscard]] Bytes after_hops(Bytes packet, std::uint8_t hops = 1);

/// A UDP packet from A's side.
[[nodiscard]] Bytes udp_packet(std::string_view source, std::string_view destination,
                               std::size_t data_size = 8, std::uint8_t hop_limit = 64);
/// An echo request.
[[nodiscard]] Bytes echo_request(std::string_view source, std::string_view destination,
                                 std::uint8_t traffic_class = 0);

}  // namespace sidestep::forward::test
