// SPDX-License-Identifier: Apache-2.0
// Properties of the behaviors over packets that nobody vouches for, cut and mutated: the outcome is one of the defined ones,
// a drop leaves the packet as it was, what is changed is what a second, naive End changes, and the bytes that lie behind
// the packet in its storage, different each time, change nothing.
#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include <gtest/gtest.h>

#include "net/mutation_for_test.hpp"
#include "srv6/endpoint.hpp"
#include "srv6/local_srh.hpp"

namespace sidestep::srv6 {
namespace {

using namespace net::test;
using packet::DropReason;
using packet::Packet;

constexpr int kRounds = 100'000;

Bytes bytes_of(const Packet& packet) { return {packet.bytes().begin(), packet.bytes().end()}; }

/// What the receive path has made sure of before a behavior sees a packet: a whole header, and the payload it promises.
bool make_received(Bytes& bytes) {
  if (bytes.size() < net::kIpv6HeaderSize) return false;
  net::MutableIpv6Header::check(bytes)->set_payload_length(
      static_cast<std::uint16_t>(bytes.size() - net::kIpv6HeaderSize));
  return true;
}

/// A second End, written down naively, on a copy; empty: dropped.
std::optional<Bytes> end_naively(Bytes bytes, bool psp) {
  std::size_t at = 40;
  std::size_t announced_at = 6;
  bool first = true;
  for (std::uint8_t type = bytes[6];; first = first && type != 43, type = bytes[announced_at]) {
    const bool is_extension = type == 0 || type == 43 || type == 44 || type == 51 || type == 60;
    if (!is_extension || bytes.size() < at + 8) return std::nullopt;
    std::size_t size = (bytes[at + 1] + 1U) * 8;
    if (type == 44) size = 8;
    if (type == 51) size = (bytes[at + 1] + 2U) * 4;
    if (bytes.size() < at + size) return std::nullopt;
    if (type == 44 && (bytes[at + 2] != 0 || (bytes[at + 3] & 0xf8) != 0)) return std::nullopt;
    if (type == 43 && bytes[at + 3] != 0) {
      const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(at);
      const Bytes header(begin, begin + static_cast<std::ptrdiff_t>(size));
      const auto srh = net::Srh::check(header, net::SrhForm::kReduced);
      if (!srh || srh->has_hmac()) return std::nullopt;
      const bool pops = psp && header[3] == 1;
      if (psp && !first) return std::nullopt;
      --bytes[at + 3];
      std::copy_n(begin + 8 + 16 * (header[3] - 1), 16, bytes.begin() + 24);
      if (!pops) return bytes;
      bytes[announced_at] = header[0];
      bytes.erase(begin, begin + static_cast<std::ptrdiff_t>(size));
      make_received(bytes);
      return bytes;
    }
    announced_at = at;
    at += size;
  }
}

/// The packet, with bytes behind it in its storage that belong to nobody.
void assign_before_garbage(Packet& packet, const Bytes& bytes, int round) {
  static constexpr std::uint8_t kGarbage[] = {0x00, 0x01, 0x2b, 0xff};
  ASSERT_TRUE(packet.reset(bytes.size() + 2100));
  std::memset(packet.bytes().data(), kGarbage[round % 4], packet.size());
  ASSERT_TRUE(packet.assign(bytes));
}

void expect_as_naive(bool psp, std::uint32_t seed) {
  fib::Seg6LocalEncap encap;
  encap.flavor_psp = psp;
  Mutator mutator(seed);
  Packet packet;
  std::map<DropReason, int> drops;
  int popped = 0;
  int advanced = 0;
  for (int i = 0; i < kRounds; ++i) {
    Bytes before = mutator.next();
    if (!make_received(before)) continue;
    assign_before_garbage(packet, before, i);
    const Wanted result = run_behavior(packet, encap, Policy{});
    const Bytes after = bytes_of(packet);
    const auto expected = end_naively(before, psp);
    if (result.kind == Wanted::Kind::kDrop) {
      ASSERT_FALSE(expected) << testing::PrintToString(before);
      ASSERT_EQ(after, before) << "a dropped packet is as it came";
      ++drops[result.reason];
      continue;
    }
    ASSERT_EQ(result.reason, DropReason::kNone);
    ASSERT_EQ(after, expected) << testing::PrintToString(before);
    ASSERT_EQ(net::Ipv6Header::check(after)->payload_length(), after.size() - net::kIpv6HeaderSize);
    ++(after.size() < before.size() ? popped : advanced);
  }
  // The mutations reach every outcome.
  EXPECT_GT(advanced, kRounds / 100);
  EXPECT_EQ(popped > kRounds / 100, psp);
  for (const DropReason reason :
       {DropReason::kSidNoSrh, DropReason::kSrhMalformed, DropReason::kHmac}) {
    EXPECT_GT(drops[reason], kRounds / 1000) << packet::text_of(reason).name;
    drops.erase(reason);
  }
  EXPECT_EQ(drops.contains(DropReason::kPspBlocked), psp);
  drops.erase(DropReason::kPspBlocked);
  EXPECT_TRUE(drops.empty());
}

TEST(EndpointProperty, EndIsTheNaiveOne) { expect_as_naive(false, 3); }

TEST(EndpointProperty, PspIsTheNaiveOne) { expect_as_naive(true, 4); }

TEST(EndpointProperty, EveryPrefixIsSafe) {
  fib::Seg6LocalEncap encap;
  encap.flavor_psp = true;
  Packet packet;
  for (const Bytes& whole : corpus()) {
    for (std::size_t size = net::kIpv6HeaderSize; size <= whole.size(); ++size) {
      Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      ASSERT_TRUE(make_received(cut));
      ASSERT_TRUE(packet.assign(cut));
      const Wanted result = run_behavior(packet, encap, Policy{-1});
      if (result.kind == Wanted::Kind::kDrop) {
        EXPECT_NE(result.reason, DropReason::kNone);
      }
    }
  }
}

// Whatever comes: a drop leaves the packet as it was, the others leave what they promise.
TEST(EndpointProperty, EveryBehaviorDropsCleanly) {
  using fib::Seg6LocalAction;
  const Surroundings around{.source = addr("2001:db8:a::1")};
  Mutator mutator(6);
  Packet packet;
  for (const auto action :
       {Seg6LocalAction::kEndX, Seg6LocalAction::kEndT, Seg6LocalAction::kEndDX2,
        Seg6LocalAction::kEndDX6, Seg6LocalAction::kEndDT6, Seg6LocalAction::kEndB6,
        Seg6LocalAction::kEndB6Encaps}) {
    const fib::Seg6LocalEncap sid{.action = action,
                                  .nh6 = addr("fe80::1"),
                                  .table = TableId{100},
                                  .srh_segments = {addr("fc00::1"), addr("fc00::2")}};
    const bool decapsulates = action == Seg6LocalAction::kEndDX2 ||
                              action == Seg6LocalAction::kEndDX6 ||
                              action == Seg6LocalAction::kEndDT6;
    int dropped = 0;
    int done = 0;
    for (int i = 0; i < kRounds / 5; ++i) {
      Bytes before = mutator.next();
      if (!make_received(before)) continue;
      assign_before_garbage(packet, before, i);
      const Wanted wanted = run_behavior(packet, sid, Policy{}, around);
      const Bytes after = bytes_of(packet);
      if (wanted.kind == Wanted::Kind::kDrop) {
        ASSERT_NE(wanted.reason, DropReason::kNone);
        ASSERT_EQ(after, before) << "a dropped packet is as it came";
        ++dropped;
        continue;
      }
      ++done;
      if (decapsulates) {
        ASSERT_TRUE(std::equal(after.rbegin(), after.rend(), before.rbegin()));
      } else {
        ASSERT_EQ(net::Ipv6Header::check(after)->payload_length(),
                  after.size() - net::kIpv6HeaderSize);
      }
    }
    EXPECT_GT(dropped, kRounds / 100);
    EXPECT_EQ(done > kRounds / 1000, action != Seg6LocalAction::kEndDX2)
        << static_cast<int>(action);
  }
}

// Steps of one SRH at any offset end: each takes a segment, and the last goes on, strips or answers.
TEST(EndpointProperty, LocalSrhEnds) {
  using Outcome = LocalSrhResult::Outcome;
  Mutator mutator(5);
  Packet packet;
  std::map<Outcome, int> ends;
  for (int i = 0; i < kRounds; ++i) {
    Bytes before = mutator.next();
    if (!make_received(before)) continue;
    const std::size_t offset = mutator.below(4) == 0 ? mutator.below(200) : net::kIpv6HeaderSize;
    ASSERT_TRUE(packet.assign(before));
    if (check_local_srh(packet, offset, Policy{}) != DropReason::kNone) continue;
    LocalSrhResult result = local_srh(packet, offset);
    for (int steps = 0; result.outcome == Outcome::kLookup; ++steps) {
      ASSERT_LT(steps, 127);
      ASSERT_EQ(packet.size(), before.size());
      result = local_srh(packet, offset);
    }
    if (result.outcome == Outcome::kReceive) {
      ASSERT_LT(packet.size(), before.size());
    }
    if (result.outcome == Outcome::kParameterProblem) {
      ASSERT_EQ(result.pointer, offset + 3);
      ASSERT_EQ(bytes_of(packet), before) << "refused at once or never";
    }
    ++ends[result.outcome];
  }
  for (const Outcome outcome :
       {Outcome::kNextHeader, Outcome::kReceive, Outcome::kParameterProblem, Outcome::kDrop}) {
    EXPECT_GT(ends[outcome], 100) << static_cast<int>(outcome);
  }
}

}  // namespace
}  // namespace sidestep::srv6
