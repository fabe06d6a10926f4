// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <sidestep/fib/link.hpp>
#include <sidestep/net/address.hpp>

namespace sidestep::lookup {

/// RFC 6724 section 5 as the kernel does it (ipv6_dev_get_saddr): the best of our addresses toward a destination over a
/// device (none: any); empty when no address is a candidate.
[[nodiscard]] std::optional<net::Ipv6Address> best_source(const fib::Links& links,
                                                          const net::Ipv6Address& destination,
                                                          IfIndex device);

}  // namespace sidestep::lookup
