// SPDX-License-Identifier: Apache-2.0
// The stated lookups against ours, without privilege.
#include <gtest/gtest.h>

#include "golden/lookup_run.hpp"
#include "kernel/our_router.hpp"

namespace sidestep::golden {
namespace {

class LookupCases : public testing::TestWithParam<LookupCase> {};

TEST_P(LookupCases, AnswerAsStated) {
  const LookupCase& stated = GetParam();
  SCOPED_TRACE(stated.words);
  kernel::OurRouter router;
  EXPECT_EQ(failing_lines(router.apply(lookup_lab() + stated.config)), stated_failures(stated));
  for (const auto& step : stated.steps) {
    const auto query = kernel::parse_query(step.query);
    ASSERT_TRUE(query) << step.query;
    EXPECT_EQ(short_text(router.ask(*query).answer), step.answer) << step.query;
  }
}

INSTANTIATE_TEST_SUITE_P(Stated, LookupCases, testing::ValuesIn(lookup_cases()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace sidestep::golden
