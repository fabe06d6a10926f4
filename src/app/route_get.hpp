// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace sidestep::app {

/// `sidestep route get`: the command line, the words in ip-route(8)'s order behind the options.
struct RouteGetOptions {
  std::string config;
  std::vector<std::string> words;  ///< ADDRESS [from A] [iif DEV] …
  bool explain = false;
  bool json = false;
};

int route_get(const RouteGetOptions& options);

}  // namespace sidestep::app
