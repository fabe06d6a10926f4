// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <sidestep/rcu/rcu.hpp>

#include "config/config.hpp"
#include "config/print.hpp"

namespace sidestep::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Apply : public testing::Test {
 protected:
  std::vector<std::string> load(const std::string& path) {
    std::vector<std::string> texts;
    for (const auto& diagnostic : load_file(path, target()))
      texts.push_back(diagnostic.to_string());
    return texts;
  }
  std::vector<std::string> load_text(std::string_view text) {
    std::ofstream(path_, std::ios::binary) << text;
    auto texts = load(path_);
    for (auto& diagnostic : texts) diagnostic.erase(0, path_.size() + 1);
    return texts;
  }
  void TearDown() override { std::filesystem::remove(path_); }
  Target target() { return {fib_, neighbors_, srv6_}; }

  const rcu::Reader reader_;
  lookup::Fib fib_;
  neighbor::Table neighbors_;
  srv6::Settings srv6_;
  std::string path_ =
      (std::filesystem::temp_directory_path() / ("sidestep-apply-test-" + std::to_string(getpid())))
          .string();
};

TEST_F(Apply, NeighborsGoWithTheirDevice) {
  const std::string router =
      "link add name east type dummy\nlink set east up\n"
      "neigh add 2001:db8:1::2 lladdr 02:00:00:00:00:02 dev east nud stale\n"
      "neigh add 2001:db8:1::3 lladdr 02:00:00:00:00:03 dev east nud permanent\n";
  EXPECT_THAT(load_text(router), IsEmpty());
  EXPECT_EQ(neighbors_.size(), 2U);
  EXPECT_THAT(load_text("link set east carrier off\n"), IsEmpty());
  EXPECT_EQ(neighbors_.size(), 1U);
  EXPECT_THAT(load_text("link set east down\n"), IsEmpty());
  EXPECT_EQ(neighbors_.size(), 0U);
}

TEST_F(Apply, MakesARouter) {
  EXPECT_THAT(load_text("link add name east address 02:00:00:00:00:01 type dummy\n"
                        "link set east up\n"
                        "address add 2001:db8:1::1/64 dev east\n"
                        "neigh add 2001:db8:1::2 lladdr 02:00:00:00:00:02 dev east\n"
                        "route add 2001:db8:2::/48 via 2001:db8:1::2 metric 5\n"
                        "sr tunsrc set 2001:db8:1::1\n"
                        "sr hmac set 5 sha1 secret\n"
                        "sr hmac set 6 sha256 secret\n"
                        "sr hmac set 6 sha256\n"
                        "-4 address add 10.0.0.1/24 dev east\n"),
              IsEmpty());
  const rcu::ReadSection section;
  EXPECT_THAT(print_routes(fib_, kTableMain),
              HasSubstr("2001:db8:2::/48 via 2001:db8:1::2 dev east metric 5 pref medium\n"));
  EXPECT_EQ(print_neighbors(neighbors_, fib_.links()),
            "2001:db8:1::2 dev east lladdr 02:00:00:00:00:02 PERMANENT \n");
  EXPECT_EQ(srv6_.tunnel_source.to_string(), "2001:db8:1::1");
  EXPECT_EQ(srv6_.hmac_secrets.size(), 1U);
}

TEST_F(Apply, RefusalsPointAtTheObjectInTheKernelsWords) {
  EXPECT_THAT(
      load_text("link add name east type dummy\n"
                "link set east up\n"
                "route add 2001:db8::/32 dev east\n"
                "route add 2001:db8::/32 dev east\n"
                "route change 2001:db8:1::/48 dev west\n"
                "neigh change fe80::1 lladdr 02:00:00:00:00:02 dev east\n"
                "sr hmac set 6 sha256\n"),
      ElementsAre("4:11: read '2001:db8::/32'; refused: File exists (EEXIST)",
                  "5:14: read '2001:db8:1::/48'; refused: Cannot find device \"west\" (ENODEV)",
                  "6:14: read 'fe80::1'; refused: No such file or directory (ENOENT)",
                  "7:13: read '6'; refused: No such file or directory (ENOENT)"));
}

TEST_F(Apply, MistakesDoNotHideRefusalsThatStandAlone) {
  EXPECT_THAT(
      load_text(
          "link add name east type dummy\n"
          "link set east up\n"
          "address add 2001:db8:1::1/640 dev east\n"
          "route add 2001:db8:2::/48 via 2001:db8:1::2\n"  // fails only because of the line before
          "route add 2001:db8:3::/48 dev esat\n"
          "link add name east type dummy\n"),
      ElementsAre(HasSubstr("3:13: read '2001:db8:1::1/640'; expected a prefix length"),
                  HasSubstr("5:11: read '2001:db8:3::/48'; refused: Cannot find device"),
                  HasSubstr("6:15: read 'east'; refused: File exists")));
}

TEST_F(Apply, ABrokenLinkLineDoesNotMakeEveryUseOfItsDeviceAMistake) {
  EXPECT_THAT(load_text("link add name east mtu x type dummy\nroute add ::/0 dev east\n"),
              ElementsAre(HasSubstr("1:24: read 'x'; expected an MTU")));
}

TEST_F(Apply, FilesThatCannotBeRead) {
  EXPECT_THAT(load("/nonexistent/r.conf"),
              ElementsAre("/nonexistent/r.conf: cannot be read: No such file or directory"));
  EXPECT_THAT(load("/"), ElementsAre("/: cannot be read: Is a directory"));
  EXPECT_THAT(load_text(""), IsEmpty());
}

}  // namespace
}  // namespace sidestep::config
