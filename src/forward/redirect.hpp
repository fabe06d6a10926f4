// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "forward/pipeline.hpp"

namespace sidestep::forward {

/// Tells the sender of a packet that is about to leave by the device it came in by of the better first hop (RFC 4861
/// §8.2), if the sender is a neighbor and has not been told often.
void send_redirect(Pipeline& pipeline, const Transit& transit);

}  // namespace sidestep::forward
