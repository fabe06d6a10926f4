// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <sidestep/net/prefix.hpp>

#include "bench/contender.hpp"
#include "fib/interval_trie.hpp"

namespace sidestep::bench {

/// The interval trie as a contender.
class OurTrie : public Contender {
 public:
  OurTrie(std::span<const net::Prefix> prefixes, std::size_t burst);
  [[nodiscard]] std::string name() const override;  ///< with the vectors that it uses
  [[nodiscard]] std::size_t bytes() const override { return trie_->size().lookup_bytes; }
  void batched(Keys keys, std::span<Found> answers) override;
  void one_by_one(Keys keys, std::span<Found> answers) override;
  void chain(Keys keys) override;

 private:
  std::unique_ptr<fib::IntervalTrie> trie_;
  std::vector<Found> found_of_leaf_;
  std::vector<fib::LeafId> buffer_;
};

}  // namespace sidestep::bench
