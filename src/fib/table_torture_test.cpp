// SPDX-License-Identifier: Apache-2.0
// One writer changes a table while readers walk it.
//
// What each reader checks is what must hold at every instant: a set is never empty, sorted by metric, and its routes are
// of one prefix pair that covers what was asked for; the routes that the writer leaves alone are always found; a prefix
// that always has a route never shows none. Freed memory is found by AddressSanitizer, missing order by ThreadSanitizer.
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <sidestep/fib/table.hpp>

#include "fib/trie.hpp"

namespace sidestep::fib {
namespace {

constexpr int kChanges = 20'000;
constexpr int kReaders = 2;

net::Ipv6Address address(std::string_view text) { return net::Ipv6Address::parse(text).value(); }
net::Prefix prefix(std::string_view text) { return net::Prefix::parse(text).value(); }

// A route that can be told from garbage: its MTU is computed from its prefix.
std::uint32_t mark_of(const net::Prefix& destination, const net::Prefix& source) {
  std::uint32_t mark = destination.length() * 131U + source.length();
  for (const auto byte : destination.address().bytes) mark = mark * 31 + byte;
  for (const auto byte : source.address().bytes) mark = mark * 31 + byte;
  return mark;
}

Route* marked(const net::Prefix& destination, const net::Prefix& source, std::uint32_t metric,
              std::uint32_t device) {
  RouteFields fields;
  fields.destination = destination;
  fields.source = source;
  fields.metric = metric;
  fields.mtu = mark_of(destination, source);
  fields.hop.device = IfIndex{device};
  fields.hop.gateway = address("fe80::1");
  return Route::create(std::move(fields));
}

// Why a set cannot be what a reader may see; nullptr: it can.
const char* fault_of(const RouteSet& set, const net::Ipv6Address& destination,
                     const net::Ipv6Address& source) {
  if (set.slots.empty()) return "empty set";
  const RouteFields& first = set.slots.front().route->fields();
  if (!first.destination.covers(destination)) return "destination not covered";
  if (!first.source.covers(source)) return "source not covered";
  std::uint32_t metric = 0;
  for (const RouteSlot& slot : set.slots) {
    const RouteFields& fields = slot.route->fields();
    if (fields.mtu != mark_of(fields.destination, fields.source)) return "not a route";
    if (fields.destination != first.destination || fields.source != first.source)
      return "mixed prefixes";
    if (fields.metric < metric) return "metrics out of order";
    metric = fields.metric;
    if (slot.route->dst(0)->device != fields.hop.device) return "foreign destination";
  }
  return nullptr;
}

std::uint64_t seed() {
  const char* given = std::getenv("SIDESTEP_SEED");
  const std::uint64_t chosen =
      given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device{}();
  std::cout << "SIDESTEP_SEED=" << chosen << '\n';
  return chosen;
}

class TableTorture : public ::testing::Test {
 protected:
  void SetUp() override {
    rcu::barrier();
    routes_before_ = Route::live_count();
    nodes_before_ = trie_live_count();
    table_ = std::make_unique<Table>(kTableMain);
  }
  void TearDown() override {
    table_.reset();
    rcu::barrier();
    EXPECT_EQ(Route::live_count(), routes_before_);
    EXPECT_EQ(trie_live_count(), nodes_before_);
  }

  // Runs `write` here while readers repeat `read`, which says what is wrong, or nullptr.
  template <typename Write, typename Read>
  void run(Write write, Read read) {
    std::atomic<bool> done{false};  // relaxed: it only ends the loop
    std::atomic<std::uint64_t> reads{0};
    std::vector<std::thread> readers;
    for (int i = 0; i < kReaders; ++i) {
      readers.emplace_back([&, i] {
        const rcu::Reader reader;
        std::mt19937_64 random(seed_ + static_cast<std::uint64_t>(i) + 1);
        while (!done.load(std::memory_order_relaxed)) {
          const rcu::ReadSection section;
          const char* fault = read(random);
          if (fault != nullptr) ADD_FAILURE() << fault;
          reads.fetch_add(1, std::memory_order_relaxed);
          if (fault != nullptr) break;
        }
      });
    }
    while (reads.load(std::memory_order_relaxed) == 0 && !HasFailure()) std::this_thread::yield();
    write();
    done.store(true, std::memory_order_relaxed);
    // An online thread that only waits would hold up every grace period.
    reader_.offline();
    for (auto& thread : readers) thread.join();
    reader_.online();
    std::cout << "reads: " << reads.load(std::memory_order_relaxed) << '\n';
  }
  // The writer is a registered reader too (tests share the thread); between changes it holds nothing.
  static void quiet() { const rcu::ReadSection section; }

  rcu::Reader reader_;
  std::uint64_t seed_ = seed();
  std::unique_ptr<Table> table_;
  std::uint64_t routes_before_ = 0;
  std::uint64_t nodes_before_ = 0;
};

TEST_F(TableTorture, WalksSeeOnlyWholeSets) {
  ASSERT_TRUE(table_->insert(marked({}, {}, 1, 2), {}));
  ASSERT_TRUE(table_->insert(marked(prefix("2001:db8::/32"), {}, 1, 2), {}));
  std::vector<net::Prefix> destinations;
  std::vector<net::Prefix> sources{
      {}, {}, prefix("2001:db8:5::/48"), prefix("2001:db8:5:5::/64"), prefix("8000::/1")};
  std::mt19937_64 random(seed_);
  for (int i = 0; i < 64; ++i) {
    auto bytes = address("2001:db8::");
    bytes.bytes[4] = static_cast<std::uint8_t>(random() & 0x81);
    bytes.bytes[5] = static_cast<std::uint8_t>(random() & 3);
    destinations.emplace_back(bytes, static_cast<std::uint8_t>(33 + random() % 20));
  }
  const auto write = [&] {
    for (int i = 0; i < kChanges; ++i) {
      const net::Prefix& destination = destinations[random() % destinations.size()];
      const net::Prefix& source = sources[random() % sources.size()];
      const auto metric = static_cast<std::uint32_t>(2 + random() % 3);
      const auto device = static_cast<std::uint32_t>(2 + random() % 4);
      switch (random() % 4) {
        case 0:
          static_cast<void>(table_->erase(destination, source, {}));
          break;
        case 1:
          static_cast<void>(
              table_->insert(marked(destination, source, metric, device), {.replace = true}));
          break;
        default:
          static_cast<void>(
              table_->insert(marked(destination, source, metric, device), {.append = true}));
      }
      if (i % 500 == 0) {
        table_->update([&](RouteSlot& slot) {
          const bool chosen =
              slot.route->fields().metric > 1 && slot.route->fields().hop.device == IfIndex{device};
          return chosen ? SlotFate::kRemove : SlotFate::kKeep;
        });
      }
      quiet();
    }
  };
  const auto read = [&](std::mt19937_64& own) -> const char* {
    auto destination = address("2001:db8::1");
    destination.bytes[4] = static_cast<std::uint8_t>(own() & 0x81);
    destination.bytes[5] = static_cast<std::uint8_t>(own() & 3);
    const auto source = own() % 2 == 0 ? address("2001:db8:5:5::1") : address("9001::1");
    Table::Walk walk(*table_, destination, source);
    const RouteSet* last = nullptr;
    bool covered = false;
    while (const RouteSet* set = walk.next()) {
      if (const char* fault = fault_of(*set, destination, source)) return fault;
      covered =
          covered || set->slots.front().route->fields().destination == prefix("2001:db8::/32");
      const OwnedDst owned = OwnedDst::try_promote(BorrowedDst(set->slots.front().route->dst(0)));
      if (owned && owned.get().route() != set->slots.front().route)
        return "promoted another destination";
      last = set;
    }
    if (last == nullptr || last->slots.front().route->fields().destination.length() != 0)
      return "lost ::/0";
    return covered ? nullptr : "lost the /32";
  };
  run(write, read);
}

// The last source-specific route goes together with the effect that it has on the sourceless ones.
TEST_F(TableTorture, ASourceSpecificRouteComesAndGoesAtOnce) {
  const auto destination = prefix("2001:db8:1::/48");
  const auto source = prefix("2001:db8:5::/48");
  ASSERT_TRUE(table_->insert(marked({}, {}, 1, 2), {}));
  ASSERT_TRUE(table_->insert(marked(destination, {}, 1, 2), {}));
  const auto write = [&] {
    for (int i = 0; i < kChanges; ++i) {
      ASSERT_TRUE(table_->insert(marked(destination, source, 1, 3), {}));
      quiet();
      ASSERT_EQ(table_->erase(destination, source, {}).value_or(0), 1U);
      quiet();
    }
  };
  const auto read = [&](std::mt19937_64&) -> const char* {
    Table::Walk walk(*table_, address("2001:db8:1::1"), address("2001:db8:5::1"));
    const RouteSet* set = walk.next();
    return set != nullptr && set->slots.front().route->fields().destination == destination
               ? nullptr
               : "saw half a change";
  };
  run(write, read);
}

// A replaced route leaves no gap, whatever branches around it.
TEST_F(TableTorture, ReplaceLeavesNoGap) {
  const auto kept = prefix("2001:db8:1::/48");
  ASSERT_TRUE(table_->insert(marked(kept, {}, 1, 2), {}));
  const auto write = [&] {
    for (int i = 0; i < kChanges; ++i) {
      ASSERT_TRUE(table_->insert(marked(kept, {}, 1, 2 + static_cast<std::uint32_t>(i % 2)),
                                 {.replace = true}));
      ASSERT_TRUE(
          table_->insert(marked(prefix("2001:db8:2::/48"), {}, 1, 2), {}));  // forks above it
      ASSERT_EQ(table_->erase(prefix("2001:db8:2::/48"), {}, {}).value_or(0), 1U);
      quiet();
    }
  };
  const auto read = [&](std::mt19937_64&) -> const char* {
    Table::Walk walk(*table_, address("2001:db8:1::1"), {});
    const RouteSet* set = walk.next();
    return set != nullptr && set->slots.size() == 1 ? nullptr : "saw a gap";
  };
  run(write, read);
}

}  // namespace
}  // namespace sidestep::fib
