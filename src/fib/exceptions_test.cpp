// SPDX-License-Identifier: Apache-2.0
#include <sidestep/fib/exceptions.hpp>

#include <memory>

#include <gtest/gtest.h>

#include <sidestep/fib/route.hpp>
#include <sidestep/rcu/rcu.hpp>

namespace sidestep::fib {
namespace {

net::Ipv6Address numbered(std::uint32_t number) {
  auto result = *net::Ipv6Address::parse("2001:db8::");
  for (std::size_t i = 0; i < 4; ++i)
    result.bytes[15 - i] = static_cast<std::uint8_t>(number >> (8 * i));
  return result;
}

Route* exception_to(std::uint32_t number, std::uint32_t mtu, const net::Prefix& source = {}) {
  RouteFields fields;
  fields.destination = {numbered(number), net::Prefix::kMaxLength};
  fields.source = source;
  fields.mtu = mtu;
  fields.exception = ExceptionKind::kPathMtu;
  return Route::create(std::move(fields));
}

TEST(HopExceptions, OneForEachPair) {
  const rcu::Reader reader;
  const std::uint64_t before = Route::live_count();
  {
    HopExceptions exceptions(1);
    const net::Prefix source = *net::Prefix::parse("2001:db8:5::1/128");
    exceptions.insert(exception_to(1, 1400));
    exceptions.insert(exception_to(1, 1300, source));
    exceptions.insert(exception_to(2, 1350));
    exceptions.insert(exception_to(1, 1280));
    EXPECT_EQ(exceptions.size(), 3U);
    const rcu::ReadSection section;
    EXPECT_EQ((*exceptions.find(numbered(1), {}))->mtu, 1280U);
    EXPECT_EQ((*exceptions.find(numbered(1), source.address()))->mtu, 1300U);
    EXPECT_EQ(exceptions.find(numbered(3), {}), nullptr);
    exceptions.erase_if([](const Route& route) { return route->mtu == 1350; });
    EXPECT_EQ(exceptions.find(numbered(2), {}), nullptr);
    EXPECT_EQ(exceptions.size(), 2U);
  }
  rcu::barrier();
  EXPECT_EQ(Route::live_count(), before);
}

/// A07: a key is hashed to its end and not beyond it: these lie at the end of their memory, which AddressSanitizer guards.
TEST(HopExceptions, KeysAreReadToTheirEnd) {
  const rcu::Reader reader;
  HopExceptions exceptions(1);
  exceptions.insert(exception_to(1, 1400));
  const auto destination = std::make_unique<net::Ipv6Address>(numbered(1));
  const auto source = std::make_unique<net::Ipv6Address>();
  const rcu::ReadSection section;
  EXPECT_NE(exceptions.find(*destination, *source), nullptr);
  ++destination->bytes[15];
  EXPECT_EQ(exceptions.find(*destination, *source), nullptr);
  --destination->bytes[15];
  ++source->bytes[15];
  EXPECT_EQ(exceptions.find(*destination, *source), nullptr);
}

/// A bucket holds five to nine, and the oldest goes first.
TEST(HopExceptions, BucketsAreBoundedAndTheOldestGoes) {
  const rcu::Reader reader;
  HopExceptions exceptions(7);
  constexpr std::uint32_t kCount = 40'000;
  for (std::uint32_t i = 0; i < kCount; ++i) exceptions.insert(exception_to(i, 1400));
  EXPECT_GE(exceptions.size(), HopExceptions::kBucketCount * HopExceptions::kDepthLeast);
  EXPECT_LT(exceptions.size(), HopExceptions::kBucketCount * HopExceptions::kDepthLeast * 2);
  const rcu::ReadSection section;
  EXPECT_NE(exceptions.find(numbered(kCount - 1), {}), nullptr);
  EXPECT_EQ(exceptions.find(numbered(0), {}), nullptr);
  std::size_t young = 0;
  std::size_t old = 0;
  exceptions.for_each([&](const Route& route) {
    const bool is_young = !(route->destination.address() < numbered(kCount / 2));
    (is_young ? young : old) += 1;
  });
  EXPECT_GT(young, old * 20);
}

TEST(HopExceptions, AnOwnerKeepsADestinationThatWasReplaced) {
  const rcu::Reader reader;
  HopExceptions exceptions(1);
  exceptions.insert(exception_to(1, 1400));
  OwnedDst owned;
  {
    const rcu::ReadSection section;
    owned = OwnedDst::try_promote(BorrowedDst(exceptions.find(numbered(1), {})->dst(0)));
  }
  exceptions.insert(exception_to(1, 1300));
  rcu::barrier();
  ASSERT_TRUE(owned);
  EXPECT_EQ(owned->mtu, 1400U);
}

}  // namespace
}  // namespace sidestep::fib
