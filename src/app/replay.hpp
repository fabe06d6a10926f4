// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sidestep::app {

/// A packet that is to be explained: its number among the records of a device's captures, from 1.
struct PacketChoice {
  std::string device;  ///< empty: the only input
  std::uint64_t number = 0;
};

/// One `--in DEV=CAPTURE`.
struct ReplayInput {
  std::string device;
  std::string path;
};

/// `sidestep replay`: the command line.
struct ReplayOptions {
  std::string config;
  std::vector<ReplayInput> inputs;
  std::string out;         ///< directory
  bool check_mac = false;  ///< unicast frames to another MAC than the device's are not for us
  bool json = false;
  std::optional<PacketChoice> explained;
};

int replay(const ReplayOptions& options);

}  // namespace sidestep::app
