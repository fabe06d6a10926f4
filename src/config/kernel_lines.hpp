// SPDX-License-Identifier: Apache-2.0
// A configuration sorted for the tools that configure a kernel with it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sidestep::config {

/// Which tool takes a line.
enum class LineKind : std::uint8_t {
  kIpv6,    ///< `ip -6 -batch`
  kIpv4,    ///< `ip -4 -batch`
  kIp,      ///< `ip -batch`: nexthop groups, which iproute2 6.1 refuses with a family
  kSysctl,  ///< `sysctl`: the text is what follows that word
  kHmac,    ///< `ip sr hmac set …`, which asks for the secret
};

struct KernelLine {
  LineKind kind = LineKind::kIpv6;
  std::uint32_t line = 0;
  std::string text;    ///< continuation lines joined, comments and our extensions taken away
  std::string secret;  ///< kHmac
  bool link = false;   ///< `link …`: a caller with other devices may want to make its own
};

/// Sorts lines in order. Lines that cannot be understood are passed on as they are: the tool says what it thinks of them.
[[nodiscard]] std::vector<KernelLine> split_for_kernel(std::string_view text);

}  // namespace sidestep::config
