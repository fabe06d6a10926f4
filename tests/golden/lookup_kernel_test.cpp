// SPDX-License-Identifier: Apache-2.0
// The stated lookups against the running kernel. Needs root.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "golden/lookup_run.hpp"
#include "kernel/netns.hpp"
#include "kernel/our_router.hpp"

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

TEST(ExpiredRoutes, AreUnusedAtOnceAndStayInTheWay) {
  std::string why;
  if (!kernel::namespaces_available(why))
    GTEST_SKIP() << "SKIPPED: expiry not compared with the kernel: " << why;
  const std::string config =
      lookup_lab() + "route add 2001:db8:1::/48 via 2001:db8:b::2 expires 1\n";
  const std::string again = "route add 2001:db8:1::/48 via 2001:db8:a::2\n";
  const auto query = *kernel::parse_query("2001:db8:1::1");

  auto router = kernel::KernelRouter::create();
  ASSERT_TRUE(router) << router.error().message;
  EXPECT_TRUE(failing_lines(router->apply(config)).empty());
  kernel::RouteQuery questions(router->router());
  EXPECT_EQ(short_text(questions.ask(query)),
            "via 2001:db8:b::2 dev r-b 2001:db8:1::/48 table 254");
  std::this_thread::sleep_for(std::chrono::milliseconds(1200));
  EXPECT_EQ(short_text(questions.ask(query)), "ENETUNREACH");
  EXPECT_EQ(failing_lines(router->apply(again)).size(), 1U);

  kernel::OurRouter ours;
  EXPECT_TRUE(failing_lines(ours.apply(config)).empty());
  EXPECT_EQ(short_text(ours.ask(query).answer),
            "via 2001:db8:b::2 dev r-b 2001:db8:1::/48 table 254");
  EXPECT_EQ(short_text(ours.ask(query, 0, TimeNs{kNsPerSecond * 6 / 5}).answer), "ENETUNREACH");
  EXPECT_EQ(failing_lines(ours.apply(again)).size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Stated, LookupKernel, testing::ValuesIn(lookup_cases()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace sidestep::golden
