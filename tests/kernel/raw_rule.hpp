// SPDX-License-Identifier: Apache-2.0
// Rules with selectors that the kernel knows and iproute2 6.1 does not, as netlink messages.
#pragma once

#include <string>

struct mnl_socket;

namespace sidestep::kernel {

/// Sends `rule add|del …` to the kernel. Returns 0, the kernel's errno, or -1 when the line has a word this does not know.
int apply_raw_rule(mnl_socket* socket, const std::string& line);

}  // namespace sidestep::kernel
