// SPDX-License-Identifier: Apache-2.0
// Valid files with bytes changed, cut and doubled: whatever comes out, the reader answers, with a place inside the file.
#include <algorithm>
#include <cstdlib>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sidestep/rcu/rcu.hpp>

#include "config/config.hpp"
#include "config/kernel_lines.hpp"
#include "config/parser.hpp"
#include "config/print.hpp"

namespace sidestep::config {
namespace {

constexpr std::string_view kValid =
    "sysctl -w net.ipv6.conf.all.forwarding=1\n"
    "link add name east address 02:00:00:00:00:01 mtu 1500 type veth peer name west mtu 1400\n"
    "link set east up group 5 master blue carrier off # comment\n"
    "address add 2001:db8:1::1/64 dev east nodad metric 5 preferred_lft 0\n"
    "neigh add 2001:db8:2::2 lladdr 02:00:00:00:02:02 dev west nud stale router\n"
    "route add fc00:0:1::/48 encap seg6local action End.X nh6 2001:db8:2::2 flavors next-csid "
    "lblen 48 nflen 16 dev east\n"
    "route add fc00:0:2::/48 encap seg6local action End.B6.Encaps srh segs fc00::1,fc00::2 hmac 5 "
    "count dev east\n"
    "route append 2001:db8::/32 table 100 metric 5 mtu lock 1400 nexthop via fe80::1 dev east "
    "weight 3 \\\n"
    "  nexthop via fe80::2 dev west onlink\n"
    "route add 2001:6::/64 proto static metric 1024 pref medium\n"
    "\tnexthop  encap seg6 mode inline segs 2 [ fc00::1 :: ] hmac 20 via fc00::9 dev e0 weight 1 \n"
    "rule add pref 100 not from 2001:db8:9::/48 iif east fwmark 5/0xff sport 5-6 lookup 100 "
    "suppress_prefixlength 0\n"
    "nexthop add id 5 group 1,3/2 type resilient buckets 16 idle_timer 10\n"
    "sr tunsrc set fc00::1\n"
    "sr hmac set 5 sha256 'a secret'\n"
    "-4 address add 10.0.0.1/24 dev east\n";

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : engine_(seed) {}

  std::string mutate() {
    std::string text(kValid);
    const auto count = 1 + below(8);
    for (std::size_t i = 0; i < count; ++i) change(text);
    return text;
  }

 private:
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(engine_() % bound); }

  void change(std::string& text) {
    if (text.empty()) return;
    const auto at = below(text.size());
    const auto size = 1 + below(12);
    switch (below(7)) {
      case 0:
        text[at] = static_cast<char>(below(256));
        break;
      case 1:
        text[at] = "\n\t \\\"'#/,:.-0[]\0"[below(17)];
        break;
      case 2:
        text.erase(at, size);
        break;
      case 3:
        text.insert(at, text.substr(below(text.size()), size));
        break;
      case 4:
        text.insert(at, std::string(below(300), "x0 /f"[below(5)]));
        break;
      case 5:
        text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        break;
      default:
        swap_words(text);
        break;
    }
  }
  void swap_words(std::string& text) {
    const auto first = text.find(' ', below(text.size()));
    const auto second = text.find(' ', below(text.size()));
    if (first == std::string::npos || second == std::string::npos) return;
    const auto word = text.substr(first, text.find_first_of(" \n", first + 1) - first);
    text.insert(second, word);
  }

  std::mt19937_64 engine_;
};

TEST(Mutations, NeverBreakTheReader) {
  const char* seed_text = std::getenv("SIDESTEP_SEED");
  const std::uint64_t first = seed_text != nullptr ? std::strtoull(seed_text, nullptr, 0) : 1;
  const int count = seed_text != nullptr ? 1 : 1500;
  std::size_t understood = 0;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t seed = first + static_cast<std::uint64_t>(i);
    const std::string text = Mutator(seed).mutate();
    SCOPED_TRACE(fmt::format("run again: SIDESTEP_SEED={}", seed));
    static_cast<void>(split_for_kernel(text));
    const auto result = parse(text, "f");
    if (result) {
      understood += 1;
      continue;
    }
    const auto lines = static_cast<std::uint32_t>(std::count(text.begin(), text.end(), '\n')) + 1;
    ASSERT_FALSE(result.error().empty());
    for (const Diagnostic& diagnostic : result.error()) {
      EXPECT_GE(diagnostic.line, 1U);
      EXPECT_LE(diagnostic.line, lines);
      EXPECT_GE(diagnostic.column, 1U);
      EXPECT_LE(diagnostic.column, text.size() + 1);
      EXPECT_TRUE(diagnostic.read.starts_with("read ")) << diagnostic.read;
      EXPECT_TRUE(diagnostic.expected.starts_with("expected ")) << diagnostic.expected;
    }
    if (HasFailure()) break;
  }
  // If everything were refused, or nothing, the mutations would test nothing.
  if (count > 1) {
    EXPECT_GT(understood, 20U);
    EXPECT_LT(understood, 1480U);
  }
}

// What is understood may still be nonsense: the router refuses it in words.
TEST(Mutations, NeverBreakTheRouter) {
  const rcu::Reader reader;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    lookup::Fib fib;
    neighbor::Table neighbors;
    srv6::Settings srv6;
    const ParsedText parsed = parse_all(Mutator(seed).mutate(), "f");
    for (const Diagnostic& refused : apply(parsed.commands, "f", {fib, neighbors, srv6})) {
      EXPECT_TRUE(refused.expected.starts_with("refused: ")) << refused.to_string();
      EXPECT_FALSE(refused.expected.starts_with("refused:  (")) << refused.to_string();
    }
    const rcu::ReadSection section;
    for (const TableId table : fib.table_ids()) static_cast<void>(print_routes(fib, table));
    static_cast<void>(print_rules(fib) + print_nexthops(fib) + print_links(fib.links()));
  }
}

TEST(Mutations, ExtremesAreReadToo) {
  for (int byte = 0; byte < 256; ++byte) {
    static_cast<void>(parse(std::string(1000, static_cast<char>(byte)), "f"));
  }
  std::string longest = "route add ::/0";
  for (int i = 0; i < 20000; ++i) longest += " metric 5";
  EXPECT_TRUE(parse(longest, "f"));
  EXPECT_FALSE(parse("route add " + std::string(1 << 20, 'f'), "f"));
  EXPECT_FALSE(parse(std::string(100000, '\\'), "f"));
  std::string continued;
  for (int i = 0; i < 20000; ++i) continued += " metric 1 \\\n";
  EXPECT_TRUE(parse("route add ::/0 " + continued + "\n", "f"));
  EXPECT_TRUE(parse(std::string(100000, '\n'), "f"));
}

}  // namespace
}  // namespace sidestep::config
