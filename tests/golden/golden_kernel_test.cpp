// SPDX-License-Identifier: Apache-2.0
// Golden packets against the running kernel, and ours against the kernel in all counters. Needs root.
#include <gtest/gtest.h>

#include "golden/golden_run.hpp"
#include "kernel/our_packets.hpp"

namespace sidestep::golden {
namespace {

class GoldenKernel : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    std::string why;
    if (!kernel::namespaces_available(why)) {
      GTEST_SKIP() << "SKIPPED: " << GetParam().steps.size()
                   << " packets not compared with the kernel: " << why;
    }
  }
};

TEST_P(GoldenKernel, SaysTheSame) {
  const Case& golden = GetParam();
  auto router = kernel::KernelRouter::create();
  ASSERT_TRUE(router) << router.error().message;
  for (const auto& outcome : router->apply(golden.config))
    ASSERT_EQ(outcome.error, 0) << outcome.text;
  kernel::KernelPackets packets(*router);
  kernel::OurRouter our_router;
  for (const auto& outcome : our_router.apply(golden.config))
    ASSERT_EQ(outcome.error, 0) << outcome.text;
  kernel::OurPackets our_packets(our_router);
  TimeNs now{kNsPerSecond};
  for (const auto& step : golden.steps) {
    SCOPED_TRACE(step.words);
    std::size_t expected = 0;
    for (const auto& out : step.out) expected += out.count;
    const auto said = packets.send(step.in.device, step.in.frame, expected, step.in.count);
    EXPECT_EQ(deviation(step, said), "") << "the kernel does not do what is stated";
    const auto ours = our_packets.send(step.in.device, step.in.frame, now, step.in.count);
    if (step.kernel_difference.empty()) {
      EXPECT_EQ(kernel::describe_difference(said, ours), "") << "ours differs from the kernel";
    }
    now.value += kNsPerSecond / 100;
  }
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenKernel, testing::ValuesIn(read_cases(golden_directory())),
                         [](const auto& one) { return test_name(one.param.name); });

}  // namespace
}  // namespace sidestep::golden
