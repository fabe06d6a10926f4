// SPDX-License-Identifier: Apache-2.0
// A capture's record on its way through the replay.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sidestep/fib/link.hpp>

#include "io/capture_merge.hpp"
#include "io/link_type.hpp"
#include "packet/drop_reason.hpp"
#include "packet/packet.hpp"

namespace sidestep::app {

/// What is strange about a record. None of these is ever forwarded.
enum class RecordOddity : std::uint8_t {
  kNone,
  kTruncated,        ///< fewer bytes captured than were on the wire
  kOverlong,         ///< more bytes captured than were on the wire
  kEmpty,            ///< no bytes at all
  kLinkHeaderShort,  ///< ends inside the link-layer header
};
inline constexpr std::size_t kRecordOddityCount = 5;

/// A record with all that is kept of it until its packet has a verdict. Storage is reused.
struct ReplayRecord {
  std::size_t input = 0;
  std::uint64_t number = 0;    ///< among the records of its device, from 1
  std::uint64_t clock_ns = 0;  ///< of the merged stream, since 1970
  std::uint64_t time_ns = 0;   ///< as the file says
  std::uint32_t original_size = 0;
  std::vector<std::uint8_t> frame;
  io::Frame link{};
  RecordOddity oddity = RecordOddity::kNone;
  packet::DropReason early_drop = packet::DropReason::kNone;  ///< never reaches the router
  std::string detail;  ///< what a reader of the drop file should know beside the reason

  /// Takes a copy of the record and judges it: what the router must not see gets an early drop.
  /// @param clock_ns  of the merged stream
  void take(const io::CaptureMerge::Next& next, io::LinkType type);
  /// The IPv6 packet behind the link-layer header, with whatever padding follows it.
  [[nodiscard]] std::span<const std::uint8_t> packet_bytes() const noexcept {
    return std::span<const std::uint8_t>(frame).subspan(link.header_size);
  }
  /// Decides how the frame was addressed from this device's point of view.
  [[nodiscard]] packet::L2Class l2_class(const fib::Link& device, bool check_mac) const noexcept;

 private:
  void judge(io::LinkType type);
};

}  // namespace sidestep::app
