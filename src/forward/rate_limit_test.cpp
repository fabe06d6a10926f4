// SPDX-License-Identifier: Apache-2.0
#include "forward/rate_limit.hpp"

#include <gtest/gtest.h>

namespace sidestep::forward {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

net::Ipv6Address host(std::uint32_t number) {
  net::Ipv6Address address{};
  address.bytes[0] = 0x20;
  for (std::size_t i = 0; i < 4; ++i) {
    address.bytes[12 + i] = static_cast<std::uint8_t>(number >> (24 - 8 * i));
  }
  return address;
}

TEST(PeerLimiter, BurstThenOnePerInterval) {
  PeerLimiter limiter;
  TimeNs now{5};
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(limiter.allow(host(1), 25 * kMs, now));
  EXPECT_FALSE(limiter.allow(host(1), 25 * kMs, now));
  now.value += 25 * kMs - 1;
  EXPECT_FALSE(limiter.allow(host(1), 25 * kMs, now));
  now.value += 1;
  EXPECT_TRUE(limiter.allow(host(1), 25 * kMs, now));
  EXPECT_FALSE(limiter.allow(host(1), 25 * kMs, now));
  EXPECT_TRUE(limiter.allow(host(2), 25 * kMs, now));
}

TEST(PeerLimiter, NoIntervalNoLimit) {
  PeerLimiter limiter;
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(limiter.allow(host(1), 0, TimeNs{}));
}

// A minute is what a new host is credited with, so an interval beyond a sixth of it leaves less than the whole burst.
TEST(PeerLimiter, LongIntervalsShortenTheBurst) {
  PeerLimiter limiter;
  EXPECT_TRUE(limiter.allow(host(1), 40'000 * kMs, TimeNs{}));
  EXPECT_FALSE(limiter.allow(host(1), 40'000 * kMs, TimeNs{}));
}

TEST(PeerLimiter, TimeThatStepsBackGivesNothing) {
  PeerLimiter limiter;
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(limiter.allow(host(1), 25 * kMs, TimeNs{1000 * kMs}));
  EXPECT_FALSE(limiter.allow(host(1), 25 * kMs, TimeNs{500 * kMs}));
  EXPECT_FALSE(limiter.allow(host(1), 25 * kMs, TimeNs{1000 * kMs}));
}

// Many hosts push each other out, which is generous to them and takes no more memory.
TEST(PeerLimiter, MemoryIsBounded) {
  PeerLimiter limiter;
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    EXPECT_TRUE(limiter.allow(host(i), 25 * kMs, TimeNs{i}));
  }
}

TEST(GlobalLimiter, RefillsAtMostEveryTwentyMilliseconds) {
  GlobalLimiter limiter;
  TimeNs now{};
  const auto spend = [&] {
    int count = 0;
    while (limiter.allow(1000, 50, now) && count < 1000) {
      limiter.consume();
      ++count;
    }
    return count;
  };
  EXPECT_EQ(spend(), 50);
  now.value += 19 * kMs;
  EXPECT_EQ(spend(), 0);
  now.value += 1 * kMs;
  EXPECT_EQ(spend(), 20);
  now.value += 1000 * kMs;
  EXPECT_EQ(spend(), 50);
}

TEST(GlobalLimiter, AskingTakesNothing) {
  GlobalLimiter limiter;
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(limiter.allow(1000, 50, TimeNs{}));
}

TEST(RateMask, ReadsNumbersAndRanges) {
  const auto mask = parse_rate_mask("0-1,3-127");
  EXPECT_TRUE(mask.test(0));
  EXPECT_TRUE(mask.test(1));
  EXPECT_FALSE(mask.test(2));
  EXPECT_TRUE(mask.test(3));
  EXPECT_TRUE(mask.test(127));
  EXPECT_FALSE(mask.test(128));
  EXPECT_EQ(parse_rate_mask("129").count(), 1U);
  EXPECT_EQ(parse_rate_mask("").count(), 0U);
  EXPECT_EQ(parse_rate_mask("x,5,-,7-").count(), 1U);
  EXPECT_EQ(parse_rate_mask("0-4294967295").count(), 256U);
}

}  // namespace
}  // namespace sidestep::forward
