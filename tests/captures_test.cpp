// SPDX-License-Identifier: Apache-2.0
// Captures that others recorded, through the program: every record must be accounted for.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/run_program.hpp"
#include "io/capture_bytes.hpp"

namespace sidestep {
namespace {

namespace fs = std::filesystem;

/// Where shared captures are: $SIDESTEP_SHARED_DIR, else `shared` beside the sources.
fs::path shared_captures() {
  const char* directory = std::getenv("SIDESTEP_SHARED_DIR");
  const fs::path base = directory != nullptr
                            ? fs::path(directory)
                            : fs::path(SIDESTEP_SOURCE_DIRECTORY) / ".." / "shared";
  return base / "data" / "pcaps";
}

std::vector<fs::path> captures_in(const fs::path& directory) {
  std::vector<fs::path> captures;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(directory, missing)) {
    if (entry.path().extension() == ".pcap") captures.push_back(entry.path());
  }
  return captures;
}

/// A router that has something for everybody: its own addresses, SIDs, and a default route.
constexpr const char* kRouter =
    "sysctl -w net.ipv6.conf.all.forwarding=1\n"
    "sysctl -w net.ipv6.conf.all.seg6_enabled=1\n"
    "link add name west address 02:00:00:00:00:01 type dummy\n"
    "link add name east address 02:00:00:00:00:02 type dummy\n"
    "sysctl -w net.ipv6.conf.west.seg6_enabled=1\n"
    "link set west up\n"
    "link set east up\n"
    "address add 2001:db8:1::1/64 dev west\n"
    "address add 2001:db8:2::1/64 dev east\n"
    "address add 2200::240:2:0:0:4/128 dev west\n"
    "address add c::2/64 dev west\n"
    "neigh add 2001:db8:2::2 lladdr 02:00:00:00:02:02 dev east nud permanent\n"
    "route add default via 2001:db8:2::2\n"
    "route add a:b:c:2::f1:0/128 encap seg6local action End dev east\n"
    "route add 2::f1:0/128 encap seg6local action End flavors psp dev east\n";

std::uint64_t sum_of(const nlohmann::json& object) {
  std::uint64_t sum = 0;
  for (const auto& [name, count] : object.items()) sum += count.get<std::uint64_t>();
  return sum;
}

void expect_accounted(const fs::path& capture) {
  SCOPED_TRACE(capture.filename());
  const io::testing::ScratchDirectory scratch;
  std::ofstream(scratch.path("router.conf")) << kRouter;
  const auto ran = app::testing::run_program({"replay", "-c", scratch.path("router.conf"), "--in",
                                              "west=" + capture.string(), "--out",
                                              scratch.path("out"), "--json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const auto report = nlohmann::json::parse(ran.out, nullptr, false);
  ASSERT_FALSE(report.is_discarded()) << ran.out;
  std::uint64_t records = 0;
  for (const auto& input : report["inputs"]) records += input["records"].get<std::uint64_t>();
  EXPECT_GT(records, 0U);
  EXPECT_EQ(report["received"].get<std::uint64_t>(), records);
  EXPECT_EQ(report["received"].get<std::uint64_t>(),
            sum_of(report["forwarded"]) + report["delivered"].get<std::uint64_t>() +
                report["answered"].get<std::uint64_t>() + sum_of(report["dropped"]));
}

TEST(Captures, OfTheExampleAreAccountedFor) {
  const auto captures = captures_in(fs::path(SIDESTEP_SOURCE_DIRECTORY) / "examples" / "srv6-end");
  ASSERT_FALSE(captures.empty());
  for (const auto& capture : captures) expect_accounted(capture);
}

TEST(Captures, OfTheSharedDirectoryAreAccountedFor) {
  const auto captures = captures_in(shared_captures());
  if (captures.empty()) GTEST_SKIP() << "SKIPPED: no captures in " << shared_captures();
  for (const auto& capture : captures) expect_accounted(capture);
}

}  // namespace
}  // namespace sidestep
