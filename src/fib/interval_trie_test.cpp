// SPDX-License-Identifier: Apache-2.0
// The interval trie against a map by prefix length, on random sets.
#include "fib/interval_trie.hpp"

#include <array>
#include <map>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>
#include <hwy/targets.h>

namespace sidestep::fib {
namespace {

using net::Ipv6Address;
using net::Prefix;

// The oracle: every prefix, probed from the longest length down.
class BruteForce {
 public:
  void insert(const Prefix& prefix, LeafId leaf) {
    if (leaves_.insert_or_assign(prefix, leaf).second) ++lengths_[prefix.length()];
  }
  void erase(const Prefix& prefix) {
    if (leaves_.erase(prefix) == 1) --lengths_[prefix.length()];
  }
  [[nodiscard]] LeafId lookup(const Ipv6Address& address) const {
    for (std::size_t length = 128; length > 0; --length) {
      if (lengths_[length] == 0) continue;
      const auto found = leaves_.find(Prefix(address, static_cast<std::uint8_t>(length)));
      if (found != leaves_.end()) return found->second;
    }
    return kRootLeaf;
  }
  [[nodiscard]] const std::map<Prefix, LeafId>& all() const { return leaves_; }

 private:
  std::map<Prefix, LeafId> leaves_;
  std::array<std::size_t, 129> lengths_{};
};

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t below(std::uint64_t bound) { return engine_() % bound; }
  Ipv6Address address() {
    Ipv6Address address;
    for (auto& byte : address.bytes) byte = static_cast<std::uint8_t>(engine_());
    return address;
  }
  // Lengths as operators use them, with every other length in between; few distinct leading bits, so that they nest.
  Prefix prefix() {
    auto where = address();
    if (below(8) != 0) {
      where.bytes[0] = 0x20;
      where.bytes[1] = static_cast<std::uint8_t>(below(2));
      where.bytes[2] = static_cast<std::uint8_t>(below(4) * 0x55);
    }
    if (below(3) == 0) where.bytes[3] = static_cast<std::uint8_t>(0xff * below(2));
    if (below(4) == 0) {
      for (std::size_t i = 4; i < 4 + below(10); ++i)
        where.bytes[i] = static_cast<std::uint8_t>(0xff * below(2));
    }
    static constexpr std::uint8_t kUsual[] = {32, 48, 40, 44, 29, 64, 36, 128, 127, 16, 8, 56};
    const auto length =
        below(2) == 0 ? kUsual[below(std::size(kUsual))] : static_cast<std::uint8_t>(below(129));
    return Prefix(where, length);
  }
  // An address at or just beside an edge of a prefix, or anywhere in it.
  Ipv6Address near(const Prefix& prefix) {
    auto at = address();
    const auto kind = below(4);
    for (unsigned bit = 0; bit < 128; ++bit) {
      const bool inside = bit < prefix.length();
      const bool set = inside      ? prefix.address().bit(bit)
                       : kind == 0 ? false
                       : kind == 1 ? true
                                   : at.bit(bit);
      const auto mask = static_cast<std::uint8_t>(0x80 >> (bit % 8));
      at.bytes[bit / 8] = static_cast<std::uint8_t>((at.bytes[bit / 8] & ~mask) | (set ? mask : 0));
    }
    if (kind == 2) add(at, below(2) == 0 ? 1 : -1);
    return at;
  }
  static void add(Ipv6Address& address, int amount) {
    for (std::size_t i = 16; i-- > 0;) {
      const int sum = address.bytes[i] + amount;
      address.bytes[i] = static_cast<std::uint8_t>(sum);
      if (sum >= 0 && sum <= 255) return;
    }
  }

 private:
  std::mt19937_64 engine_;
};

class IntervalTrieOracle : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  void compare(const IntervalTrie& trie, const BruteForce& oracle, Random& random,
               std::size_t probes) {
    std::vector<Prefix> known;
    for (const auto& [prefix, leaf] : oracle.all()) known.push_back(prefix);
    std::vector<Ipv6Address> addresses;
    for (std::size_t i = 0; i < probes; ++i) {
      addresses.push_back(known.empty() || i % 8 == 0
                              ? random.address()
                              : random.near(known[random.below(known.size())]));
    }
    std::vector<LeafId> leaves(probes);
    for (std::size_t i = 0; i < probes; ++i) {
      leaves[i] = oracle.lookup(addresses[i]);
      ASSERT_EQ(trie.lookup(addresses[i]), leaves[i])
          << addresses[i].to_string() << " seed " << GetParam();
    }
    compare_batches(trie, addresses, leaves);
  }
  // With every vector extension that this processor has, and with none.
  void compare_batches(const IntervalTrie& trie, const std::vector<Ipv6Address>& addresses,
                       const std::vector<LeafId>& expected) {
    std::vector<std::int64_t> targets;
    for (std::int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1)
      targets.push_back(left & -left);
    for (const auto target : targets) {
      hwy::SetSupportedTargetsForTest(target);
      hwy::GetChosenTarget().Update(hwy::SupportedTargets());
      std::vector<LeafId> leaves(addresses.size());
      trie.lookup_batch(addresses, leaves);
      EXPECT_EQ(leaves, expected) << hwy::TargetName(target) << ", seed " << GetParam();
    }
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  rcu::Reader reader_;
};

TEST_P(IntervalTrieOracle, AnswersAsBruteForceThroughInsertsAndErases) {
  Random random(GetParam());
  IntervalTrie trie;
  BruteForce oracle;
  const std::size_t rounds = 40;
  const std::size_t size_aim = 20 + random.below(3000);
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < size_aim / 10; ++i) {
      const bool grow =
          oracle.all().size() < size_aim ? random.below(4) != 0 : random.below(4) == 0;
      if (grow) {
        const auto prefix = random.prefix();
        if (prefix.length() == 0) continue;
        const auto [leaf, fresh] = trie.insert(prefix);
        ASSERT_EQ(fresh, !oracle.all().contains(prefix));
        if (!fresh) {
          ASSERT_EQ(leaf, oracle.all().at(prefix));
        }
        oracle.insert(prefix, leaf);
      } else if (!oracle.all().empty()) {
        auto victim = oracle.all().lower_bound(random.prefix());
        if (victim == oracle.all().end()) victim = oracle.all().begin();
        const Prefix prefix = victim->first;
        ASSERT_TRUE(trie.erase(prefix));
        ASSERT_FALSE(trie.erase(prefix));
        oracle.erase(prefix);
      }
    }
    compare(trie, oracle, random, 200);
    if (HasFatalFailure()) return;
  }
  for (const auto& [prefix, leaf] : oracle.all()) ASSERT_EQ(trie.find(prefix), leaf);
  EXPECT_EQ(trie.size().prefixes, oracle.all().size() + 1);
  while (!oracle.all().empty()) {
    const Prefix prefix = oracle.all().begin()->first;
    ASSERT_TRUE(trie.erase(prefix));
    oracle.erase(prefix);
  }
  compare(trie, oracle, random, 200);
  // A direct node is looked at again after as many edits as it has entries, so a few small ones may stay.
  EXPECT_LE(trie.size().lookup_bytes, IntervalTrie().size().lookup_bytes + 16'384)
      << "memory returns";
}

TEST_P(IntervalTrieOracle, BuiltAtOnceIsAsBuiltOneByOne) {
  Random random(GetParam());
  std::vector<Prefix> prefixes;
  std::vector<LeafValue> values;
  BruteForce oracle;
  for (std::size_t i = 0, count = 1 + random.below(5000); i < count; ++i) {
    prefixes.push_back(random.prefix());
    values.push_back(i + 1);
  }
  IntervalTrie trie;
  const auto leaves = trie.build_from(prefixes, values);
  ASSERT_EQ(leaves.size(), prefixes.size());
  std::set<Prefix> seen;
  for (std::size_t i = 0; i < prefixes.size(); ++i) {
    EXPECT_EQ(trie.find(prefixes[i]), leaves[i]);
    EXPECT_EQ(trie.prefix(leaves[i]), prefixes[i]);
    if (seen.insert(prefixes[i]).second) {
      EXPECT_EQ(trie.value(leaves[i]), values[i]) << "the first of equal ones counts";
    }
    if (prefixes[i].length() != 0) oracle.insert(prefixes[i], leaves[i]);
  }
  compare(trie, oracle, random, 2000);
  // What was built is edited like any other.
  for (const auto& prefix : prefixes) {
    if (random.below(2) != 0 || prefix.length() == 0) continue;
    EXPECT_EQ(trie.erase(prefix), oracle.all().contains(prefix));
    oracle.erase(prefix);
  }
  compare(trie, oracle, random, 2000);
}

TEST_P(IntervalTrieOracle, SharedPoolsGetEverythingBack) {
  Random random(GetParam());
  const auto pools = std::make_shared<TriePools>();
  const IntervalTrie empty(pools);
  const auto before = empty.size();
  {
    IntervalTrie first(pools);
    IntervalTrie second(pools);
    BruteForce in_first;
    BruteForce in_second;
    for (std::size_t i = 0; i < 3000; ++i) {
      const auto prefix = random.prefix();
      if (prefix.length() == 0) continue;
      in_first.insert(prefix, first.insert(prefix).leaf);
      const auto other = random.prefix();
      if (other.length() != 0) in_second.insert(other, second.insert(other).leaf);
    }
    compare(first, in_first, random, 500);
    compare(second, in_second, random, 500);
    EXPECT_GT(empty.size().leaf_bytes, before.leaf_bytes);
    first.release();
    compare(second, in_second, random, 500);
    second.release();
  }
  EXPECT_EQ(empty.size().lookup_bytes, before.lookup_bytes);
  EXPECT_EQ(empty.size().leaf_bytes, before.leaf_bytes);
}

INSTANTIATE_TEST_SUITE_P(Seeds, IntervalTrieOracle, ::testing::Range<std::uint64_t>(1, 9));

TEST(IntervalTrie, KeepsAWordWithEachPrefix) {
  rcu::Reader reader;
  IntervalTrie trie;
  const auto prefix = Prefix::parse("2001:db8::/32").value();
  const auto leaf = trie.insert(prefix, 7).leaf;
  EXPECT_EQ(trie.value(leaf), 7U);
  EXPECT_EQ(trie.value(kRootLeaf), 0U);
  trie.set_value(leaf, 8);
  trie.set_value(kRootLeaf, 9);
  EXPECT_EQ(trie.value(trie.lookup(prefix.address())), 8U);
  EXPECT_EQ(trie.value(trie.lookup(Ipv6Address{})), 9U);
}

TEST(IntervalTrie, ParentIsTheNextShorterPrefix) {
  rcu::Reader reader;
  IntervalTrie trie;
  const auto inner = trie.insert(Prefix::parse("2001:db8:1::/48").value()).leaf;
  EXPECT_EQ(trie.parent(inner), kRootLeaf);
  const auto outer = trie.insert(Prefix::parse("2001:db8::/32").value()).leaf;
  EXPECT_EQ(trie.parent(inner), outer);
  EXPECT_EQ(trie.parent(outer), kRootLeaf);
  const auto middle = trie.insert(Prefix::parse("2001:db8::/40").value()).leaf;
  EXPECT_EQ(trie.parent(inner), middle);
  EXPECT_TRUE(trie.erase(Prefix::parse("2001:db8::/32").value()));
  EXPECT_EQ(trie.parent(middle), kRootLeaf);
  EXPECT_FALSE(trie.erase(Prefix()));
}

TEST(IntervalTrie, TheLastAddressAndTheLastBlockAreOrdinary) {
  rcu::Reader reader;
  IntervalTrie trie;
  const auto address = Ipv6Address::parse("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff").value();
  EXPECT_EQ(trie.lookup(address), kRootLeaf);
  static constexpr std::uint8_t kLengths[] = {128, 112, 80, 64, 48, 16, 1};
  for (const auto length : kLengths) {
    const auto leaf = trie.insert(Prefix(address, length)).leaf;
    const LeafId longest = trie.find(Prefix(address, 128));
    EXPECT_EQ(trie.lookup(address), longest);
    EXPECT_EQ(trie.prefix(leaf).length(), length);
  }
}

// A03: pools hold as many as they are made for; one more ends the program. A router's hold 16 million prefixes and 2 GiB.
TEST(Pools, HoldAsManyAsTheyAreMadeFor) {
  IndexPool<std::uint64_t> pool(4);
  std::set<std::uint32_t> numbers;
  for (int i = 0; i < 4; ++i) numbers.insert(pool.allocate());
  EXPECT_EQ(numbers, (std::set<std::uint32_t>{0, 1, 2, 3}));
  EXPECT_DEATH(static_cast<void>(pool.allocate()), "");

  LinePool lines(std::size_t{1} << LinePool::kOrderMax);
  std::set<std::uint32_t> firsts;
  for (unsigned i = 0; i < 4; ++i) firsts.insert(lines.allocate(LinePool::kOrderMax - 2));
  EXPECT_EQ(firsts.size(), 4U);
  EXPECT_EQ(*firsts.rbegin(), 3U << (LinePool::kOrderMax - 2));
  EXPECT_DEATH(static_cast<void>(lines.allocate(LinePool::kOrderMax - 2)), "");
}

}  // namespace
}  // namespace sidestep::fib
