// SPDX-License-Identifier: Apache-2.0
// What SIDs with `count` have done (kernel: seg6local counters).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <sidestep/fib/encap.hpp>

#include "packet/packet.hpp"

namespace sidestep::forward {

struct SidCounts {
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;  ///< of those packets, as they came to the SID
  std::uint64_t errors = 0;
  bool operator==(const SidCounts&) const = default;
};

/// One worker's counters, and the SIDs that the packet in work has come through and that do not yet know how it ended.
///
/// Thread: the worker's
class SidCounters {
 public:
  /// Most SIDs that a packet may be under way through at once.
  static constexpr std::size_t kUnderWayMax = 8;

  /// Makes room for counters up to this number, if there is none.
  void make_room(std::uint32_t count) {
    if (count >= counts_.size()) counts_.resize(std::size_t{count} + 1);
  }
  /// The packet comes to a SID with `size` bytes. Asserted not to be more than kUnderWayMax.
  void enter(fib::SidCounterId id, std::size_t size);
  /// What the SIDs so far led to is known.
  void settle(bool is_error);
  [[nodiscard]] SidCounts of(fib::SidCounterId id) const {
    return id.value < counts_.size() ? counts_[id.value] : SidCounts{};
  }

 private:
  struct UnderWay {
    std::uint32_t id;
    std::uint32_t size;
  };
  std::vector<SidCounts> counts_;
  std::array<UnderWay, kUnderWayMax> under_way_{};
  std::size_t under_way_count_ = 0;
};

/// Whether a SID counts a packet that ended like this as an error: the kernel does when forwarding or a behavior failed, and
/// does not when a route said no, or when the packet ended behind its delivery.
[[nodiscard]] bool is_sid_error(const packet::PacketMeta& meta) noexcept;

}  // namespace sidestep::forward
