// SPDX-License-Identifier: Apache-2.0
#include "neighbor/table.hpp"

#include <atomic>
#include <cerrno>
#include <map>
#include <random>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include <sidestep/rcu/rcu.hpp>

namespace sidestep::neighbor {
namespace {

constexpr IfIndex kEast{2};
constexpr IfIndex kWest{3};

net::Ipv6Address address(std::uint32_t number) {
  auto result = *net::Ipv6Address::parse("2001:db8::");
  for (std::size_t i = 0; i < 4; ++i)
    result.bytes[15 - i] = static_cast<std::uint8_t>(number >> (8 * i));
  return result;
}

Neighbor neighbor(IfIndex device, std::uint32_t number, std::uint8_t mac = 1) {
  return {
      .device = device, .address = address(number), .mac = {{2, 0, 0, 0, 0, mac}}, .has_mac = true};
}

TEST(NeighborTable, InsertFindErase) {
  const rcu::Reader reader;
  Table table;
  ASSERT_TRUE(table.insert(neighbor(kEast, 1, 7), false));
  {
    const rcu::ReadSection section;
    const Neighbor* found = table.find(kEast, address(1));
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(*found, neighbor(kEast, 1, 7));
    EXPECT_EQ(table.find(kWest, address(1)), nullptr);
    EXPECT_EQ(table.find(kEast, address(2)), nullptr);
    EXPECT_EQ(table.find_proxy(kEast, address(1)), nullptr);
  }
  EXPECT_TRUE(table.erase(kEast, address(1)));
  const rcu::ReadSection section;
  EXPECT_EQ(table.find(kEast, address(1)), nullptr);
  EXPECT_EQ(table.size(), 0U);
}

TEST(NeighborTable, FlushTakesADevicesEntriesPermanentOnesOnlyWhenAsked) {
  Table table;
  Neighbor learned = neighbor(kEast, 1);
  learned.state = State::kStale;
  ASSERT_TRUE(table.insert(learned, false));
  ASSERT_TRUE(table.insert(neighbor(kEast, 2), false));
  ASSERT_TRUE(table.insert(neighbor(kWest, 1), false));
  table.flush(kEast, false);
  EXPECT_EQ(table.all(), (std::vector<Neighbor>{neighbor(kEast, 2), neighbor(kWest, 1)}));
  table.flush(kEast, true);
  EXPECT_EQ(table.all(), (std::vector<Neighbor>{neighbor(kWest, 1)}));
}

TEST(NeighborTable, ErrorsAreTheKernels) {
  Table table;
  ASSERT_TRUE(table.insert(neighbor(kEast, 1), false));
  const auto again = table.insert(neighbor(kEast, 1, 9), false);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, EEXIST);
  const auto missing = table.erase(kWest, address(1));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ENOENT);
  EXPECT_EQ(table.all().front().mac.bytes[5], 1);
}

TEST(NeighborTable, ReplaceKeepsTheBorrowReadable) {
  const rcu::Reader reader;
  Table table;
  ASSERT_TRUE(table.insert(neighbor(kEast, 1, 1), true));
  const rcu::ReadSection section;
  const Neighbor* before = table.find(kEast, address(1));
  ASSERT_TRUE(table.insert(neighbor(kEast, 1, 2), true));
  EXPECT_EQ(before->mac.bytes[5], 1);
  EXPECT_EQ(table.find(kEast, address(1))->mac.bytes[5], 2);
  EXPECT_EQ(table.size(), 1U);
}

TEST(NeighborTable, ProxyEntriesLiveBesideNeighbors) {
  const rcu::Reader reader;
  Table table;
  Neighbor proxy = neighbor(kEast, 1);
  proxy.proxy = true;
  ASSERT_TRUE(table.insert(proxy, false));
  ASSERT_TRUE(table.insert(neighbor(kEast, 1), false));
  EXPECT_EQ(table.size(), 2U);
  EXPECT_TRUE(table.erase(kEast, address(1)));
  const rcu::ReadSection section;
  EXPECT_EQ(table.find(kEast, address(1)), nullptr);
  EXPECT_NE(table.find_proxy(kEast, address(1)), nullptr);
}

TEST(NeighborTable, ListsByDeviceThenAddress) {
  Table table;
  for (const std::uint32_t number : {30U, 10U, 20U}) {
    ASSERT_TRUE(table.insert(neighbor(kWest, number), false));
    ASSERT_TRUE(table.insert(neighbor(kEast, number), false));
  }
  const auto all = table.all();
  ASSERT_EQ(all.size(), 6U);
  EXPECT_EQ(all[0], neighbor(kEast, 10));
  EXPECT_EQ(all[2], neighbor(kEast, 30));
  EXPECT_EQ(all[3], neighbor(kWest, 10));
}

TEST(NeighborTable, StatesThatMaySend) {
  Neighbor entry = neighbor(kEast, 1);
  for (const State state : {State::kReachable, State::kStale, State::kDelay, State::kProbe,
                            State::kNoArp, State::kPermanent}) {
    entry.state = state;
    EXPECT_TRUE(entry.is_valid());
  }
  for (const State state : {State::kNone, State::kIncomplete, State::kFailed}) {
    entry.state = state;
    EXPECT_FALSE(entry.is_valid());
  }
}

// Random operations beside a std::map, over keys few enough that all kinds of collision happen, and through many growths.
TEST(NeighborTable, AgreesWithAMap) {
  const rcu::Reader reader;
  Table table;
  std::map<std::pair<IfIndex, net::Ipv6Address>, Neighbor> expected;
  std::mt19937 random(20);
  for (int i = 0; i < 20'000; ++i) {
    const IfIndex device{2 + static_cast<std::uint32_t>(random() % 3)};
    const Neighbor entry = neighbor(device, static_cast<std::uint32_t>(random() % 700),
                                    static_cast<std::uint8_t>(random()));
    const std::pair key(device, entry.address);
    const bool known = expected.contains(key);
    switch (random() % 4) {
      case 0:
        ASSERT_EQ(table.erase(device, entry.address).has_value(), known);
        expected.erase(key);
        break;
      case 1:
        ASSERT_EQ(table.insert(entry, false).has_value(), !known);
        expected.try_emplace(key, entry);
        break;
      default:
        ASSERT_TRUE(table.insert(entry, true));
        expected[key] = entry;
    }
    const rcu::ReadSection section;
    const Neighbor* found = table.find(device, entry.address);
    const auto wanted = expected.find(key);
    ASSERT_EQ(found != nullptr, wanted != expected.end());
    if (found != nullptr) {
      ASSERT_EQ(*found, wanted->second);
    }
  }
  std::vector<Neighbor> all;
  for (const auto& [key, entry] : expected) all.push_back(entry);
  EXPECT_EQ(table.all(), all);
  EXPECT_EQ(table.size(), expected.size());
}

// An entry's MAC repeats its number: a reader that met half a change would see them disagree. Neighbors 0..9 are always
// there, whatever the writer does to the table around them.
TEST(NeighborTable, ReadersNeverSeeHalfAChange) {
  Table table;
  const auto entry = [](std::uint32_t number, std::uint8_t round) {
    Neighbor made = neighbor(kEast, number, round);
    made.mac.bytes[4] = round;
    return made;
  };
  for (std::uint32_t number = 0; number < 10; ++number)
    ASSERT_TRUE(table.insert(entry(number, 0), false));
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> reads{0};
  std::atomic<std::uint64_t> faults{0};
  std::thread reading([&] {
    const rcu::Reader reader;
    std::uint32_t number = 0;
    while (!stop.load(std::memory_order_relaxed)) {
      const rcu::ReadSection section;
      for (int i = 0; i < 64; ++i) {
        const Neighbor* found = table.find(kEast, address(number % 10));
        if (found == nullptr || found->mac.bytes[4] != found->mac.bytes[5]) ++faults;
        number = number * 5 + 3;
        ++reads;
      }
    }
  });
  // At least 200 rounds, and until the reader has seen something of them.
  for (std::uint32_t round = 1; round < 200 || reads.load() < 10'000; ++round) {
    const auto mark = static_cast<std::uint8_t>(round);
    for (std::uint32_t number = 0; number < 10; ++number)
      ASSERT_TRUE(table.insert(entry(number, mark), true));
    ASSERT_TRUE(table.insert(entry(100 + round, mark), true));
    if (round % 3 == 0) {
      ASSERT_TRUE(table.erase(kEast, address(100 + round)));
    }
  }
  stop = true;
  reading.join();
  EXPECT_EQ(faults.load(), 0U);
  rcu::barrier();
}

#ifdef SIDESTEP_DEBUG
TEST(NeighborTableDeathTest, FindOutsideASectionAborts) {
  Table table;
  EXPECT_DEATH(static_cast<void>(table.find(kEast, address(1))), "current_epoch");
}
#endif

}  // namespace
}  // namespace sidestep::neighbor
