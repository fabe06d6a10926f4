// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string>
#include <utility>

#include <sidestep/result.hpp>

namespace sidestep::io {

/// A file that appears under its name only when it is complete: written beside, then renamed.
///
/// Lifetime: what was not committed is removed by the destructor
class OutputFile {
 public:
  /// Errors: the errno of creating the file
  [[nodiscard]] static Result<OutputFile> create(std::string path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  [[nodiscard]] std::FILE* stream() const noexcept { return stream_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Hands the stream over to someone who closes it before commit().
  [[nodiscard]] std::FILE* release_stream() noexcept { return std::exchange(stream_, nullptr); }
  /// Closes the file and gives it its name, replacing what was there.
  /// Errors: the errno of writing, closing or renaming, e.g. ENOSPC
  Result<void> commit();

 private:
  OutputFile(std::string path, std::string partial, std::FILE* stream);
  Result<void> close();

  std::string path_;
  std::string partial_;
  std::FILE* stream_;
};

}  // namespace sidestep::io
