// SPDX-License-Identifier: Apache-2.0
// Token buckets that hold ICMPv6 errors and redirects back, driven by the packets' own time.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <sidestep/net/address.hpp>
#include <sidestep/net/ids.hpp>

namespace sidestep::forward {

/// One bucket per remote host, shared by everything that is limited toward it (kernel: inet_peer).
///
/// A bucket's tokens are nanoseconds that passed without a message: one message costs `interval`, at most six
/// intervals are saved up. Redirects and errors cost differently but draw on the same bucket, as in the kernel.
///
/// Limit: 16,384 hosts; beyond that the one in the same set that was heard of longest ago is forgotten, which gives
/// it a full bucket again. Cost: one set of four entries is read; nothing is allocated after construction
class PeerLimiter {
 public:
  static constexpr std::uint64_t kBurst = 6;  ///< intervals

  PeerLimiter();
  /// Takes the price of one message from the host's bucket; false when there is not enough in it.
  [[nodiscard]] bool allow(const net::Ipv6Address& host, std::uint64_t interval_ns, TimeNs now);

 private:
  struct Peer {
    net::Ipv6Address host{};
    bool used = false;
    std::uint64_t tokens_ns = 0;
    TimeNs last{};
  };
  static constexpr std::size_t kWays = 4;
  static constexpr std::size_t kSets = 4096;
  [[nodiscard]] Peer& find_or_replace(const net::Ipv6Address& host, TimeNs now);
  std::vector<Peer> peers_;
};

/// One bucket for the whole router (net.ipv4.icmp_msgs_per_sec and icmp_msgs_burst, which are IPv6's too).
///
/// The kernel takes 0, 1 or 2 credits per message at random so that nobody can count them from outside; here it is
/// the mean, 1, so that a replay gives the same answer twice.
class GlobalLimiter {
 public:
  /// Whether a message may be sent; takes nothing.
  [[nodiscard]] bool allow(std::uint32_t per_second, std::uint32_t burst, TimeNs now);
  /// One message was sent.
  void consume() noexcept;

 private:
  std::uint64_t credit_ = 0;
  TimeNs stamp_{};
  bool started_ = false;
};

/// Reads a list of ICMPv6 types as net.ipv6.icmp.ratemask has it: `0-1,3-127`. What is no number is passed over.
[[nodiscard]] std::bitset<256> parse_rate_mask(std::string_view text);

}  // namespace sidestep::forward
