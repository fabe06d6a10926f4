// SPDX-License-Identifier: Apache-2.0
// In the kernel a SID's input function calls those of everything behind it and counts by what they return. So a packet counts
// on all SIDs of a chain once its end is known, and local delivery, which returns success before anything is known, settles
// those that led to it.
#include "forward/sid_counters.hpp"

#include <sidestep/assert.hpp>

namespace sidestep::forward {

void SidCounters::enter(fib::SidCounterId id, std::size_t size) {
  if (id.value == 0) return;
  SIDESTEP_ASSERT(under_way_count_ < kUnderWayMax);
  under_way_[under_way_count_++] = {id.value, static_cast<std::uint32_t>(size)};
}

void SidCounters::settle(bool is_error) {
  for (std::size_t i = 0; i < under_way_count_; ++i) {
    make_room(under_way_[i].id);  // a SID that is younger than this batch
    SidCounts& counts = counts_[under_way_[i].id];
    if (is_error) {
      ++counts.errors;
      continue;
    }
    ++counts.packets;
    counts.bytes += under_way_[i].size;
  }
  under_way_count_ = 0;
}

bool is_sid_error(const packet::PacketMeta& meta) noexcept {
  using packet::DropReason;
  if (meta.verdict != packet::Verdict::kDrop) return false;
  switch (meta.drop_reason) {
    case DropReason::kNoRoute:
    case DropReason::kProhibited:
    case DropReason::kBlackhole:
    case DropReason::kSidLocalNext:
    case DropReason::kEgressIpv6Disabled:
    case DropReason::kNeighborUnresolved:
    case DropReason::kNeighborFailed:
      return false;
    default:
      return true;
  }
}

}  // namespace sidestep::forward
