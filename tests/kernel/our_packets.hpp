// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include <sidestep/net/ids.hpp>

#include "kernel/our_router.hpp"
#include "kernel/packet_run.hpp"

namespace sidestep::kernel {

/// Our forwarding plane as a router of frames, one at a time.
class OurPackets {
 public:
  explicit OurPackets(OurRouter& router);
  ~OurPackets();
  OurPackets(const OurPackets&) = delete;
  OurPackets& operator=(const OurPackets&) = delete;

  /// Sends a frame `count` times; the verdict is the last one's. What it teaches changes the router before the next one.
  PacketOutcome send(const std::string& device, const Bytes& frame, TimeNs now, unsigned count = 1);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sidestep::kernel
