// SPDX-License-Identifier: Apache-2.0
// golden_builder DIRECTORY: writes every golden case as files, from the cases stated in this directory's sources.
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "golden/case.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: golden_builder DIRECTORY\n");
    return 2;
  }
  for (const auto& golden : sidestep::golden::all_cases()) {
    const auto directory = std::filesystem::path(argv[1]) / golden.name;
    std::filesystem::create_directories(directory);
    std::ofstream(directory / "router.conf") << sidestep::golden::print_config(golden);
    std::ofstream(directory / "packets.txt") << sidestep::golden::print_steps(golden);
  }
  return 0;
}
