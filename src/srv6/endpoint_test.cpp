// SPDX-License-Identifier: Apache-2.0
// End and its flavors, byte by byte. The outcomes expected are those of a 6.18 kernel, but for what is not implemented.
#include "srv6/endpoint.hpp"

#include <algorithm>
#include <ostream>

#include <gtest/gtest.h>

#include "net/bytes_for_test.hpp"

namespace sidestep::srv6 {

static void PrintTo(const Wanted& wanted, std::ostream* out) {
  *out << "kind " << static_cast<int>(wanted.kind) << ", " << packet::text_of(wanted.reason).name
       << ", table " << wanted.table.value << ", device " << wanted.device.value << ", nexthop "
       << (wanted.nexthop ? wanted.nexthop->to_string() : "none");
}

namespace {

using namespace net::test;
using packet::DropReason;
using packet::Packet;

constexpr Wanted kLookup = Wanted::lookup();
constexpr Wanted dropped(DropReason reason) { return Wanted::drop(reason); }

constexpr std::string_view kSid = "fc00::1";
constexpr std::string_view kLast = "2001:db8:9::9";
const Bytes kUdp = udp(1000, 2000, {1, 2, 3, 4});
const Bytes kHmacTlv = concat(Bytes{5, 38}, zeros(38));

fib::Seg6LocalEncap end_sid() { return {}; }
fib::Seg6LocalEncap psp_sid() {
  fib::Seg6LocalEncap encap;
  encap.flavor_psp = true;
  return encap;
}
fib::Seg6LocalEncap csid_sid() {
  fib::Seg6LocalEncap encap;
  encap.flavor_next_csid = true;
  return encap;
}

/// A packet to the SID, with the parts behind the fixed header.
template <typename... Parts>
Bytes to_sid(std::uint8_t next_header, const Parts&... parts) {
  return ipv6({.next_header = next_header, .destination = kSid}, parts...);
}

struct Ran {
  Wanted result;
  Bytes bytes;  ///< afterwards
};

Ran run(const Bytes& bytes, const fib::Seg6LocalEncap& encap, Policy policy = {}) {
  Packet packet;
  EXPECT_TRUE(packet.assign(bytes));
  const Wanted result = run_behavior(packet, encap, policy);
  return {result, Bytes(packet.bytes().begin(), packet.bytes().end())};
}

void expect_drop(const Bytes& bytes, const fib::Seg6LocalEncap& encap, DropReason reason,
                 Policy policy = {}) {
  const Ran ran = run(bytes, encap, policy);
  EXPECT_EQ(ran.result, dropped(reason));
  EXPECT_EQ(ran.bytes, bytes) << "a dropped packet is as it came";
}

/// The packet as it must look after End: another destination, one segment fewer in the SRH at `offset`, nothing else.
Bytes advanced(Bytes bytes, std::size_t offset, std::string_view destination) {
  const auto address = addr(destination);
  std::ranges::copy(address.bytes, bytes.begin() + net::kIpv6DestinationOffset);
  --bytes[offset + net::RoutingHeader::kSegmentsLeftOffset];
  return bytes;
}

TEST(End, NeedsAnSrhWithSegmentsLeft) {
  for (const auto& sid : {end_sid(), psp_sid()}) {
    expect_drop(to_sid(17, kUdp), sid, DropReason::kSidNoSrh);
    expect_drop(to_sid(59), sid, DropReason::kSidNoSrh);
    expect_drop(to_sid(43, srh({.segments_left = 0, .segments = {kLast}}), kUdp), sid,
                DropReason::kSidNoSrh);
    expect_drop(to_sid(58, icmpv6(128, 0, 0, {}, "2001:db8:a::2", kSid)), sid,
                DropReason::kSidNoSrh);
  }
}

TEST(End, AdvancesAndChangesNothingElse) {
  const Bytes one = to_sid(
      43, srh({.segments_left = 1, .segments = {kLast, kSid}, .flags = 0x21, .tag = 7}), kUdp);
  const Ran last = run(one, end_sid());
  EXPECT_EQ(last.result, kLookup);
  EXPECT_EQ(last.bytes, advanced(one, 40, kLast));

  const Bytes two =
      to_sid(43, srh({.segments_left = 2, .segments = {kLast, "fc00::2", kSid}}), kUdp);
  const Ran middle = run(two, end_sid());
  EXPECT_EQ(middle.result, kLookup);
  EXPECT_EQ(middle.bytes, advanced(two, 40, "fc00::2"));
}

TEST(End, LeavesTheHopLimitAlone) {
  const Bytes bytes = ipv6({.next_header = 43, .destination = kSid, .hop_limit = 1},
                           srh({.segments_left = 1, .segments = {kLast, kSid}}), kUdp);
  EXPECT_EQ(run(bytes, end_sid()).bytes[net::kIpv6HopLimitOffset], 1);
}

TEST(End, TakesAReducedSrh) {
  const Bytes bytes = to_sid(43, srh({.segments_left = 1, .segments = {kLast}}), kUdp);
  const Ran ran = run(bytes, end_sid());
  EXPECT_EQ(ran.result, kLookup);
  EXPECT_EQ(ran.bytes, advanced(bytes, 40, kLast));
  expect_drop(to_sid(43, srh({.segments_left = 2, .segments = {kLast}}), kUdp), end_sid(),
              DropReason::kSrhMalformed);
}

// The destination need not be segment[segments_left], and the segments need not be unicast.
TEST(End, ComparesNothingWithTheSegmentList) {
  const Bytes bytes =
      to_sid(43, srh({.segments_left = 1, .segments = {"ff02::1", "2001:db8::dead"}}), kUdp);
  EXPECT_EQ(run(bytes, end_sid()).result, kLookup);
}

TEST(End, RefusesMalformedSrhs) {
  const std::vector<std::string_view> two{kLast, kSid};
  const auto refuse = [](const SrhFields& fields) {
    expect_drop(to_sid(43, srh(fields), kUdp), end_sid(), DropReason::kSrhMalformed);
    expect_drop(to_sid(43, srh(fields), kUdp), psp_sid(), DropReason::kSrhMalformed);
  };
  for (unsigned last_entry = 2; last_entry <= 255; ++last_entry) {
    refuse(
        {.segments_left = 1, .segments = two, .last_entry = static_cast<std::uint8_t>(last_entry)});
  }
  for (const std::uint8_t type : Bytes{0, 2, 3, 5, 255})
    refuse({.segments_left = 1, .segments = two, .routing_type = type});
  refuse({.segments_left = 3, .segments = two});                  // beyond even the reduced form
  refuse({.segments_left = 1, .segments = {}, .last_entry = 0});  // no room for a segment
  refuse({.segments_left = 1, .segments = two, .hdr_ext_len = 255});  // longer than the packet
  refuse(
      {.segments_left = 1, .segments = {kLast}, .tlvs = {4, 5, 0, 0, 0, 0, 0, 0}});  // 7 + 1 bytes
  refuse({.segments_left = 1,
          .segments = {kLast},
          .tlvs = {4, 7, 0, 0, 0, 0, 0, 0}});  // one byte too long
}

// The header says 24 bytes, the payload has 8: nothing of the packet before or behind may be taken for the rest.
TEST(End, RefusesAPayloadShorterThanTheSrh) {
  const Bytes bytes = to_sid(43, Bytes{17, 2, 4, 1, 0, 0, 0, 0});
  expect_drop(bytes, end_sid(), DropReason::kSrhMalformed);
  expect_drop(to_sid(43), end_sid(), DropReason::kSrhMalformed);
  expect_drop(to_sid(43, Bytes{17, 2, 4}), end_sid(), DropReason::kSrhMalformed);
}

TEST(End, TlvAreasOfZeroBytesPass) {
  const Bytes bytes =
      to_sid(43, srh({.segments_left = 1, .segments = {kLast}, .tlvs = zeros(8)}), kUdp);
  EXPECT_EQ(run(bytes, end_sid()).result, kLookup);
}

TEST(End, ActsOnTheFirstRoutingHeaderWithSegmentsLeft) {
  const Bytes used_up = srh({.next_header = 43, .segments_left = 0, .segments = {kLast}});
  const Bytes live = srh({.segments_left = 1, .segments = {kLast, kSid}});
  const Bytes bytes = to_sid(43, used_up, live, kUdp);
  const Ran ran = run(bytes, end_sid());
  EXPECT_EQ(ran.result, kLookup);
  EXPECT_EQ(ran.bytes, advanced(bytes, 40 + used_up.size(), kLast));

  // One of another type is passed over when it is used up, and ends the search when it is not.
  SrhFields type_0{.next_header = 43, .segments_left = 0, .segments = {kLast}, .routing_type = 0};
  EXPECT_EQ(run(to_sid(43, srh(type_0), live, kUdp), end_sid()).result, kLookup);
  type_0.segments_left = 1;
  expect_drop(to_sid(43, srh(type_0), live, kUdp), end_sid(), DropReason::kSrhMalformed);
}

TEST(End, FindsTheSrhBehindOtherHeaders) {
  const Bytes live = srh({.segments_left = 1, .segments = {kLast, kSid}});
  const auto expect_found = [&](std::uint8_t first, const Bytes& before) {
    const Bytes bytes = to_sid(first, before, live, kUdp);
    const Ran ran = run(bytes, end_sid());
    EXPECT_EQ(ran.result, kLookup);
    EXPECT_EQ(ran.bytes, advanced(bytes, 40 + before.size(), kLast));
  };
  expect_found(0, options(43));
  expect_found(60, options(43));
  expect_found(60, concat(options(0), options(43)));
  expect_found(44, fragment(43, 0, false));
  expect_found(44, fragment(43, 0, true));
  expect_found(51, authentication(43));
  expect_drop(to_sid(44, fragment(43, 8, false), live, kUdp), end_sid(), DropReason::kSidNoSrh);
  expect_drop(to_sid(50, live, kUdp), end_sid(), DropReason::kSidNoSrh);
  expect_drop(to_sid(135, options(43), live, kUdp), end_sid(), DropReason::kSidNoSrh);
  expect_drop(to_sid(60, Bytes{43, 9, 0, 0, 0, 0, 0, 0}), end_sid(), DropReason::kSrhMalformed);
}

TEST(Psp, PopsAtTheLastSegment) {
  for (const Bytes& tlvs : {Bytes{}, zeros(8)}) {
    const Bytes live = srh({.segments_left = 1, .segments = {kLast, kSid}, .tlvs = tlvs});
    const Ran ran = run(to_sid(43, live, kUdp), psp_sid());
    EXPECT_EQ(ran.result, kLookup);
    EXPECT_EQ(ran.bytes, ipv6({.next_header = 17, .destination = kLast}, kUdp));
  }
  const Ran reduced =
      run(to_sid(43, srh({.segments_left = 1, .segments = {kLast}}), kUdp), psp_sid());
  EXPECT_EQ(reduced.bytes, ipv6({.next_header = 17, .destination = kLast}, kUdp));
}

TEST(Psp, OnlyAdvancesBeforeTheLastSegment) {
  const Bytes bytes =
      to_sid(43, srh({.segments_left = 2, .segments = {kLast, "fc00::2", kSid}}), kUdp);
  const Ran ran = run(bytes, psp_sid());
  EXPECT_EQ(ran.result, kLookup);
  EXPECT_EQ(ran.bytes, advanced(bytes, 40, "fc00::2"));
}

TEST(Psp, PopsBehindOtherHeaders) {
  const Bytes live = srh({.segments_left = 1, .segments = {kLast, kSid}});
  const auto expect_popped = [&](std::uint8_t first, const Bytes& before, const Bytes& after) {
    const Ran ran = run(to_sid(first, before, live, kUdp), psp_sid());
    EXPECT_EQ(ran.result, kLookup);
    EXPECT_EQ(ran.bytes, ipv6({.next_header = first, .destination = kLast}, after, kUdp));
  };
  expect_popped(60, options(43), options(17));
  expect_popped(0, options(43), options(17));
  expect_popped(60, concat(options(60), options(43)), concat(options(60), options(17)));
  expect_popped(44, fragment(43, 0, true), fragment(17, 0, true));
  expect_popped(51, authentication(43), authentication(17));
}

TEST(Psp, PopsOneOfTwo) {
  const Bytes first = srh({.next_header = 43, .segments_left = 1, .segments = {kLast, kSid}});
  const Bytes second = srh({.segments_left = 1, .segments = {kLast, kSid}});
  const Ran ran = run(to_sid(43, first, second, kUdp), psp_sid());
  EXPECT_EQ(ran.bytes, ipv6({.next_header = 43, .destination = kLast}, second, kUdp));
}

TEST(Psp, LeavesNothingBehindTheHeaderWhenNothingWas) {
  const Bytes live = srh({.next_header = 59, .segments_left = 1, .segments = {kLast, kSid}});
  EXPECT_EQ(run(to_sid(43, live), psp_sid()).bytes,
            ipv6({.next_header = 59, .destination = kLast}));
}

TEST(Psp, IsBlockedByARoutingHeaderInFront) {
  const Bytes one = srh({.segments_left = 1, .segments = {kLast, kSid}});
  const Bytes two = srh({.segments_left = 2, .segments = {kLast, "fc00::2", kSid}});
  for (const std::uint8_t type : Bytes{0, 4}) {
    const Bytes used_up =
        srh({.next_header = 43, .segments_left = 0, .segments = {kLast}, .routing_type = type});
    for (const Bytes& live : {one, two}) {  // also where nothing is to be popped yet
      const Bytes bytes = to_sid(43, used_up, live, kUdp);
      expect_drop(bytes, psp_sid(), DropReason::kPspBlocked);
      EXPECT_EQ(run(bytes, end_sid()).result, kLookup) << "without PSP it is passed over";
    }
  }
}

TEST(Hmac, FollowsThePolicyOfTheIngressDevice) {
  const Bytes without = to_sid(43, srh({.segments_left = 1, .segments = {kLast, kSid}}), kUdp);
  const Bytes with = to_sid(
      43, srh({.segments_left = 1, .segments = {kLast, kSid}, .tlvs = kHmacTlv, .flags = 8}), kUdp);
  EXPECT_EQ(run(without, end_sid(), Policy{-1}).result, kLookup);
  EXPECT_EQ(run(without, end_sid(), Policy{0}).result, kLookup);
  expect_drop(without, end_sid(), DropReason::kHmac, Policy{1});
  EXPECT_EQ(run(with, end_sid(), Policy{-1}).result, kLookup);
  expect_drop(with, end_sid(), DropReason::kHmac, Policy{0});  // there is no such key
  expect_drop(with, end_sid(), DropReason::kHmac, Policy{1});
}

TEST(Hmac, IsPresentOnlyAsTheLastTlvWithItsFlag) {
  const std::vector<std::string_view> segments{kLast, kSid};
  const Bytes no_flag =
      to_sid(43, srh({.segments_left = 1, .segments = segments, .tlvs = kHmacTlv}), kUdp);
  const Bytes not_last = to_sid(43,
                                srh({.segments_left = 1,
                                     .segments = segments,
                                     .tlvs = concat(kHmacTlv, zeros(8)),
                                     .flags = 8}),
                                kUdp);
  for (const Bytes& absent : {no_flag, not_last}) {
    EXPECT_EQ(run(absent, end_sid(), Policy{0}).result, kLookup);
    expect_drop(absent, end_sid(), DropReason::kHmac, Policy{1});
  }
}

TEST(NextCsid, ShiftsTheArgumentAndIgnoresTheSrh) {
  const auto shifted = [](const Bytes& bytes, const fib::Seg6LocalEncap& encap) {
    const Ran ran = run(bytes, encap, Policy{1});
    EXPECT_EQ(ran.result, kLookup);
    Bytes back = ran.bytes;
    std::copy_n(bytes.begin() + 24, 16, back.begin() + 24);
    EXPECT_EQ(back, bytes) << "only the destination changes";
    return net::Ipv6Header::check(ran.bytes)->destination().to_string();
  };
  const Ipv6Fields fields{.next_header = 43, .destination = "fcbb:0:1:2:3:4:5:6"};
  const Bytes broken =
      ipv6(fields, srh({.segments_left = 9, .segments = {kLast}, .last_entry = 77}), kUdp);
  EXPECT_EQ(shifted(broken, csid_sid()), "fcbb:0:2:3:4:5:6:0");
  EXPECT_EQ(shifted(ipv6({.destination = "fcbb:0:1:2:3:4:5:6"}, kUdp), csid_sid()),
            "fcbb:0:2:3:4:5:6:0");

  fib::Seg6LocalEncap wide = csid_sid();
  wide.lbl_bits = 48;
  wide.lnfl_bits = 32;
  EXPECT_EQ(shifted(ipv6({.destination = "fcbb:0:1:2:3:4:5:6"}, kUdp), wide), "fcbb:0:1:4:5:6::");
}

TEST(NextCsid, WithoutArgumentIsEnd) {
  const Ipv6Fields fields{.next_header = 43, .destination = "fcbb:0:1::"};
  const Bytes bytes =
      ipv6(fields, srh({.segments_left = 1, .segments = {kLast, "fcbb:0:1::"}}), kUdp);
  fib::Seg6LocalEncap with_psp = csid_sid();
  with_psp.flavor_psp = true;
  for (const auto& sid : {csid_sid(), with_psp}) {  // beside NEXT-C-SID, PSP never applies
    const Ran ran = run(bytes, sid);
    EXPECT_EQ(ran.result, kLookup);
    EXPECT_EQ(ran.bytes, advanced(bytes, 40, kLast));
  }
  expect_drop(ipv6({.destination = "fcbb:0:1::"}, kUdp), csid_sid(), DropReason::kSidNoSrh);

  fib::Seg6LocalEncap whole =
      csid_sid();  // block and node fill the address: there never is an argument
  whole.lbl_bits = 112;
  expect_drop(ipv6({.destination = "fcbb:0:1:2:3:4:5:6"}, kUdp), whole, DropReason::kSidNoSrh);
}

fib::Seg6LocalEncap x_sid(std::string_view nexthop, std::uint32_t device = 0) {
  fib::Seg6LocalEncap encap;
  encap.action = fib::Seg6LocalAction::kEndX;
  encap.nh6 = addr(nexthop);
  encap.oif = IfIndex{device};
  return encap;
}

TEST(EndX, AdvancesAndWantsItsNeighbor) {
  const Bytes bytes = to_sid(43, srh({.segments_left = 1, .segments = {kLast, kSid}}), kUdp);
  const Ran ran = run(bytes, x_sid("fe80::1"));
  EXPECT_EQ(ran.result, (Wanted{.kind = Wanted::Kind::kInputLookup, .nexthop = addr("fe80::1")}));
  EXPECT_EQ(ran.bytes, advanced(bytes, 40, kLast));
  const Ran bound = run(bytes, x_sid("fe80::1", 3));
  EXPECT_EQ(bound.result, (Wanted{.kind = Wanted::Kind::kOutputLookup,
                                  .device = IfIndex{3},
                                  .nexthop = addr("fe80::1")}));
  EXPECT_EQ(bound.bytes, ran.bytes);
}

TEST(EndX, NeedsAnSrhWithSegmentsLeft) {
  const auto sid = x_sid("fe80::1");
  expect_drop(to_sid(17, kUdp), sid, DropReason::kSidNoSrh);
  expect_drop(to_sid(43, srh({.segments_left = 0, .segments = {kLast}}), kUdp), sid,
              DropReason::kSidNoSrh);
  expect_drop(to_sid(43, srh({.segments_left = 3, .segments = {kLast}}), kUdp), sid,
              DropReason::kSrhMalformed);
  expect_drop(to_sid(43, srh({.segments_left = 1, .segments = {kLast}}), kUdp), sid,
              DropReason::kHmac, Policy{1});
}

TEST(EndX, NextCsidShiftsOrAdvances) {
  auto sid = x_sid("2001:db8:b::2");
  sid.flavor_next_csid = true;
  const Wanted neighbor{.kind = Wanted::Kind::kInputLookup, .nexthop = addr("2001:db8:b::2")};
  const Ran shifted = run(ipv6({.destination = "fcbb:0:1:2:3::"}, kUdp), sid);
  EXPECT_EQ(shifted.result, neighbor);
  EXPECT_EQ(shifted.bytes, ipv6({.destination = "fcbb:0:2:3::"}, kUdp));
  const Bytes whole = ipv6({.next_header = 43, .destination = "fcbb:0:1::"},
                           srh({.segments_left = 1, .segments = {kLast, "fcbb:0:1::"}}), kUdp);
  const Ran ran = run(whole, sid);
  EXPECT_EQ(ran.result, neighbor);
  EXPECT_EQ(ran.bytes, advanced(whole, 40, kLast));
}

TEST(EndT, AdvancesAndWantsItsTable) {
  fib::Seg6LocalEncap sid;
  sid.action = fib::Seg6LocalAction::kEndT;
  sid.table = TableId{100};
  const Bytes bytes = to_sid(43, srh({.segments_left = 1, .segments = {kLast, kSid}}), kUdp);
  const Ran ran = run(bytes, sid);
  EXPECT_EQ(ran.result, (Wanted{.kind = Wanted::Kind::kTableLookup, .table = TableId{100}}));
  EXPECT_EQ(ran.bytes, advanced(bytes, 40, kLast));
  expect_drop(to_sid(17, kUdp), sid, DropReason::kSidNoSrh);
}

TEST(NotImplemented, DropsAndSaysSo) {
  const Bytes bytes = to_sid(43, srh({.segments_left = 1, .segments = {kLast, kSid}}), kUdp);
  for (const auto action :
       {fib::Seg6LocalAction::kEndDX4, fib::Seg6LocalAction::kEndDT6, fib::Seg6LocalAction::kEndDT4,
        fib::Seg6LocalAction::kEndDT46, fib::Seg6LocalAction::kEndBpf}) {
    fib::Seg6LocalEncap encap;
    encap.action = action;
    encap.vrf_table = TableId{9};
    expect_drop(bytes, encap, DropReason::kNotImplemented);
  }
  fib::Seg6LocalEncap usp;
  usp.flavor_usp = true;
  expect_drop(bytes, usp, DropReason::kNotImplemented);
  fib::Seg6LocalEncap usd;
  usd.flavor_usd = true;
  expect_drop(bytes, usd, DropReason::kNotImplemented);
}

}  // namespace
}  // namespace sidestep::srv6
