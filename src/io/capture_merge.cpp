// SPDX-License-Identifier: Apache-2.0
#include "io/capture_merge.hpp"

#include <algorithm>
#include <utility>

namespace sidestep::io {

CaptureMerge::CaptureMerge(std::vector<CaptureReader> readers) {
  inputs_.reserve(readers.size());
  for (auto& reader : readers) inputs_.push_back(Input{std::move(reader)});
  for (auto& input : inputs_) advance(input);
}

void CaptureMerge::advance(Input& input) {
  const ReadOutcome outcome = input.reader.next(input.record);
  input.has_record = outcome == ReadOutcome::kRecord;
  if (!input.has_record) {
    input.end.outcome = outcome;
    return;
  }
  if (input.record.time_ns < input.clock_ns) ++input.end.time_backwards;
  input.clock_ns = std::max(input.clock_ns, input.record.time_ns);
  ++input.end.record_count;
}

bool CaptureMerge::next(Next& next) {
  // The record handed out last is borrowed from its reader, so that reader moves on only now.
  if (last_ != nullptr) advance(*std::exchange(last_, nullptr));
  for (auto& input : inputs_) {
    if (input.has_record && (last_ == nullptr || input.clock_ns < last_->clock_ns)) last_ = &input;
  }
  if (last_ == nullptr) return false;
  next = {static_cast<std::size_t>(last_ - inputs_.data()), last_->clock_ns, last_->record};
  return true;
}

}  // namespace sidestep::io
