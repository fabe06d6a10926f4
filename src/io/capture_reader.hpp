// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <sidestep/result.hpp>

#include "io/link_type.hpp"

struct pcap;

namespace sidestep::io {

/// One record of a capture. `bytes` is borrowed from the reader until its next call.
struct Record {
  std::span<const std::uint8_t> bytes;  ///< the frame as far as it was captured
  std::uint32_t original_size = 0;      ///< bytes the frame had on the wire, as the record says
  std::uint64_t time_ns = 0;            ///< since 1970-01-01 UTC
};

/// What came of asking for the next record.
enum class ReadOutcome : std::uint8_t {
  kRecord,
  kEnd,     ///< the file ends where a record ends
  kCutOff,  ///< the file ends inside a record; message() has libpcap's words
  kBroken,  ///< the file goes on with something that is no record; nothing behind it can be read
};

/// Reads a pcap or pcapng file record by record.
///
/// Thread:   one at a time
/// Cost:     memory for one record, however long the file is
class CaptureReader {
 public:
  /// Opens a capture; `-` is the standard input.
  ///
  /// Errors: the errno of opening; EINVAL for what is no capture; EPROTONOSUPPORT for a link type that is not understood
  [[nodiscard]] static Result<CaptureReader> open(const std::string& path);

  [[nodiscard]] ReadOutcome next(Record& record);
  [[nodiscard]] const std::string& message() const noexcept { return message_; }
  [[nodiscard]] LinkType link_type() const noexcept { return link_type_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  struct Close {
    void operator()(pcap* handle) const noexcept;
  };
  CaptureReader(std::string path, pcap* handle, LinkType link_type);

  std::string path_;
  std::unique_ptr<pcap, Close> handle_;
  LinkType link_type_;
  std::string message_;
};

}  // namespace sidestep::io
