// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sidestep/result.hpp>

#include "io/link_type.hpp"
#include "io/output_file.hpp"

namespace sidestep::io {

/// An interface of a pcapng file.
struct PcapngInterface {
  std::string name;
  LinkType link_type = LinkType::kEthernet;
};

/// Writes a pcapng file whose packets carry comments. Little-endian, nanosecond times.
///
/// Thread:   one at a time
/// Lifetime: the file appears under its name when finish() succeeds, not before
class PcapngWriter {
 public:
  /// Errors: the errno of creating the file
  [[nodiscard]] static Result<PcapngWriter> create(const std::string& path,
                                                   std::string_view application,
                                                   std::span<const PcapngInterface> interfaces);

  /// Writes an enhanced packet block for interface number `interface`.
  /// @param original_size  bytes that the frame had on the wire
  /// Cost: a buffered write; errors show in finish()
  void write(std::size_t interface, std::uint64_t time_ns, std::span<const std::uint8_t> frame,
             std::uint32_t original_size, std::string_view comment);
  /// Errors: the errno of what went wrong in this or any write before
  Result<void> finish();
  [[nodiscard]] const std::string& path() const noexcept { return file_.path(); }
  [[nodiscard]] std::uint64_t record_count() const noexcept { return record_count_; }

 private:
  explicit PcapngWriter(OutputFile file) : file_(std::move(file)) {}
  void write_block(std::uint32_t type);

  OutputFile file_;
  std::vector<std::uint8_t> body_;  // the block being built
  std::uint64_t record_count_ = 0;
};

}  // namespace sidestep::io
