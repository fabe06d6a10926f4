// SPDX-License-Identifier: Apache-2.0
// Captures written byte by byte, whole and damaged ones, for tests.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace sidestep::io::testing {

using Bytes = std::vector<std::uint8_t>;

inline void append(Bytes& to, const Bytes& more) { to.insert(to.end(), more.begin(), more.end()); }
inline Bytes le16(std::uint32_t value) {
  return {static_cast<std::uint8_t>(value), static_cast<std::uint8_t>(value >> 8)};
}
inline Bytes le32(std::uint32_t value) {
  Bytes bytes = le16(value);
  append(bytes, le16(value >> 16));
  return bytes;
}

/// File header of a pcap file with microseconds.
inline Bytes pcap_header(std::uint32_t link_type = 1, std::uint32_t snap_length = 65'535) {
  Bytes bytes = le32(0xa1b2c3d4);
  append(bytes, le16(2));
  append(bytes, le16(4));
  for (const std::uint32_t word : {0U, 0U, snap_length, link_type}) append(bytes, le32(word));
  return bytes;
}

/// A pcap record whose two lengths may lie.
inline Bytes pcap_lying_record(const Bytes& frame, std::uint32_t captured, std::uint32_t original,
                               std::uint32_t seconds = 1, std::uint32_t microseconds = 0) {
  Bytes bytes;
  for (const std::uint32_t word : {seconds, microseconds, captured, original})
    append(bytes, le32(word));
  append(bytes, frame);
  return bytes;
}
inline Bytes pcap_record(const Bytes& frame, std::uint32_t seconds = 1,
                         std::uint32_t microseconds = 0) {
  const auto size = static_cast<std::uint32_t>(frame.size());
  return pcap_lying_record(frame, size, size, seconds, microseconds);
}

inline Bytes pcapng_block(std::uint32_t type, Bytes body) {
  body.resize((body.size() + 3) & ~std::size_t{3});
  const Bytes total = le32(static_cast<std::uint32_t>(body.size() + 12));
  Bytes bytes = le32(type);
  append(bytes, total);
  append(bytes, body);
  append(bytes, total);
  return bytes;
}
inline Bytes pcapng_section() {
  Bytes body = le32(0x1a2b3c4d);
  append(body, le32(1));
  append(body, le32(0xffffffff));
  append(body, le32(0xffffffff));
  return pcapng_block(0x0a0d0d0a, body);
}
inline Bytes pcapng_interface(std::uint32_t link_type, std::uint32_t snap_length = 65'535) {
  Bytes body = le32(link_type);
  append(body, le32(snap_length));
  return pcapng_block(1, body);
}
inline Bytes pcapng_packet(const Bytes& frame, std::uint32_t interface = 0,
                           std::uint32_t original = 0) {
  const auto size = static_cast<std::uint32_t>(frame.size());
  Bytes body;
  for (const std::uint32_t word : {interface, 0U, 5U, size, original == 0 ? size : original})
    append(body, le32(word));
  append(body, frame);
  return pcapng_block(6, body);
}

/// An IPv6 packet: header and `payload_size` bytes of payload.
inline Bytes ipv6_packet(const Bytes& source, const Bytes& destination, std::uint8_t hop_limit = 64,
                         std::uint8_t next_header = 59, std::uint16_t payload_size = 16) {
  Bytes bytes = {0x60,
                 0,
                 0,
                 0,
                 static_cast<std::uint8_t>(payload_size >> 8),
                 static_cast<std::uint8_t>(payload_size),
                 next_header,
                 hop_limit};
  append(bytes, source);
  append(bytes, destination);
  bytes.resize(40U + payload_size);
  return bytes;
}

/// An Ethernet frame between 02:00:00:00:00:0a and 02:00:00:00:00:01.
inline Bytes ethernet(const Bytes& payload, std::uint16_t type = 0x86dd,
                      const Bytes& destination = {2, 0, 0, 0, 0, 1}) {
  Bytes bytes = destination;
  append(bytes, {2, 0, 0, 0, 0, 0x0a, static_cast<std::uint8_t>(type >> 8),
                 static_cast<std::uint8_t>(type)});
  append(bytes, payload);
  return bytes;
}

/// A directory of its own for one test, removed with it.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "sidestep-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string path(const std::string& name = "") const {
    return (path_ / name).string();
  }
  std::string write(const std::string& name, const Bytes& bytes) const {
    std::ofstream file(path_ / name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    return path(name);
  }
  std::string write(const std::string& name, const std::string& text) const {
    return write(name, Bytes(text.begin(), text.end()));
  }

 private:
  std::filesystem::path path_;
};

inline Bytes read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace sidestep::io::testing
