// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "io/capture_reader.hpp"

namespace sidestep::io {

/// Several captures as one stream in the order of time.
///
/// Records of one file keep their order: a record that claims to be older than its predecessor is taken at the
/// predecessor's time. Of records at the same time, that of the earlier file comes first. So the clock never runs backwards.
///
/// Cost: one record per file in memory
class CaptureMerge {
 public:
  /// How a file ended.
  struct End {
    ReadOutcome outcome = ReadOutcome::kEnd;
    std::uint64_t record_count = 0;    ///< whole records read
    std::uint64_t time_backwards = 0;  ///< records older than their predecessor
  };
  struct Next {
    std::size_t input = 0;  ///< index of the file
    std::uint64_t clock_ns =
        0;          ///< time of the merged stream; `record.time_ns` is what the file says
    Record record;  ///< borrowed until the next call
  };

  explicit CaptureMerge(std::vector<CaptureReader> readers);
  /// The next record, or false at the end of all files.
  [[nodiscard]] bool next(Next& next);
  [[nodiscard]] const CaptureReader& reader(std::size_t input) const {
    return inputs_[input].reader;
  }
  [[nodiscard]] const End& end_of(std::size_t input) const { return inputs_[input].end; }
  [[nodiscard]] std::size_t input_count() const noexcept { return inputs_.size(); }

 private:
  struct Input {
    CaptureReader reader;
    Record record{};
    std::uint64_t clock_ns = 0;
    bool has_record = false;
    End end{};
  };
  static void advance(Input& input);

  std::vector<Input> inputs_;
  Input* last_ = nullptr;  // whose record is handed out
};

}  // namespace sidestep::io
