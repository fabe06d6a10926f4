// SPDX-License-Identifier: Apache-2.0
// The command line: what is understood, what is not, and the exit status of each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/run_program.hpp"
#include "packet/drop_reason.hpp"

namespace sidestep::app {
namespace {

using namespace app::testing;  // NOLINT
using namespace io::testing;   // NOLINT
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Program, HasHelpAndVersionEverywhere) {
  const std::vector<std::vector<std::string>> commands = {{},
                                                          {"replay"},
                                                          {"route"},
                                                          {"route", "get"},
                                                          {"show"},
                                                          {"show", "route"},
                                                          {"show", "rule"},
                                                          {"show", "neigh"},
                                                          {"show", "link"},
                                                          {"show", "nexthop"},
                                                          {"drops"}};
  for (auto words : commands) {
    words.emplace_back("--help");
    const auto help = run_program(words);
    EXPECT_EQ(help.status, 0) << words.front();
    EXPECT_THAT(help.out, HasSubstr("--help"));
    words.back() = "--version";
    const auto version = run_program(words);
    EXPECT_EQ(version.status, 0) << words.front() << version.err;
    EXPECT_THAT(version.out, StartsWith("sidestep "));
  }
}

TEST(Program, SaysTwoWhenTheCommandIsNotUnderstood) {
  const std::vector<std::vector<std::string>> commands = {
      {},
      {"frobnicate"},
      {"--frobnicate"},
      {"replay"},
      {"replay", "-c", "x", "--in", "west=y"},
      {"replay", "-c", "x", "--in", "west", "--out", "z"},
      {"replay", "-c", "x", "--in", "=y", "--out", "z"},
      {"replay", "-c", "x", "--in", "a=-", "--in", "b=-", "--out", "z"},
      {"replay", "-c", "x", "--in", "west=", "--out", "z"},
      {"replay", "-c", "x", "--in", "west=y", "--out", ""},
      {"replay", "-c", "x", "--in", "a=b", "--out", "z", "--explain-packet", "0"},
      {"replay", "-c", "x", "--in", "a=b", "--out", "z", "--explain-packet", "x"},
      {"replay", "-c", "x", "--in", "a=b", "--in", "c=d", "--out", "z", "--explain-packet", "1"},
      {"route", "get", "-c", "x"},
      {"route", "get", "-c", "x", "nonsense"},
      {"route", "get", "-c", "x", "10.0.0.1"},
      {"route", "get", "-c", "x", "2001:db8::1/64"},
      {"route", "get", "-c", "x", "2001:db8::1", "from"},
      {"route", "get", "-c", "x", "2001:db8::1", "from", "y"},
      {"route", "get", "-c", "x", "2001:db8::1", "mark", "y"},
      {"route", "get", "-c", "x", "2001:db8::1", "sport", "65536"},
      {"route", "get", "-c", "x", "2001:db8::1", "flowlabel", "0x100000"},
      {"route", "get", "-c", "x", "2001:db8::1", "tos", "zz"},
      {"route", "get", "-c", "x", "2001:db8::1", "bogus", "5"},
      {"show", "route"},
      {"show", "route", "-c", "x", "table"},
      {"show", "route", "-c", "x", "table", "nonsense"},
      {"show", "everything", "-c", "x"},
      {"drops", "more"}};
  for (const auto& words : commands) {
    const auto ran = run_program(words);
    std::string command;
    for (const auto& word : words) command += word + " ";
    EXPECT_EQ(ran.status, 2) << command << ran.err;
    EXPECT_THAT(ran.err, StartsWith("sidestep: ")) << command;
    EXPECT_EQ(ran.out, "") << command;
  }
}

TEST(Program, NamesTheWordThatIsNotUnderstood) {
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"frobnicate"},
           {"show", "frobnicate", "-c", "x"},
           {"replay", "--frobnicate", "x", "--in", "west=y", "--out", "z"},
           {"drops", "frobnicate"}}) {
    EXPECT_THAT(run_program(words).err, HasSubstr("frobnicate")) << words.front();
  }
  EXPECT_THAT(run_program({"replay", "--in", "west=y", "--out", "z"}).err,
              StartsWith("sidestep: --config is required\n"));
}

TEST(Program, SaysOneWhenTheConfigurationIsNotThere) {
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"replay", "-c", "/nonexistent", "--in", "west=y", "--out", "/nonexistent/z"},
           {"route", "get", "-c", "/nonexistent", "2001:db8::1"},
           {"show", "link", "-c", "/nonexistent"}}) {
    const auto ran = run_program(words);
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.err, HasSubstr("/nonexistent"));
  }
}

TEST(Program, ReportsAllMistakesOfAConfiguration) {
  const ScratchDirectory directory;
  const std::string config =
      directory.write("router.conf", std::string("link add name west type veth\n"
                                                 "neigh add 2001:db8::5 lladdr 02:00 dev west\n"
                                                 "route add 2001:db8::/200 dev west\n"
                                                 "rule add from 2001:db8::/32 frobnicate\n"
                                                 "address add 2001:db8::1/64 dev nowhere\n"
                                                 "sysctl -w net.ipv6.conf.all.forwarding\n"));
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"show", "route", "-c", config},
           {"route", "get", "-c", config, "2001:db8::1"},
           {"replay", "-c", config, "--in", "west=" + directory.path("in"), "--out",
            directory.path("out")}}) {
    const auto ran = run_program(words);
    EXPECT_EQ(ran.status, 1);
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(lines_of(ran.err),
                ElementsAre(StartsWith(config + ":2:"), StartsWith(config + ":3:"),
                            StartsWith(config + ":4:"), StartsWith(config + ":5:"),
                            StartsWith(config + ":6:")));
  }
  EXPECT_FALSE(std::filesystem::exists(directory.path("out"))) << "nothing is written";
}

TEST(Program, SaysOneWhenTheOutputCannotBeWritten) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  for (const std::string words : {" drops", " drops --json"}) {
    const int status =
        std::system((quoted(SIDESTEP_PROGRAM) + words + " >/dev/full 2>/dev/null").c_str());
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 1) << words;
  }
}

TEST(Program, ListsEveryDropReason) {
  const auto ran = run_program({"drops"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(lines_of(ran.out).size(), packet::all_drop_reasons().size());
  for (const auto reason : packet::all_drop_reasons()) {
    EXPECT_THAT(ran.out, HasSubstr(std::string(packet::text_of(reason).name)));
    EXPECT_THAT(ran.out, HasSubstr(std::string(packet::text_of(reason).help)));
  }
  const auto json = nlohmann::json::parse(run_program({"drops", "--json"}).out);
  EXPECT_EQ(json.size(), packet::all_drop_reasons().size());
  EXPECT_EQ(json[0].at("name"), "not_ipv6");
}

}  // namespace
}  // namespace sidestep::app
