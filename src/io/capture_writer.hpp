// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <sidestep/net/address.hpp>
#include <sidestep/result.hpp>

#include "io/link_type.hpp"
#include "io/output_file.hpp"

struct pcap;
struct pcap_dumper;

namespace sidestep::io {

/// Writes a pcap file with nanosecond times.
///
/// Thread:   one at a time
/// Lifetime: the file appears under its name when finish() succeeds, not before
class CaptureWriter {
 public:
  /// Errors: the errno of creating the file
  [[nodiscard]] static Result<CaptureWriter> create(const std::string& path, LinkType type);
  ~CaptureWriter();
  CaptureWriter(CaptureWriter&&) noexcept;
  CaptureWriter& operator=(CaptureWriter&&) = delete;

  /// Writes a frame as it is.
  /// Cost: a buffered write; errors show in finish()
  void write(std::uint64_t time_ns, std::span<const std::uint8_t> frame);
  /// Writes an IPv6 packet, or another if `ether_type` says so, in an Ethernet frame; only for LinkType::kEthernet.
  void write_ethernet(std::uint64_t time_ns, const net::MacAddress& destination,
                      const net::MacAddress& source, std::span<const std::uint8_t> packet,
                      std::uint16_t ether_type = 0x86dd);
  /// Errors: the errno of what went wrong in this or any write before
  Result<void> finish();
  [[nodiscard]] const std::string& path() const noexcept;
  [[nodiscard]] std::uint64_t record_count() const noexcept { return record_count_; }

 private:
  struct Handles;
  explicit CaptureWriter(std::unique_ptr<Handles> handles);

  std::unique_ptr<Handles> handles_;
  std::vector<std::uint8_t> frame_;  // scratch for write_ethernet
  std::uint64_t record_count_ = 0;
};

}  // namespace sidestep::io
