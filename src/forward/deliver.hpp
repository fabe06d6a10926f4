// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "forward/pipeline.hpp"

namespace sidestep::forward {

/// Local delivery (kernel: ip6_input): works through the extension headers that mean something at the destination,
/// then hands the packet to its upper layer. A segment routing header may send it on instead.
[[nodiscard]] Next deliver(Pipeline& pipeline, Transit& transit);

/// Delivery to a multicast group, if the ingress device listens to it (kernel: ip6_mc_input).
[[nodiscard]] Next deliver_multicast(Pipeline& pipeline, Transit& transit);

}  // namespace sidestep::forward
