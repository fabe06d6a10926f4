// SPDX-License-Identifier: Apache-2.0
// The way out, when a device changes between the lookup of a packet and its sending.
#include "forward/output.hpp"

#include <gtest/gtest.h>

#include "forward/lab_for_test.hpp"
#include "forward/route.hpp"

namespace sidestep::forward::test {
namespace {

using packet::DropReason;

class Output : public Lab {
 protected:
  /// Looks a packet up, makes a change, sends the packet.
  DropReason send_across(const lookup::Change& change) {
    const rcu::ReadSection section;
    const Context context{fib, neighbors, srv6_settings};
    Pipeline pipeline(context);
    packet::Packet packet;
    EXPECT_TRUE(packet.assign(udp_packet(kA, kB)));
    packet.meta.ingress = fib.links().find("r-a")->index;
    Transit transit{.packet = &packet, .ingress = fib.links().find("r-a")};
    transit.received_size = packet.size();
    transit.received_hop_limit = 64;
    EXPECT_TRUE(forward::route(pipeline, transit, KeyDepth::kFull));
    must(change);
    output(pipeline, transit);
    counters = pipeline.counters;
    packet.dst.reset();
    return packet.meta.drop_reason;
  }
  packet::Counters counters;
};

TEST_F(Output, Ipv6WasDisabledMeanwhile) {
  const IfIndex egress = fib.links().find("r-b")->index;
  EXPECT_EQ(send_across(lookup::SysctlChange{"net.ipv6.conf.r-b.disable_ipv6", "1"}),
            DropReason::kEgressIpv6Disabled);
  EXPECT_EQ(counters.device(egress, packet::Snmp::kIp6OutDiscards), 1U);
}

TEST_F(Output, DeviceWentDownMeanwhile) {
  EXPECT_EQ(send_across(lookup::LinkChange{.name = "r-b", .up = false}), DropReason::kEgressDown);
}

TEST_F(Output, DeviceIsGone) {
  EXPECT_EQ(send_across(lookup::LinkDelete{"r-b"}), DropReason::kEgressDown);
}

}  // namespace
}  // namespace sidestep::forward::test
