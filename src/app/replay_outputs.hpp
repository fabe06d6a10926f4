// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sidestep/fib/link.hpp>
#include <sidestep/result.hpp>

#include "app/replay_record.hpp"
#include "io/capture_writer.hpp"
#include "io/pcapng_writer.hpp"
#include "packet/packet.hpp"

namespace sidestep::app {

/// A file that a replay wrote.
struct WrittenFile {
  std::string path;
  std::uint64_t packet_count = 0;
};

/// The directory of a replay's captures: DEV.pcap, local.pcap, drops.pcapng. All appear at the end, together.
class ReplayOutputs {
 public:
  /// Makes the directory if needed and refuses what would overwrite a file that is read.
  /// @param read_files  the captures and the configuration
  /// Errors: the errno of making or opening; EEXIST for an input that would be overwritten
  [[nodiscard]] static Result<ReplayOutputs> create(const std::string& directory,
                                                    const fib::Links& links,
                                                    std::vector<io::PcapngInterface> inputs,
                                                    const std::vector<std::string>& read_files);

  /// Errors: the errno of opening DEV.pcap at its first packet
  Result<void> transmitted(const packet::Packet& packet, const std::string& device,
                           std::uint64_t time_ns);
  void delivered(const packet::Packet& packet, std::uint64_t time_ns);
  void dropped(const ReplayRecord& record, std::string_view comment);
  /// A packet of the router's own that was dropped, filed under the input that caused it.
  void dropped_generated(const packet::Packet& packet, const ReplayRecord& cause,
                         std::string_view comment);
  /// Gives all files their names, and removes DEV.pcap of an earlier run for devices that sent nothing in this one.
  [[nodiscard]] Result<std::vector<WrittenFile>> finish();

 private:
  ReplayOutputs(std::string directory, io::CaptureWriter local, io::PcapngWriter drops,
                std::vector<io::PcapngInterface> inputs);
  [[nodiscard]] std::string path_of(std::string_view name) const {
    return directory_ + "/" + std::string(name);
  }

  std::string directory_;
  std::map<std::string, io::CaptureWriter> devices_;
  io::CaptureWriter local_;
  io::PcapngWriter drops_;
  std::vector<io::PcapngInterface> inputs_;
  std::vector<std::string> stale_;  // DEV.pcap of an earlier run
};

}  // namespace sidestep::app
