// SPDX-License-Identifier: Apache-2.0
// Runs the built program as a user does, for tests.
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "io/capture_bytes.hpp"
#include "io/capture_reader.hpp"

namespace sidestep::app::testing {

struct Ran {
  int status = -1;  ///< exit status; -1: ended by a signal
  std::string out;
  std::string err;
};

inline std::string quoted(const std::string& word) { return "'" + word + "'"; }

/// Runs `sidestep` with these words in a directory for its output.
inline Ran run_program(const std::vector<std::string>& words) {
  const io::testing::ScratchDirectory directory;
  std::string command = quoted(SIDESTEP_PROGRAM);
  for (const auto& word : words) command += " " + quoted(word);
  command +=
      " >" + quoted(directory.path("out")) + " 2>" + quoted(directory.path("err")) + " </dev/null";
  const int status = std::system(command.c_str());
  Ran ran;
  if (WIFEXITED(status)) ran.status = WEXITSTATUS(status);
  const auto out = io::testing::read_file(directory.path("out"));
  const auto err = io::testing::read_file(directory.path("err"));
  ran.out.assign(out.begin(), out.end());
  ran.err.assign(err.begin(), err.end());
  return ran;
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// All frames of a capture; empty when it cannot be opened.
inline std::vector<io::testing::Bytes> frames_of(const std::string& path) {
  std::vector<io::testing::Bytes> frames;
  auto reader = io::CaptureReader::open(path);
  if (!reader) return frames;
  io::Record record;
  while (reader->next(record) == io::ReadOutcome::kRecord) {
    frames.emplace_back(record.bytes.begin(), record.bytes.end());
  }
  return frames;
}

}  // namespace sidestep::app::testing
