// SPDX-License-Identifier: Apache-2.0
// The benchmark's own oracle against a scan of all prefixes, and every contender in every variant against the oracle.
#include <gtest/gtest.h>

#include "bench/contender.hpp"
#include "bench/keys.hpp"
#include "bench/our_trie.hpp"
#include "bench/peers/dpdk.hpp"
#include "bench/peers/planb.hpp"
#include "bench/prefix_table.hpp"
#include "bench/random.hpp"

namespace sidestep::bench {
namespace {

/// Prefixes of all lengths, deeply nested; a few bits decide.
std::vector<net::Prefix> nested_prefixes(std::size_t count) {
  Random random(7);
  std::vector<net::Prefix> prefixes;
  while (prefixes.size() < count) {
    const Number few = (Number{random.below(8)} << 120) | (Number{random.below(4)} << 80) |
                       (Number{random.below(4)} << 62) | random.below(16);
    const net::Prefix prefix(to_address(few), static_cast<std::uint8_t>(1 + random.below(128)));
    if (std::find(prefixes.begin(), prefixes.end(), prefix) == prefixes.end()) {
      prefixes.push_back(prefix);
    }
  }
  return prefixes;
}

Found scan(const std::vector<net::Prefix>& prefixes, const net::Ipv6Address& address) {
  Found best = kNothing;
  for (std::uint32_t i = 0; i < prefixes.size(); ++i) {
    if (!prefixes[i].covers(address)) continue;
    if (best == kNothing || prefixes[i].length() > prefixes[best - 1].length()) best = i + 1;
  }
  return best;
}

/// Addresses at and beside the edges of prefixes, and inside them.
HugeArray<net::Ipv6Address> edge_keys(const std::vector<net::Prefix>& prefixes) {
  HugeArray<net::Ipv6Address> keys(prefixes.size() * 4 + 2);
  std::size_t at = 0;
  for (const auto& prefix : prefixes) {
    const Number first = to_number(prefix.address());
    const Number last = first | host_mask(prefix.length());
    for (const Number number : {first, first - 1, last, last + 1}) keys[at++] = to_address(number);
  }
  keys[at++] = to_address(0);
  keys[at++] = to_address(~Number{0});
  return keys;
}

void expect_exact(Contender& contender, const std::vector<net::Prefix>& prefixes, Keys keys) {
  const LongestMatch oracle(prefixes);
  std::vector<Found> expected(keys.size());
  std::vector<Found> answers(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) expected[i] = oracle.find(keys[i]);
  contender.batched(keys, answers);
  const auto batched = compare(answers, expected, prefixes, contender.longest());
  EXPECT_EQ(batched.mismatches, 0U) << contender.name() << ", batched";
  EXPECT_GT(batched.compared, 0U);
  contender.one_by_one(keys, answers);
  const auto single = compare(answers, expected, prefixes, contender.longest());
  EXPECT_EQ(single.mismatches, 0U) << contender.name() << ", one by one";
}

TEST(LongestMatch, FindsWhatAScanFinds) {
  const auto prefixes = nested_prefixes(300);
  const LongestMatch match(prefixes);
  const auto keys = edge_keys(prefixes);
  for (const auto& key : keys.span()) {
    ASSERT_EQ(match.find(key), scan(prefixes, key)) << key.to_string();
  }
}

TEST(Planb, EveryKernelAndWidthIsExactUpTo64) {
  for (const std::size_t size : {1U, 5U, 60U, 600U, 3000U}) {
    const auto prefixes = nested_prefixes(size);
    const auto keys = edge_keys(prefixes);
    for (const PlanbKernel* kernel : planb_kernels()) {
      Planb planb(prefixes, 37, *kernel);
      for (std::size_t variant = 0; variant < planb.variants(); ++variant) {
        planb.choose(variant);
        expect_exact(planb, prefixes, keys.span());
      }
    }
  }
}

TEST(OurTrie, IsExact) {
  const auto prefixes = nested_prefixes(2000);
  OurTrie ours(prefixes, 37);
  const auto keys = edge_keys(prefixes);
  expect_exact(ours, prefixes, keys.span());
}

// DPDK's environment starts once per process, so one test has all of it; and each table lives once.
TEST(Dpdk, IsExact) {
  const auto table = generate_table(3000, 3);
  auto peers = make_dpdk_peers(table.prefixes, 64);
  EXPECT_EQ(peers.present.size() + peers.absent.size(), 3U);
  const auto keys = edge_keys(table.prefixes);
  for (const auto& peer : peers.present) expect_exact(*peer, table.prefixes, keys.span());
  if (peers.present.empty()) GTEST_SKIP() << peers.absent.front().why;
}

TEST(GeneratedTable, IsTheSameForTheSameSeedAndHasWhatWasAskedFor) {
  const auto table = generate_table(5000, 1);
  EXPECT_EQ(table.prefixes.size(), 5000U);
  EXPECT_TRUE(table.generated);
  EXPECT_EQ(table.prefixes, generate_table(5000, 1).prefixes);
  EXPECT_NE(table.prefixes, generate_table(5000, 2).prefixes);
  std::size_t length_48 = 0;
  for (const auto& prefix : table.prefixes) length_48 += prefix.length() == 48 ? 1U : 0U;
  EXPECT_GT(length_48, 1500U);
}

}  // namespace
}  // namespace sidestep::bench
