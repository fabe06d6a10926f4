// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "forward/pipeline.hpp"

namespace sidestep::forward {

/// Forwards a packet whose destination is elsewhere (kernel: ip6_forward), or drops it. It has a verdict afterwards.
void forward(Pipeline& pipeline, Transit& transit);

}  // namespace sidestep::forward
