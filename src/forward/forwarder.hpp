// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <sidestep/lookup/change.hpp>
#include <sidestep/lookup/fib.hpp>

#include "forward/sid_counters.hpp"
#include "neighbor/table.hpp"
#include "packet/counters.hpp"
#include "packet/packet.hpp"
#include "srv6/settings.hpp"

namespace sidestep::forward {

/// What the pipeline reads. All of it must outlive the forwarder.
struct Context {
  const lookup::Fib& fib;
  const neighbor::Table& neighbors;
  const srv6::Settings& srv6;
};

/// What a packet taught the router about the way to one destination: a change for Fib::apply, and when the packet came.
struct Learned {
  lookup::ExceptionChange change{};
  TimeNs when{};
};
/// How much is kept until clear_learned(): one for each packet of a batch. The rest is counted and lost, and a sender of a too big
/// packet is told again.
inline constexpr std::size_t kLearnedMax = packet::Batch::kCapacity;

/// Whether a packet may teach something, if the router believes it: a Packet Too Big or a redirect. What it teaches holds for the
/// packets behind it, so whoever fills batches ends one with it.
[[nodiscard]] bool may_teach(std::span<const std::uint8_t> packet) noexcept;

/// The batch pipeline of one worker: receive, validate, look up, SRv6, look up, rewrite, transmit.
///
/// Thread:   one registered reader
class Forwarder {
 public:
  explicit Forwarder(Context context);
  ~Forwarder();
  Forwarder(const Forwarder&) = delete;
  Forwarder& operator=(const Forwarder&) = delete;

  /// Runs received packets through the router, in order, inside one read section of its own.
  ///
  /// Each packet's `meta.ingress`, `received_at`, `l2_class` (and MACs when known) are set by the caller. On return
  /// every packet of `received` has a verdict other than kPending, and its bytes are what is to be sent, delivered or
  /// was dropped (a dropped packet's bytes are as received). Packets that the router made (ICMPv6 errors, redirects,
  /// echo replies) are appended to `generated`, each with verdict kTransmit, kDeliver (to the router itself) or
  /// kDrop, and with `record` of the packet that caused it. One received packet makes at most two; `generated` must
  /// have room for 2 × received. Drops are counted by reason; those of generated packets apart from those of received
  /// ones.
  void process(packet::Batch& received, std::vector<packet::Packet>& generated);

  /// What was learned since clear_learned(), oldest first, to be applied between batches by the FIB's writer.
  [[nodiscard]] std::span<const Learned> learned() const noexcept;
  void clear_learned() noexcept;
  /// How much was not kept because kLearnedMax were there.
  [[nodiscard]] std::uint64_t learned_lost() const noexcept;

  /// Counters of everything processed. Drops by reason are those of received packets.
  [[nodiscard]] const packet::Counters& counters() const noexcept;
  /// Packets of the router's own that did not leave, and messages that a limiter held back or that had no way to go
  /// before they were made.
  [[nodiscard]] std::uint64_t generated_drops(packet::DropReason reason) const noexcept;
  /// What one SID has counted.
  [[nodiscard]] SidCounts sid_counts(fib::SidCounterId id) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sidestep::forward
