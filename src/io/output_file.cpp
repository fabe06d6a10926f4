// SPDX-License-Identifier: Apache-2.0
#include "io/output_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace sidestep::io {

OutputFile::OutputFile(std::string path, std::string partial, std::FILE* stream)
    : path_(std::move(path)), partial_(std::move(partial)), stream_(stream) {}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      partial_(std::exchange(other.partial_, {})),
      stream_(std::exchange(other.stream_, nullptr)) {}

OutputFile::~OutputFile() {
  if (stream_ != nullptr) std::fclose(stream_);
  if (!partial_.empty()) std::remove(partial_.c_str());
}

Result<OutputFile> OutputFile::create(std::string path) {
  // commit() renames over what is there, which must not be a device such as /dev/null.
  std::error_code missing;
  const auto there = std::filesystem::status(path, missing);
  if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there) &&
      !std::filesystem::is_directory(there))
    return failure(EEXIST, fmt::format("{}: exists and is not a regular file", path));
  std::string partial = path + ".partial";
  std::FILE* stream = std::fopen(partial.c_str(), "wb");
  if (stream == nullptr)
    return failure(errno, fmt::format("{}: {}", partial, std::strerror(errno)));
  return OutputFile(std::move(path), std::move(partial), stream);
}

Result<void> OutputFile::close() {
  if (stream_ == nullptr) return {};
  errno = 0;
  const bool written = std::fflush(stream_) == 0 && std::ferror(stream_) == 0;
  const bool closed = std::fclose(std::exchange(stream_, nullptr)) == 0;
  if (written && closed) return {};
  const int code = errno == 0 ? EIO : errno;
  return failure(code, fmt::format("{}: {}", path_, std::strerror(code)));
}

Result<void> OutputFile::commit() {
  if (auto closed = close(); !closed) return closed;
  if (std::rename(partial_.c_str(), path_.c_str()) != 0) {
    return failure(errno, fmt::format("{}: {}", path_, std::strerror(errno)));
  }
  partial_.clear();
  return {};
}

}  // namespace sidestep::io
