// SPDX-License-Identifier: Apache-2.0
// Golden packets against our forwarding plane. Needs no privilege.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "golden/golden_run.hpp"
#include "kernel/our_packets.hpp"

namespace sidestep::golden {
namespace {

class GoldenPackets : public testing::TestWithParam<Case> {};

TEST_P(GoldenPackets, LeaveAsStated) {
  const Case& golden = GetParam();
  kernel::OurRouter router;
  for (const auto& outcome : router.apply(golden.config)) {
    ASSERT_EQ(outcome.error, 0) << outcome.text;
  }
  kernel::OurPackets packets(router);
  TimeNs now{kNsPerSecond};
  for (const auto& step : golden.steps) {
    SCOPED_TRACE(step.words);
    const auto outcome = packets.send(step.in.device, step.in.frame, now, step.in.count);
    EXPECT_EQ(deviation(step, outcome), "");
    EXPECT_EQ(outcome.verdict, step.verdict);
    now.value += kNsPerSecond / 100;
  }
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenPackets, testing::ValuesIn(read_cases(golden_directory())),
                         [](const auto& one) { return test_name(one.param.name); });

std::string file_text(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(GoldenFiles, AreWhatTheBuilderWrites) {
  const auto files = read_cases(golden_directory());
  const auto stated = all_cases();
  EXPECT_EQ(files.size(), stated.size()) << "run golden_builder tests/golden";
  for (const auto& golden : stated) {
    const std::string directory = golden_directory() + "/" + golden.name + "/";
    EXPECT_EQ(file_text(directory + "packets.txt"), print_steps(golden))
        << "run golden_builder tests/golden";
    EXPECT_EQ(file_text(directory + "router.conf"), print_config(golden))
        << "run golden_builder tests/golden";
  }
}

}  // namespace
}  // namespace sidestep::golden
