// SPDX-License-Identifier: Apache-2.0
#include "app/replay_outputs.hpp"

#include <cerrno>
#include <filesystem>

#include <fmt/format.h>

namespace sidestep::app {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLocalName = "local.pcap";
constexpr std::string_view kDropsName = "drops.pcapng";

/// Refuses a device name that cannot be a file name here.
Result<void> check_name(const std::string& device) {
  if (device == "local") {
    return failure(
        EEXIST,
        "a device named local: its capture would be local.pcap, which is for local deliveries");
  }
  if (device.find('/') != std::string::npos) {
    return failure(EINVAL, fmt::format("the device name {} cannot be a file name", device));
  }
  return {};
}

/// Refuses a path that is one of the files being read.
Result<void> check_not_read(const std::string& path, const std::vector<std::string>& read_files) {
  for (const auto& read_file : read_files) {
    std::error_code ignored;
    for (const auto& candidate : {path, path + ".partial"}) {
      if (fs::equivalent(candidate, read_file, ignored)) {
        return failure(
            EEXIST, fmt::format("{} is read by this replay and would be overwritten", candidate));
      }
    }
  }
  return {};
}

}  // namespace

ReplayOutputs::ReplayOutputs(std::string directory, io::CaptureWriter local, io::PcapngWriter drops,
                             std::vector<io::PcapngInterface> inputs)
    : directory_(std::move(directory)),
      local_(std::move(local)),
      drops_(std::move(drops)),
      inputs_(std::move(inputs)) {}

Result<ReplayOutputs> ReplayOutputs::create(const std::string& directory, const fib::Links& links,
                                            std::vector<io::PcapngInterface> inputs,
                                            const std::vector<std::string>& read_files) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) return failure(error.value(), fmt::format("{}: {}", directory, error.message()));
  const std::string prefix = directory + "/";
  std::vector<std::string> stale;
  for (const auto& [index, link] : links.all()) {
    if (auto fine = check_name(link.name); !fine) return std::unexpected(fine.error());
    const std::string path = prefix + link.name + ".pcap";
    if (auto fine = check_not_read(path, read_files); !fine) return std::unexpected(fine.error());
    if (fs::is_regular_file(path, error)) stale.push_back(path);
  }
  for (const auto name : {kLocalName, kDropsName}) {
    if (auto fine = check_not_read(prefix + std::string(name), read_files); !fine)
      return std::unexpected(fine.error());
  }
  auto local = io::CaptureWriter::create(prefix + std::string(kLocalName), io::LinkType::kRaw);
  if (!local) return std::unexpected(local.error());
  auto drops = io::PcapngWriter::create(prefix + std::string(kDropsName),
                                        "sidestep " SIDESTEP_VERSION, inputs);
  if (!drops) return std::unexpected(drops.error());
  ReplayOutputs outputs(directory, std::move(*local), std::move(*drops), std::move(inputs));
  outputs.stale_ = std::move(stale);
  return outputs;
}

Result<void> ReplayOutputs::transmitted(const packet::Packet& packet, const std::string& device,
                                        std::uint64_t time_ns) {
  auto found = devices_.find(device);
  if (found == devices_.end()) {
    auto writer = io::CaptureWriter::create(path_of(device + ".pcap"), io::LinkType::kEthernet);
    if (!writer) return std::unexpected(writer.error());
    found = devices_.emplace(device, std::move(*writer)).first;
  }
  found->second.write_ethernet(time_ns, packet.meta.destination_mac, packet.meta.source_mac,
                               packet.bytes(), packet.meta.ether_type);
  return {};
}

void ReplayOutputs::delivered(const packet::Packet& packet, std::uint64_t time_ns) {
  local_.write(time_ns, packet.bytes());
}

void ReplayOutputs::dropped(const ReplayRecord& record, std::string_view comment) {
  drops_.write(record.input, record.time_ns, record.frame, record.original_size, comment);
}

void ReplayOutputs::dropped_generated(const packet::Packet& packet, const ReplayRecord& cause,
                                      std::string_view comment) {
  auto frame = io::ipv6_link_header(inputs_[cause.input].link_type);
  frame.insert(frame.end(), packet.bytes().begin(), packet.bytes().end());
  drops_.write(cause.input, cause.clock_ns, frame, static_cast<std::uint32_t>(frame.size()),
               comment);
}

Result<std::vector<WrittenFile>> ReplayOutputs::finish() {
  std::vector<WrittenFile> files;
  for (const auto& path : stale_) {
    std::error_code error;
    fs::remove(path, error);
    if (error) return failure(error.value(), fmt::format("{}: {}", path, error.message()));
  }
  for (auto& [device, writer] : devices_) {
    if (auto done = writer.finish(); !done) return std::unexpected(done.error());
    files.push_back({writer.path(), writer.record_count()});
  }
  if (auto done = local_.finish(); !done) return std::unexpected(done.error());
  files.push_back({local_.path(), local_.record_count()});
  if (auto done = drops_.finish(); !done) return std::unexpected(done.error());
  files.push_back({drops_.path(), drops_.record_count()});
  return files;
}

}  // namespace sidestep::app
