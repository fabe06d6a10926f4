// SPDX-License-Identifier: Apache-2.0
// Headends and the behaviors that take headers off or put them on, byte by byte. What a kernel sends is in tests/golden.
#include "srv6/headend.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "net/bytes_for_test.hpp"
#include "srv6/endpoint.hpp"

namespace sidestep::srv6 {
namespace {

using namespace net::test;
using fib::Seg6Mode;
using packet::DropReason;
using packet::Packet;

constexpr std::string_view kRouter = "2001:db8:a::1";
const Bytes kPacket =
    ipv6({.hop_limit = 9, .traffic_class = 0x2a, .flow_label = 7}, udp(1000, 2000, {1, 2, 3}));

Surroundings around() { return {.source = addr(kRouter), .flow_label = 0x54321}; }

fib::Seg6Encap encap_of(Seg6Mode mode, std::size_t count) {
  fib::Seg6Encap encap{.mode = mode};
  for (std::size_t i = 0; i < count; ++i)
    encap.segments.push_back(addr(i == 0 ? "fc00::1" : "fc00::2"));
  return encap;
}

struct Ran {
  Wanted wanted;
  Bytes bytes;
};
Ran run(const fib::Seg6Encap& encap, const Bytes& bytes, const Surroundings& given = around()) {
  Packet packet;
  EXPECT_TRUE(packet.assign(bytes));
  packet.meta.has_mac = true;
  packet.meta.destination_mac = {{2, 0, 0, 0, 0, 1}};
  packet.meta.source_mac = {{2, 0, 0, 0, 0, 2}};
  const Wanted wanted = run_headend(packet, encap, given);
  return {wanted, Bytes(packet.bytes().begin(), packet.bytes().end())};
}

Bytes outer(std::uint8_t next_header, const Bytes& rest) {
  return ipv6({.next_header = next_header,
               .source = kRouter,
               .destination = "fc00::1",
               .hop_limit = 9,
               .traffic_class = 0x2a,
               .flow_label = 0x54321},
              rest);
}

TEST(Headend, EncapsulatesInEachMode) {
  const auto srh_of = [](std::uint8_t next_header, std::uint8_t left,
                         std::vector<std::string_view> segments) {
    return srh({.next_header = next_header, .segments_left = left, .segments = segments});
  };
  EXPECT_EQ(run(encap_of(Seg6Mode::kEncap, 2), kPacket).bytes,
            outer(43, concat(srh_of(41, 1, {"fc00::2", "fc00::1"}), kPacket)));
  EXPECT_EQ(run(encap_of(Seg6Mode::kEncap, 1), kPacket).bytes,
            outer(43, concat(srh_of(41, 0, {"fc00::1"}), kPacket)));
  EXPECT_EQ(run(encap_of(Seg6Mode::kEncapRed, 2), kPacket).bytes,
            outer(43, concat(srh_of(41, 1, {"fc00::2"}), kPacket)));
  EXPECT_EQ(run(encap_of(Seg6Mode::kEncapRed, 1), kPacket).bytes, outer(41, kPacket));
  const Bytes frame = concat(Bytes{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x86, 0xdd}, kPacket);
  EXPECT_EQ(run(encap_of(Seg6Mode::kL2EncapRed, 1), kPacket).bytes, outer(143, frame));
  EXPECT_EQ(run(encap_of(Seg6Mode::kL2Encap, 2), kPacket).bytes,
            outer(43, concat(srh_of(143, 1, {"fc00::2", "fc00::1"}), frame)));
}

TEST(Headend, InsertsBehindTheIpv6Header) {
  const Bytes body(kPacket.begin() + 40, kPacket.end());
  const Bytes header =
      srh({.segments_left = 2, .segments = {"2001:db8:b::2", "fc00::2", "fc00::1"}});
  EXPECT_EQ(run(encap_of(Seg6Mode::kInline, 2), kPacket).bytes, ipv6({.next_header = 43,
                                                                      .destination = "fc00::1",
                                                                      .hop_limit = 9,
                                                                      .traffic_class = 0x2a,
                                                                      .flow_label = 7},
                                                                     header, body));
}

TEST(Headend, GrowsByWhatItSays) {
  for (const auto mode : {Seg6Mode::kInline, Seg6Mode::kEncap, Seg6Mode::kEncapRed}) {
    for (const std::size_t count : {1U, 2U, 126U}) {
      const auto encap = encap_of(mode, count);
      const Ran ran = run(encap, kPacket);
      EXPECT_EQ(ran.wanted.kind, Wanted::Kind::kNewLookup);
      EXPECT_EQ(ran.bytes.size(), kPacket.size() + growth_of(encap));
      EXPECT_EQ(net::Ipv6Header::check(ran.bytes)->payload_length(), ran.bytes.size() - 40);
    }
  }
}

void expect_drop(const fib::Seg6Encap& encap, const Bytes& bytes, DropReason reason,
                 const Surroundings& given = around()) {
  const Ran ran = run(encap, bytes, given);
  EXPECT_EQ(ran.wanted, Wanted::drop(reason));
  EXPECT_EQ(ran.bytes, bytes) << "a dropped packet is as it came";
}

TEST(Headend, RefusesWhatWouldBeTooLong) {
  const Bytes longest = ipv6({}, zeros(65'535 - 40 - 40));
  EXPECT_EQ(run(encap_of(Seg6Mode::kEncapRed, 1), longest).wanted.kind, Wanted::Kind::kNewLookup);
  expect_drop(encap_of(Seg6Mode::kEncap, 3), longest, DropReason::kEncapTooLong);
  expect_drop(encap_of(Seg6Mode::kL2Encap, 2), longest, DropReason::kEncapTooLong);
  expect_drop(encap_of(Seg6Mode::kInline, 6), longest, DropReason::kEncapTooLong);
}

TEST(Headend, NeedsASourceAKeyAndAFrame) {
  expect_drop(encap_of(Seg6Mode::kEncap, 1), kPacket, DropReason::kEncapNoSource, {});
  auto signed_path = encap_of(Seg6Mode::kEncap, 1);
  signed_path.hmac_key_id = 5;
  HmacSecrets secrets;
  expect_drop(signed_path, kPacket, DropReason::kHmac);
  expect_drop(signed_path, kPacket, DropReason::kHmac,
              {.source = addr(kRouter), .secrets = &secrets});
  secrets.emplace(5, HmacSecret(HmacAlgorithm::kSha1, "sidestep"));
  const Surroundings knowing{.source = addr(kRouter), .secrets = &secrets};
  EXPECT_EQ(run(signed_path, kPacket, knowing).wanted.kind, Wanted::Kind::kNewLookup);
  signed_path = encap_of(Seg6Mode::kEncap, 15);
  signed_path.hmac_key_id = 5;
  expect_drop(signed_path, kPacket, DropReason::kHmac, knowing);

  Packet packet;
  ASSERT_TRUE(packet.assign(kPacket));
  EXPECT_EQ(run_headend(packet, encap_of(Seg6Mode::kL2Encap, 1), around()),
            Wanted::drop(DropReason::kEncapNoFrame));
}

Wanted run_sid(Packet& packet, const fib::Seg6LocalEncap& sid, const Bytes& bytes) {
  EXPECT_TRUE(packet.assign(bytes));
  return run_behavior(packet, sid, Policy{}, around());
}

TEST(Decapsulation, EachBehaviorWantsItsWay) {
  using fib::Seg6LocalAction;
  const Bytes carrying = ipv6({.next_header = 41}, kPacket);
  Packet packet;
  const auto inside = [&] { return Bytes(packet.bytes().begin(), packet.bytes().end()); };
  fib::Seg6LocalEncap sid{.action = Seg6LocalAction::kEndDX6, .nh6 = addr("fe80::1")};
  EXPECT_EQ(run_sid(packet, sid, carrying),
            (Wanted{.kind = Wanted::Kind::kInputLookup, .nexthop = addr("fe80::1")}));
  EXPECT_EQ(inside(), kPacket);
  sid.nh6 = addr("::");
  EXPECT_EQ(run_sid(packet, sid, carrying), Wanted::lookup());
  sid = {.action = Seg6LocalAction::kEndDT6, .table = TableId{100}};
  EXPECT_EQ(
      run_sid(packet, sid, carrying),
      (Wanted{.kind = Wanted::Kind::kTableLookup, .may_be_local = true, .table = TableId{100}}));
  EXPECT_EQ(inside(), kPacket);
  sid = {.action = Seg6LocalAction::kEndDX2, .oif = IfIndex{3}};
  const Bytes frame = concat(zeros(12), Bytes{0x86, 0xdd}, kPacket);
  EXPECT_EQ(run_sid(packet, sid, ipv6({.next_header = 143}, frame)),
            (Wanted{.kind = Wanted::Kind::kSendFrame, .device = IfIndex{3}}));
  EXPECT_EQ(inside(), frame);
  EXPECT_EQ(run_sid(packet, sid, carrying), Wanted::drop(DropReason::kSidNoPayload));
}

TEST(Decapsulation, RefusesSegmentsLeftAndWhatIsNotThere) {
  const fib::Seg6LocalEncap sid{.action = fib::Seg6LocalAction::kEndDT6, .table = TableId{100}};
  Packet packet;
  const auto behind = [](const SrhFields& fields) {
    return ipv6({.next_header = 43}, srh(fields), kPacket);
  };
  EXPECT_EQ(run_sid(packet, sid,
                    behind({.next_header = 41, .segments_left = 1, .segments = {"fc00::1"}})),
            Wanted::drop(DropReason::kSidSegmentsLeft));
  // What is no valid SRH is passed over.
  EXPECT_EQ(
      run_sid(
          packet, sid,
          behind({.next_header = 41, .segments_left = 1, .segments = {"fc00::1"}, .last_entry = 7}))
          .kind,
      Wanted::Kind::kTableLookup);
  for (const Bytes& bytes :
       {ipv6({.next_header = 17}, udp(1, 2)), ipv6({.next_header = 41}, zeros(39)),
        ipv6({.next_header = 44}, fragment(41, 8, true), kPacket), ipv6({.next_header = 41})}) {
    EXPECT_EQ(run_sid(packet, sid, bytes), Wanted::drop(DropReason::kSidNoPayload));
    EXPECT_EQ(Bytes(packet.bytes().begin(), packet.bytes().end()), bytes);
  }
}

TEST(Binding, B6InsertsAndB6EncapsEncapsulates) {
  fib::Seg6LocalEncap sid{.action = fib::Seg6LocalAction::kEndB6,
                          .srh_segments = {addr("fc00::1"), addr("fc00::2")}};
  const Bytes own = srh({.segments_left = 1, .segments = {"fc00::9", "fc00::8"}});
  const Bytes bytes = ipv6({.next_header = 43, .destination = "fc00::8"}, own, udp(1, 2));
  Packet packet;
  const auto now = [&] { return Bytes(packet.bytes().begin(), packet.bytes().end()); };
  EXPECT_EQ(run_sid(packet, sid, bytes), Wanted::lookup());
  const Bytes inserted =
      srh({.next_header = 43, .segments_left = 2, .segments = {"fc00::8", "fc00::2", "fc00::1"}});
  EXPECT_EQ(now(), ipv6({.next_header = 43, .destination = "fc00::1"}, inserted, own, udp(1, 2)));

  sid.action = fib::Seg6LocalAction::kEndB6Encaps;
  EXPECT_EQ(run_sid(packet, sid, bytes), Wanted::lookup());
  const Bytes moved =
      ipv6({.next_header = 43, .destination = "fc00::9"},
           srh({.segments_left = 0, .segments = {"fc00::9", "fc00::8"}}), udp(1, 2));
  const Bytes path =
      srh({.next_header = 41, .segments_left = 1, .segments = {"fc00::2", "fc00::1"}});
  EXPECT_EQ(
      now(),
      ipv6({.next_header = 43, .source = kRouter, .destination = "fc00::1", .flow_label = 0x54321},
           path, moved));
  EXPECT_EQ(run_sid(packet, sid, ipv6({.destination = "fc00::8"}, udp(1, 2))),
            Wanted::drop(DropReason::kSidNoSrh));
}

}  // namespace
}  // namespace sidestep::srv6
