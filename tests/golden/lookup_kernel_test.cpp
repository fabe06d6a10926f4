// SPDX-License-Identifier: Apache-2.0
// The stated lookups against the running kernel. Needs root.
#include <gtest/gtest.h>

#include "golden/lookup_run.hpp"
#include "kernel/netns.hpp"

namespace sidestep::golden {
namespace {

class LookupKernel : public testing::TestWithParam<LookupCase> {
 protected:
  void SetUp() override {
    std::string why;
    if (!kernel::namespaces_available(why)) {
      GTEST_SKIP() << "SKIPPED: " << GetParam().steps.size()
                   << " lookups not compared with the kernel: " << why;
    }
  }
};

TEST_P(LookupKernel, AnswersAsStated) {
  const LookupCase& stated = GetParam();
  SCOPED_TRACE(stated.words);
  auto router = kernel::KernelRouter::create();
  ASSERT_TRUE(router) << router.error().message;
  EXPECT_EQ(failing_lines(router->apply(lookup_lab() + stated.config)), stated_failures(stated));
  kernel::RouteQuery questions(router->router());
  for (const auto& step : stated.steps) {
    const auto query = kernel::parse_query(step.query);
    ASSERT_TRUE(query) << step.query;
    EXPECT_EQ(short_text(questions.ask(*query)), step.answer) << step.query;
  }
}

INSTANTIATE_TEST_SUITE_P(Stated, LookupKernel, testing::ValuesIn(lookup_cases()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace sidestep::golden
