// SPDX-License-Identifier: Apache-2.0
// What the stages of the pipeline share: the router they run on, and what is known of each packet for one batch.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sidestep/fib/link.hpp>
#include <sidestep/net/headers.hpp>

#include "forward/forwarder.hpp"
#include "forward/rate_limit.hpp"
#include "forward/sid_counters.hpp"

namespace sidestep::forward {

/// An ICMPv6 error message to be sent about a packet (RFC 4443 §3).
struct IcmpError {
  std::uint8_t type = 0;
  std::uint8_t code = 0;
  std::uint32_t parameter = 0;  ///< MTU or pointer; 0 for the other types
};

/// A packet on its way through the stages, with what they tell each other about it.
///
/// Lifetime: one batch
struct Transit {
  packet::Packet* packet = nullptr;
  const fib::Link* ingress = nullptr;  ///< the device that it is on: after looping back, `lo`
  net::Ipv6Address neighbor_key{};     ///< of the last lookup
  std::size_t received_size = 0;       ///< bytes, before anything was cut off behind the payload
  std::uint8_t received_hop_limit = 0;
  std::uint8_t encapsulations =
      0;               ///< SIDs and headends that it went through since it was received
  bool saved = false;  ///< the bytes as received are in Pipeline::original
  /// The receive stage's judgment, carried out when the packet's turn comes: drop for this, and send that before.
  packet::DropReason refused = packet::DropReason::kNone;
  std::optional<IcmpError> error{};

  /// Still to be worked on: neither decided nor refused.
  [[nodiscard]] bool is_pending() const noexcept {
    return packet->meta.verdict == packet::Verdict::kPending &&
           refused == packet::DropReason::kNone;
  }
};

/// What an input function leaves to be done.
enum class Next : std::uint8_t {
  kDone,     ///< the packet has a verdict
  kInput,    ///< it has a new destination, whose input function is to run
  kReceive,  ///< outer headers are gone: to be received anew
};

/// The stages' common ground: the router, its counters, its limiters, and what one call of process() works on.
///
/// Thread:   the forwarder's
struct Pipeline {
  explicit Pipeline(const Context& given) : context(given) {}

  const Context& context;
  packet::Counters counters;
  std::array<std::uint64_t, packet::kDropReasonCount> generated_drops{};
  PeerLimiter peers;
  GlobalLimiter global;
  /// ICMPv6 types that the limiters apply to (net.ipv6.icmp.ratemask), as last read.
  std::bitset<256> rate_mask;
  std::string rate_mask_text;
  /// Bytes as received of the one packet that is being taken apart; room for the longest from the start.
  std::vector<std::uint8_t> original;
  std::vector<packet::Packet>* generated = nullptr;
  std::array<Learned, kLearnedMax> learned{};
  std::size_t learned_count = 0;
  std::uint64_t learned_lost = 0;
  SidCounters sids;

  [[nodiscard]] const fib::Sysctls& sysctls() const { return context.fib.sysctls(); }
  [[nodiscard]] const fib::Link* link(IfIndex index) const {
    return context.fib.links().find(index);
  }
};

/// The fixed header of a packet that has passed validation.
[[nodiscard]] net::MutableIpv6Header header_of(packet::Packet& packet) noexcept;
[[nodiscard]] net::Ipv6Header header_of(const packet::Packet& packet) noexcept;

/// Ends a packet: the bytes become what was received, the reason is counted.
void drop(Pipeline& pipeline, Transit& transit, packet::DropReason reason);

/// Keeps the bytes as they are now, for drop(); to be called before headers are changed or removed. Once per packet.
void save_original(Pipeline& pipeline, Transit& transit);

/// A new packet of the router's own, caused by `cause`, with `size` undefined bytes. The reference holds until the
/// next call.
[[nodiscard]] packet::Packet& add_generated(Pipeline& pipeline, const packet::Packet& cause,
                                            std::size_t size);

/// Ends a generated packet without sending it.
void drop_generated(Pipeline& pipeline, packet::Packet& packet, packet::DropReason reason);

}  // namespace sidestep::forward
