// SPDX-License-Identifier: Apache-2.0
// One frame into a router, and everything that came of it: frames, SNMP counters and, on our side, the verdict.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/kernel_router.hpp"

namespace sidestep::kernel {

using Bytes = std::vector<std::uint8_t>;

/// An Ethernet frame that left through (or arrives at) a device.
struct DeviceFrame {
  std::string device;
  Bytes frame;
  auto operator<=>(const DeviceFrame&) const = default;
};

/// Counter deltas by name; a device's as `NAME@DEVICE`, a SID's as `SidPackets@PREFIX`, `SidBytes@…`, `SidErrors@…`. Zero
/// deltas are left out.
using CounterDeltas = std::map<std::string, std::int64_t>;

/// What came of one frame.
struct PacketOutcome {
  std::vector<DeviceFrame> sent;  ///< sorted
  CounterDeltas counters;
  std::string verdict;  ///< ours only: `forwarded`, `delivered`, `answered`, or the drop reason
};

/// The kernel as a router of frames: sends into the cables of a KernelRouter and listens on them.
///
/// Neighbor discovery and MLD of the router itself are not part of an outcome: such frames are left out, and their share of the
/// counters is taken off.
class KernelPackets {
 public:
  explicit KernelPackets(const KernelRouter& router);
  ~KernelPackets();
  KernelPackets(const KernelPackets&) = delete;
  KernelPackets& operator=(const KernelPackets&) = delete;

  /// Sends a frame to the router's `device`, `count` times, and waits for `expected` frames (at most a quarter of a second), then a
  /// little longer for frames that should not come.
  PacketOutcome send(const std::string& device, const Bytes& frame, std::size_t expected,
                     unsigned count = 1);
  /// The same for several frames, one directly behind the other; the outcome is that of all.
  PacketOutcome send(const std::vector<DeviceFrame>& frames, std::size_t expected);

 private:
  struct Port {
    std::string device;
    int socket = -1;
  };
  void transmit(const DeviceFrame& frame);
  void receive(std::vector<DeviceFrame>& sent, int timeout_ms, std::size_t wanted);
  [[nodiscard]] CounterDeltas read_counters() const;
  /// Of all SIDs that count; nothing is asked when there is none.
  [[nodiscard]] CounterDeltas read_sid_counters() const;
  [[nodiscard]] CounterDeltas quiet_counters();

  const KernelRouter& router_;
  std::vector<Port> ports_;
  bool has_sid_counters_ = true;
};

/// What moved between two readings.
[[nodiscard]] CounterDeltas counter_deltas(const CounterDeltas& before, const CounterDeltas& after);
/// `0011…` in lines of 32 bytes.
[[nodiscard]] std::string hex_of(const Bytes& bytes, std::string_view indent = "    ");

/// The same of a frame's first 192 bytes.
[[nodiscard]] std::string beginning_of(const Bytes& bytes);

/// In words, how `ours` differs from `kernel`; empty when frames and counters are equal.
[[nodiscard]] std::string describe_difference(const PacketOutcome& kernel,
                                              const PacketOutcome& ours);

}  // namespace sidestep::kernel
