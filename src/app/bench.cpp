// SPDX-License-Identifier: Apache-2.0
// The benchmark is a program of its own, so that what it compares us with is not linked into this one.
#include "app/bench.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "app/exit_code.hpp"

namespace sidestep::app {
namespace {

constexpr const char* kProgram = "sidestep-bench";

/// The benchmark's path; empty when it is in neither place.
std::filesystem::path find_bench() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return {};
  const auto directory = self.parent_path();
  for (const auto& path :
       {directory / kProgram, directory.parent_path() / "libexec" / "sidestep" / kProgram}) {
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

}  // namespace

int start_bench(const std::vector<std::string>& words) {
  const auto path = find_bench();
  if (path.empty()) {
    return fail(
        fmt::format("{} is neither beside this program nor in ../libexec/sidestep", kProgram));
  }
  std::vector<std::string> owned{kProgram};
  owned.insert(owned.end(), words.begin(), words.end());
  std::vector<char*> arguments;
  arguments.reserve(owned.size() + 1);
  for (auto& word : owned) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(path.c_str(), arguments.data());
  return fail(fmt::format("{}: {}", path.string(), std::strerror(errno)));
}

}  // namespace sidestep::app
