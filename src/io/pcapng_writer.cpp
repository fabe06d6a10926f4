// SPDX-License-Identifier: Apache-2.0
//
// pcapng (draft-ietf-opsawg-pcapng), the three blocks that are needed:
//
//   +---------------+---------------+------ … -------+---------------+
//   | block type    | total length  | body, padded   | total length  |   all 32 bits, little-endian
//   +---------------+---------------+------ … -------+---------------+
//
// An option is a 16-bit code, a 16-bit length and a value padded to 32 bits; code 0 ends the list.
#include "io/pcapng_writer.hpp"

#include <algorithm>

namespace sidestep::io {
namespace {

constexpr std::uint32_t kSectionHeader = 0x0a0d0d0a;
constexpr std::uint32_t kInterfaceDescription = 1;
constexpr std::uint32_t kEnhancedPacket = 6;
constexpr std::uint32_t kByteOrderMagic = 0x1a2b3c4d;
constexpr std::uint32_t kSnapLengthUnlimited = 0;

constexpr std::uint16_t kOptionEnd = 0;
constexpr std::uint16_t kOptionComment = 1;
constexpr std::uint16_t kSectionUserApplication = 4;
constexpr std::uint16_t kInterfaceName = 2;
constexpr std::uint16_t kInterfaceTimestampResolution = 9;
constexpr std::uint8_t kNanoseconds = 9;  // 10^-9 s

constexpr std::size_t kOptionSizeMax = 0xffff;

using Bytes = std::vector<std::uint8_t>;

void put16(Bytes& bytes, std::uint16_t value) {
  bytes.push_back(static_cast<std::uint8_t>(value));
  bytes.push_back(static_cast<std::uint8_t>(value >> 8));
}

void put32(Bytes& bytes, std::uint32_t value) {
  put16(bytes, static_cast<std::uint16_t>(value));
  put16(bytes, static_cast<std::uint16_t>(value >> 16));
}

void pad(Bytes& bytes) { bytes.resize((bytes.size() + 3) & ~std::size_t{3}); }

void put_option(Bytes& bytes, std::uint16_t code, std::string_view value) {
  value = value.substr(0, kOptionSizeMax);
  put16(bytes, code);
  put16(bytes, static_cast<std::uint16_t>(value.size()));
  bytes.insert(bytes.end(), value.begin(), value.end());
  pad(bytes);
}

}  // namespace

Result<PcapngWriter> PcapngWriter::create(const std::string& path, std::string_view application,
                                          std::span<const PcapngInterface> interfaces) {
  auto file = OutputFile::create(path);
  if (!file) return std::unexpected(file.error());
  PcapngWriter writer(std::move(*file));
  auto& body = writer.body_;
  put32(body, kByteOrderMagic);
  put16(body, 1);  // version 1.0
  put16(body, 0);
  put32(body, 0xffffffff);  // section length: not known
  put32(body, 0xffffffff);
  put_option(body, kSectionUserApplication, application);
  put32(body, kOptionEnd);
  writer.write_block(kSectionHeader);
  for (const auto& interface : interfaces) {
    put16(body, static_cast<std::uint16_t>(interface.link_type));
    put16(body, 0);
    put32(body, kSnapLengthUnlimited);
    put_option(body, kInterfaceName, interface.name);
    const char resolution = static_cast<char>(kNanoseconds);
    put_option(body, kInterfaceTimestampResolution, {&resolution, 1});
    put32(body, kOptionEnd);
    writer.write_block(kInterfaceDescription);
  }
  return writer;
}

void PcapngWriter::write_block(std::uint32_t type) {
  Bytes frame;
  const auto total = static_cast<std::uint32_t>(body_.size() + 12);
  put32(frame, type);
  put32(frame, total);
  std::fwrite(frame.data(), 1, frame.size(), file_.stream());
  put32(body_, total);
  std::fwrite(body_.data(), 1, body_.size(), file_.stream());
  body_.clear();
}

void PcapngWriter::write(std::size_t interface, std::uint64_t time_ns,
                         std::span<const std::uint8_t> frame, std::uint32_t original_size,
                         std::string_view comment) {
  put32(body_, static_cast<std::uint32_t>(interface));
  put32(body_, static_cast<std::uint32_t>(time_ns >> 32));
  put32(body_, static_cast<std::uint32_t>(time_ns));
  put32(body_, static_cast<std::uint32_t>(frame.size()));
  // A record that claims more captured than original bytes is told in its comment; the file itself stays valid.
  put32(body_, std::max(original_size, static_cast<std::uint32_t>(frame.size())));
  body_.insert(body_.end(), frame.begin(), frame.end());
  pad(body_);
  put_option(body_, kOptionComment, comment);
  put32(body_, kOptionEnd);
  write_block(kEnhancedPacket);
  ++record_count_;
}

Result<void> PcapngWriter::finish() { return file_.commit(); }

}  // namespace sidestep::io
