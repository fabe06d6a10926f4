// SPDX-License-Identifier: Apache-2.0
#include "bench/our_trie.hpp"

#include <hwy/targets.h>

namespace sidestep::bench {

OurTrie::OurTrie(std::span<const net::Prefix> prefixes, std::size_t burst)
    : trie_(std::make_unique<fib::IntervalTrie>()), buffer_(burst) {
  trie_->build_from(prefixes);
  for (Found i = 0; i < prefixes.size(); ++i) {
    const auto leaf = trie_->find(prefixes[i]);
    if (leaf >= found_of_leaf_.size()) found_of_leaf_.resize(leaf + 1, kNothing);
    if (leaf != fib::kRootLeaf) found_of_leaf_[leaf] = i + 1;
  }
}

std::string OurTrie::name() const {
  const auto targets = hwy::SupportedTargets() & HWY_TARGETS;
  return std::string("sidestep, ") +
         hwy::TargetName(targets & -targets);  // the lowest bit is the best
}

void OurTrie::batched(Keys keys, std::span<Found> answers) {
  batched_pass(
      keys, answers, std::span(buffer_),
      [this](Keys burst, std::span<fib::LeafId> leaves) { trie_->lookup_batch(burst, leaves); },
      [this](fib::LeafId leaf) { return found_of_leaf_[leaf]; });
}

void OurTrie::one_by_one(Keys keys, std::span<Found> answers) {
  single_pass(
      keys, answers, [this](const net::Ipv6Address& key) { return trie_->lookup(key); },
      [this](fib::LeafId leaf) { return found_of_leaf_[leaf]; });
}

void OurTrie::chain(Keys keys) {
  chain_pass(keys, [this](const net::Ipv6Address& key) { return trie_->lookup(key); });
}

}  // namespace sidestep::bench
