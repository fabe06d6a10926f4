// SPDX-License-Identifier: Apache-2.0
// The ownership rules of destinations, one test each.
#include <sidestep/fib/dst.hpp>

#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <sidestep/fib/route.hpp>

#include "fib/uncached_pool.hpp"

namespace sidestep::fib {
namespace {

RouteFields unicast(std::string_view destination) {
  RouteFields fields;
  fields.destination = net::Prefix::parse(destination).value();
  fields.hop.device = IfIndex{2};
  return fields;
}

class Ownership : public ::testing::Test {
 protected:
  void SetUp() override {
    rcu::barrier();
  }  // what an earlier test retired must not be counted in this one
  rcu::Reader reader_;
};

TEST_F(Ownership, BorrowingCountsNothing) {
  Route* route = Route::create(unicast("2001:db8::/32"));
  {
    rcu::ReadSection section;
    BorrowedDst borrowed(route->dst(0));
    const BorrowedDst second = borrowed.duplicate();
    PacketDst packet;
    packet.set_borrowed(borrowed);
    EXPECT_TRUE(packet.is_borrowed());
    EXPECT_EQ(route->dst(0).owner_count(), 1U);
    EXPECT_EQ(second->device, IfIndex{2});
  }
  EXPECT_EQ(route->dst(0).owner_count(), 1U);
  route->retire();
  rcu::barrier();
}

TEST_F(Ownership, PromotionTakesExactlyOneReference) {
  Route* route = Route::create(unicast("2001:db8::/32"));
  {
    rcu::ReadSection section;
    OwnedDst owned = OwnedDst::try_promote(BorrowedDst(route->dst(0)));
    ASSERT_TRUE(owned);
    EXPECT_EQ(route->dst(0).owner_count(), 2U);
    OwnedDst moved = std::move(owned);
    EXPECT_EQ(route->dst(0).owner_count(), 2U);
    OwnedDst copy = moved.clone();
    EXPECT_EQ(route->dst(0).owner_count(), 3U);
  }
  EXPECT_EQ(route->dst(0).owner_count(), 1U);
  route->retire();
  rcu::barrier();
}

TEST_F(Ownership, PromotionFailsOnceTheRouteDied) {
  Route* route = Route::create(unicast("2001:db8::/32"));
  rcu::ReadSection section;
  BorrowedDst borrowed(route->dst(0));
  route->retire();  // the grace period cannot end: this section is open
  EXPECT_EQ(borrowed->device, IfIndex{2});
  EXPECT_FALSE(OwnedDst::try_promote(borrowed));
  PacketDst packet;
  packet.set_borrowed(borrowed);
  EXPECT_FALSE(packet.force_owned());
  EXPECT_FALSE(packet);
}

TEST_F(Ownership, AnOwnerOutlivesTheRoutesRetirement) {
  const auto live_before = Route::live_count();
  Route* route = Route::create(unicast("2001:db8::/32"));
  OwnedDst owned;
  {
    rcu::ReadSection section;
    owned = OwnedDst::try_promote(BorrowedDst(route->dst(0)));
  }
  route->retire();
  rcu::barrier();
  EXPECT_EQ(Route::live_count(), live_before + 1);
  EXPECT_EQ(owned->device, IfIndex{2});
  owned.reset();
  rcu::barrier();
  EXPECT_EQ(Route::live_count(), live_before);
}

TEST_F(Ownership, StaticDestinationsHaveNoCounter) {
  for (const Dst* dst : {&null_dst(), &blackhole_dst(), &prohibit_dst()}) {
    rcu::ReadSection section;
    const BorrowedDst borrowed(*dst);
    OwnedDst owned = OwnedDst::try_promote(borrowed);
    ASSERT_TRUE(owned);
    OwnedDst copy = owned.clone();
    PacketDst packet;
    packet.set_borrowed(borrowed);
    EXPECT_TRUE(packet.force_owned());
    EXPECT_EQ(dst->owner_count(), 0U);
  }
  EXPECT_EQ(null_dst()->error, ENETUNREACH);
  EXPECT_EQ(blackhole_dst()->error, EINVAL);
  EXPECT_EQ(prohibit_dst()->error, EACCES);
}

TEST_F(Ownership, UncachedMemoryIsUsedAgainByItsThreadAndBounded) {
  if (UncachedPool::kKeptMax == 0) GTEST_SKIP() << "sanitizers watch the allocator instead";
  OwnedDst first = make_uncached(DstFields{.device = IfIndex{3}});
  const Dst* where = &first.get();
  first.reset();
  OwnedDst second = make_uncached(DstFields{.device = IfIndex{4}});
  EXPECT_EQ(&second.get(), where);
  EXPECT_EQ(second->device, IfIndex{4});

  std::vector<OwnedDst> many(1000);
  for (auto& dst : many) dst = make_uncached(DstFields{.device = IfIndex{5}});
  many.clear();
  EXPECT_EQ(UncachedPool::kept(), UncachedPool::kKeptMax);
}

TEST_F(Ownership, UncachedMayBeFreedByAnotherThread) {
  const auto before = uncached_count();
  std::vector<OwnedDst> made(300);
  for (auto& dst : made) dst = make_uncached(DstFields{.device = IfIndex{3}});
  EXPECT_EQ(uncached_count(), before + 300);
  std::thread([&made, before] {
    made.resize(100);
    EXPECT_EQ(uncached_count(), before + 100);
    made.clear();
    EXPECT_EQ(UncachedPool::kept(), UncachedPool::kKeptMax);
  }).join();
  EXPECT_EQ(uncached_count(), before);  // also with that thread gone
}

TEST_F(Ownership, UncachedOfAThreadThatLeftStaysAlive) {
  const auto before = uncached_count();
  OwnedDst kept;
  std::thread([&kept] { kept = make_uncached(DstFields{.device = IfIndex{7}}); }).join();
  EXPECT_EQ(uncached_count(), before + 1);
  EXPECT_EQ(kept->device, IfIndex{7});
  kept.reset();
  EXPECT_EQ(uncached_count(), before);
}

TEST_F(Ownership, UncachedMayBeFreedWhileItsThreadEnds) {
  const auto before = uncached_count();
  std::thread([] {
    // Constructed before the pool's own farewell, so destroyed after it.
    static thread_local OwnedDst late;
    late.reset();
    late = make_uncached(DstFields{.device = IfIndex{8}});
  }).join();
  EXPECT_EQ(uncached_count(), before);
}

TEST_F(Ownership, UncachedAttachedBorrowedIsOwnedAndFreedAtOnce) {
  const auto before = uncached_count();
  rcu::ReadSection section;  // stays open: no grace period can end before the checks below
  OwnedDst owned = make_uncached(DstFields{.device = IfIndex{3}});
  EXPECT_EQ(uncached_count(), before + 1);
  PacketDst packet;
  packet.set_borrowed(BorrowedDst(owned.get()));
  EXPECT_FALSE(packet.is_borrowed());
  EXPECT_EQ(owned.get().owner_count(), 2U);
  owned.reset();
  EXPECT_EQ(uncached_count(), before + 1);
  EXPECT_EQ(packet->device, IfIndex{3});
  packet.reset();
  EXPECT_EQ(uncached_count(), before);
}

TEST_F(Ownership, EachHopOfAnObjectHasItsDestination) {
  auto object = std::make_shared<NexthopObject>();
  object->group = true;
  object->hops.resize(2);
  object->hops[0].device = IfIndex{2};
  object->hops[1].device = IfIndex{3};
  auto fields = unicast("2001:db8::/32");
  fields.object = object;
  const auto live_before = Route::live_count();
  Route* route = Route::create(fields);
  ASSERT_EQ(route->hop_count(), 2U);
  OwnedDst second;
  {
    rcu::ReadSection section;
    second = OwnedDst::try_promote(BorrowedDst(route->dst(1)));
  }
  route->retire();
  rcu::barrier();
  EXPECT_EQ(second->device, IfIndex{3});
  second.reset();
  rcu::barrier();
  EXPECT_EQ(Route::live_count(), live_before);
}

using OwnershipDeathTest = Ownership;

#ifdef SIDESTEP_DEBUG
TEST_F(OwnershipDeathTest, AnEscapedBorrowAbortsWithFileAndLine) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        Route* route = Route::create(unicast("2001:db8::/32"));
        auto escaped = [&] {
          rcu::ReadSection section;
          return BorrowedDst(route->dst(0));
        }();
        static_cast<void>(escaped->device);
      },
      "dst_test.cpp:[0-9]+|escaped its read section; it was borrowed at .*dst_test.cpp:[0-9]+");
}

TEST_F(OwnershipDeathTest, AQuiescentStateEndsABorrow) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        Route* route = Route::create(unicast("2001:db8::/32"));
        rcu::ReadSection section;
        const BorrowedDst borrowed(route->dst(0));
        section.quiescent_state();
        static_cast<void>(borrowed.get());
      },
      "escaped its read section; it was borrowed at .*dst_test.cpp:[0-9]+");
}

TEST_F(OwnershipDeathTest, BorrowingOutsideASectionAborts) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        Route* route = Route::create(unicast("2001:db8::/32"));
        BorrowedDst borrowed(route->dst(0));
      },
      "only be borrowed inside a read section");
}
#endif

}  // namespace
}  // namespace sidestep::fib
