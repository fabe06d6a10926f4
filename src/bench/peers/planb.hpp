// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <sidestep/net/prefix.hpp>

#include "bench/contender.hpp"
#include "bench/huge_array.hpp"
#include "bench/peers/planb_tree.hpp"

namespace sidestep::bench {

/// PlanB's published layout, our own implementation. See planb.cpp.
class Planb : public Contender {
 public:
  Planb(std::span<const net::Prefix> prefixes, std::size_t burst, const PlanbKernel& kernel);
  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::size_t bytes() const override { return keys_.bytes() + values_.bytes(); }
  [[nodiscard]] unsigned longest() const override { return 64; }
  void batched(Keys keys, std::span<Found> answers) override;
  void one_by_one(Keys keys, std::span<Found> answers) override;
  void chain(Keys keys) override;

  /// Times all widths on these keys and stays with the fastest.
  void tune(Keys keys);
  /// Makes the variant with this number the one that is used; for tests.
  void choose(std::size_t variant) { variant_ = &kernel_->variants[variant]; }
  [[nodiscard]] std::size_t variants() const { return kernel_->variant_count; }

 private:
  const PlanbKernel* kernel_;
  const PlanbKernel::Variant* variant_;
  HugeArray<std::int64_t> keys_;
  HugeArray<std::uint32_t> values_;
  PlanbTree tree_{};
  std::vector<Found> buffer_;
};

/// The kernel for the widest vectors of this machine, and the others that it can run.
[[nodiscard]] std::vector<const PlanbKernel*> planb_kernels();

}  // namespace sidestep::bench
