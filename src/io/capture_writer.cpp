// SPDX-License-Identifier: Apache-2.0
#include "io/capture_writer.hpp"

#include <cerrno>
#include <utility>

#include <fmt/format.h>
#include <pcap/pcap.h>

#include <sidestep/assert.hpp>

namespace sidestep::io {
namespace {

constexpr int kSnapLength = 262'144;  // libpcap's own maximum
constexpr std::uint64_t kNsPerSecond = 1'000'000'000;

}  // namespace

struct CaptureWriter::Handles {
  explicit Handles(OutputFile output_file) : file(std::move(output_file)) {}
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;
  ~Handles() {
    if (dumper != nullptr) pcap_dump_close(dumper);
    if (dead != nullptr) pcap_close(dead);
  }

  OutputFile file;
  pcap_t* dead = nullptr;           // libpcap's description of the file: link type, precision
  pcap_dumper_t* dumper = nullptr;  // owns the file's stream
};

CaptureWriter::CaptureWriter(std::unique_ptr<Handles> handles) : handles_(std::move(handles)) {}
CaptureWriter::~CaptureWriter() = default;
CaptureWriter::CaptureWriter(CaptureWriter&&) noexcept = default;

const std::string& CaptureWriter::path() const noexcept { return handles_->file.path(); }

Result<CaptureWriter> CaptureWriter::create(const std::string& path, LinkType type) {
  auto file = OutputFile::create(path);
  if (!file) return std::unexpected(file.error());
  auto handles = std::make_unique<Handles>(std::move(*file));
  handles->dead =
      pcap_open_dead_with_tstamp_precision(dlt_of(type), kSnapLength, PCAP_TSTAMP_PRECISION_NANO);
  if (handles->dead == nullptr)
    return failure(ENOMEM, fmt::format("{}: libpcap has no memory", path));
  handles->dumper = pcap_dump_fopen(handles->dead, handles->file.release_stream());
  if (handles->dumper == nullptr) {
    return failure(EIO, fmt::format("{}: {}", path, pcap_geterr(handles->dead)));
  }
  return CaptureWriter(std::move(handles));
}

void CaptureWriter::write(std::uint64_t time_ns, std::span<const std::uint8_t> frame) {
  pcap_pkthdr header{};
  header.ts.tv_sec = static_cast<time_t>(time_ns / kNsPerSecond);
  header.ts.tv_usec =
      static_cast<suseconds_t>(time_ns % kNsPerSecond);  // nanoseconds: the file's precision
  header.caplen = static_cast<bpf_u_int32>(frame.size());
  header.len = header.caplen;
  pcap_dump(reinterpret_cast<u_char*>(handles_->dumper), &header, frame.data());
  ++record_count_;
}

void CaptureWriter::write_ethernet(std::uint64_t time_ns, const net::MacAddress& destination,
                                   const net::MacAddress& source,
                                   std::span<const std::uint8_t> packet, std::uint16_t ether_type) {
  frame_.clear();
  frame_.insert(frame_.end(), destination.bytes.begin(), destination.bytes.end());
  frame_.insert(frame_.end(), source.bytes.begin(), source.bytes.end());
  frame_.push_back(static_cast<std::uint8_t>(ether_type >> 8));
  frame_.push_back(static_cast<std::uint8_t>(ether_type));
  frame_.insert(frame_.end(), packet.begin(), packet.end());
  write(time_ns, frame_);
}

Result<void> CaptureWriter::finish() {
  SIDESTEP_ASSERT(handles_->dumper != nullptr);
  errno = 0;
  const bool flushed =
      pcap_dump_flush(handles_->dumper) == 0 && std::ferror(pcap_dump_file(handles_->dumper)) == 0;
  const int code = errno == 0 ? EIO : errno;
  pcap_dump_close(std::exchange(handles_->dumper, nullptr));
  if (!flushed) return failure(code, fmt::format("{}: cannot be written", path()));
  return handles_->file.commit();
}

}  // namespace sidestep::io
