// SPDX-License-Identifier: Apache-2.0
//
// Captures in and out.
//
// Reading leaves the file formats to libpcap: pcap in both byte orders and both precisions, pcapng with its interface
// blocks. What this module adds is the link layer (link_type.cpp: where the IPv6 packet begins, how the frame was
// addressed), an order across several captures (capture_merge.cpp), and names for the ways in which captures are
// damaged, because a damaged record must never be forwarded as if it were whole.
//
// What libpcap 1.10.3 does with the oddities, found out with files made for the purpose (capture_reader_test.cpp):
//
//   captured < original       handed on as it is; so is captured > original, and a record of no bytes at all
//   captured > snaplen        cut to snaplen, which makes it captured < original: the damage stays visible
//   captured > 262,144        error "invalid packet capture length", nothing behind it can be read
//   file ends in a record     error "truncated dump file" (pcapng: "truncated pcapng dump file"), after all whole records
//   pcapng, two link types    error when the second interface block comes, also when it comes before any packet; the same
//                             for two snapshot lengths
//   pcap seconds >= 2^31      handed on as negative; taken here as the unsigned 32 bits that the file holds
//
// Nothing is hidden, so each oddity can be told from the record's two lengths and libpcap's message. A file that ends in a
// record is what an interrupted tcpdump leaves behind and is an end like another, with a note; a broken file is an error.
//
// Writing (capture_writer.cpp) goes through libpcap, too. The drop file (pcapng_writer.cpp) is written by us, since
// libpcap writes no pcapng: section header, one interface block per input with the device's name, enhanced packet blocks
// with a comment each.
//
// Limits: one record in memory per file; one link type per file (libpcap's limit).
#include "io/capture_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <pcap/pcap.h>

namespace sidestep::io {
namespace {

constexpr std::uint64_t kNsPerSecond = 1'000'000'000;

/// Time of a record in nanoseconds, saturated: a capture may claim any time.
std::uint64_t time_of(const pcap_pkthdr& header) noexcept {
  std::int64_t seconds = header.ts.tv_sec;
  if (seconds < 0 && seconds >= INT32_MIN) seconds += std::int64_t{1} << 32;
  if (seconds < 0) return 0;
  const auto nanoseconds = std::clamp<std::int64_t>(header.ts.tv_usec, 0, kNsPerSecond - 1);
  const auto limit = static_cast<std::int64_t>(UINT64_MAX / kNsPerSecond);
  if (seconds >= limit) return UINT64_MAX;
  return static_cast<std::uint64_t>(seconds) * kNsPerSecond +
         static_cast<std::uint64_t>(nanoseconds);
}

/// libpcap's words for a failed open, said so that a person knows what to do.
std::string explain_open_failure(const char* words) {
  std::string text = words;
  if (text.ends_with(" 4 file header bytes, only got 0"))
    return "the file is empty; a pcap or pcapng capture is expected";
  if (text == "unknown file format") return "not a capture: neither pcap nor pcapng";
  return text;
}

}  // namespace

void CaptureReader::Close::operator()(pcap* handle) const noexcept { pcap_close(handle); }

CaptureReader::CaptureReader(std::string path, pcap* handle, LinkType link_type)
    : path_(std::move(path)), handle_(handle), link_type_(link_type) {}

Result<CaptureReader> CaptureReader::open(const std::string& path) {
  std::FILE* file = path == "-" ? stdin : std::fopen(path.c_str(), "rb");
  if (file == nullptr) return failure(errno, fmt::format("{}: {}", path, std::strerror(errno)));
  char words[PCAP_ERRBUF_SIZE] = "";
  pcap* handle = pcap_fopen_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, words);
  if (handle == nullptr) {
    if (file != stdin) std::fclose(file);
    return failure(EINVAL, fmt::format("{}: {}", path, explain_open_failure(words)));
  }
  const int dlt = pcap_datalink(handle);
  const auto link_type = link_type_of_dlt(dlt);
  if (!link_type) {
    pcap_close(handle);
    return failure(EPROTONOSUPPORT,
                   fmt::format("{}: link type {} is not supported; supported are {}", path,
                               describe_dlt(dlt), supported_link_types()));
  }
  return CaptureReader(path, handle, *link_type);
}

ReadOutcome CaptureReader::next(Record& record) {
  pcap_pkthdr* header = nullptr;
  const u_char* bytes = nullptr;
  const int outcome = pcap_next_ex(handle_.get(), &header, &bytes);
  if (outcome == 1) {
    record = {{bytes, header->caplen}, header->len, time_of(*header)};
    return ReadOutcome::kRecord;
  }
  if (outcome == PCAP_ERROR_BREAK) return ReadOutcome::kEnd;
  message_ = pcap_geterr(handle_.get());
  return message_.starts_with("truncated ") ? ReadOutcome::kCutOff : ReadOutcome::kBroken;
}

}  // namespace sidestep::io
