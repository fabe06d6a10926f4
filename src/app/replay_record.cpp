// SPDX-License-Identifier: Apache-2.0
#include "app/replay_record.hpp"

#include <fmt/format.h>

namespace sidestep::app {

using packet::DropReason;
using packet::L2Class;

void ReplayRecord::take(const io::CaptureMerge::Next& next, io::LinkType type) {
  input = next.input;
  clock_ns = next.clock_ns;
  time_ns = next.record.time_ns;
  original_size = next.record.original_size;
  frame.assign(next.record.bytes.begin(), next.record.bytes.end());
  link = {};
  oddity = RecordOddity::kNone;
  early_drop = DropReason::kNone;
  detail.clear();
  judge(type);
}

void ReplayRecord::judge(io::LinkType type) {
  if (frame.empty() && original_size == 0) {
    oddity = RecordOddity::kEmpty;
    detail = "an empty record";
  } else if (frame.size() < original_size) {
    oddity = RecordOddity::kTruncated;
    detail = fmt::format("{} of {} bytes were captured", frame.size(), original_size);
  } else if (frame.size() > original_size) {
    oddity = RecordOddity::kOverlong;
    detail = fmt::format("the record claims {} captured bytes of {} on the wire", frame.size(),
                         original_size);
  } else if (link = io::dissect(type, frame); link.content == io::FrameContent::kHeaderShort) {
    oddity = RecordOddity::kLinkHeaderShort;
    detail = fmt::format("{} bytes end inside the link-layer header", frame.size());
  }
  if (oddity != RecordOddity::kNone) {
    early_drop = DropReason::kRecordTruncated;
    return;
  }
  if (link.content == io::FrameContent::kIpv6) {
    if (link.outgoing) detail = "the capturing host sent it, nobody here received it";
    return;
  }
  early_drop =
      link.content == io::FrameContent::kIpv4 ? DropReason::kNotImplemented : DropReason::kNotIpv6;
  detail = io::describe(link);
}

L2Class ReplayRecord::l2_class(const fib::Link& device, bool check_mac) const noexcept {
  if (link.l2_class == L2Class::kOtherHost) {
    return check_mac || link.outgoing ? L2Class::kOtherHost : L2Class::kHost;
  }
  const bool mine = !link.has_mac || link.destination_mac == device.mac;
  if (link.l2_class == L2Class::kHost && check_mac && !mine) return L2Class::kOtherHost;
  return link.l2_class;
}

}  // namespace sidestep::app
