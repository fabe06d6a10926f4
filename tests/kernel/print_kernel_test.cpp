// SPDX-License-Identifier: Apache-2.0
// What Sidestep prints, compared byte by byte with what `ip` prints of a kernel that has the same configuration; and what `ip`
// prints, read back.
#include <cstdlib>

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sidestep/fib/table.hpp>
#include <sidestep/rcu/rcu.hpp>

#include "config/config.hpp"
#include "config/print.hpp"
#include "kernel/kernel_router.hpp"
#include "kernel/our_router.hpp"
#include "kernel/random_config.hpp"

namespace sidestep::kernel {
namespace {

constexpr int kIterationsDefault = 40;

// Every attribute that is printed, alone and together.
constexpr std::string_view kEverything = R"(
sysctl -w net.ipv6.conf.all.forwarding=1
link add name e0 address 02:00:00:00:00:01 type dummy
link add name e1 address 02:00:00:00:00:02 type dummy
link set dev e0 up
link set dev e1 up
address add fc00::1/64 dev e0
address add fc01::1/64 dev e1
nexthop add id 1 via fc00::9 dev e0
nexthop add id 2 via fc01::9 dev e1
nexthop add id 4 blackhole
nexthop add id 12 via fc00::9 dev e0 onlink proto static
nexthop add id 13 dev e0
nexthop add id 14 via fc00::9 dev e0 encap seg6 mode encap segs fc00::1
nexthop add id 15 dev e0 encap seg6local action End
nexthop add id 5 group 1/2
nexthop add id 6 group 1,3/2,256 proto static
nexthop add id 7 group 14/15
nexthop add id 8 group 13
nexthop add id 10 group 1/2 type resilient buckets 16 idle_timer 10 unbalanced_timer 20
route add 2001:1::/64 via fc00::9
route add 2001:2::/64 via fc00::9 dev e0 proto static metric 7 mtu 1400 hoplimit 20 advmss 1300 src fc00::1 pref high
route add 2001:3::/64 via fc00::9 dev e0 onlink mtu lock 1400 hoplimit lock 9
route add 2001:4::/64 from 2001:5::/48 via fc00::9 dev e0
route add 2001:5::/64 nexthop via fc00::9 nexthop via fc01::9 weight 3
route add 2001:6::/64 proto static mtu 1300 nexthop via fc00::9 dev e0 onlink nexthop via fc01::9 weight 256
route add 2001:7::/64 nhid 1
route add 2001:8::/64 nhid 5
route add 2001:9::/64 nhid 4
route add 2001:a::/64 nhid 12
route add 2001:b::/64 nhid 13
route add 2001:c::/64 nhid 14
route add 2001:d::/64 nhid 15 expires 1000
route add 2001:e::/64 nhid 8 metric 9
route add 2001:f::/64 nhid 7 metric 7 proto static mtu 1400
route add 2001:10::/64 encap seg6 mode encap segs fc00::1,fc00::2 via fc00::9
route add 2001:11::/64 encap seg6 mode inline segs fc00::1,fc00::2 via fc00::9
route add 2001:12::/64 encap seg6 mode encap.red segs fc00::1,fc00::2 dev e0
route add 2001:12:1::/64 encap seg6 mode l2encap segs fc00::1,fc00::2 dev e0
route add 2001:12:2::/64 encap seg6 mode l2encap.red segs fc00::1,fc00::2 dev e0
route add 2001:13::/64 encap seg6local action End.X nh6 fc00::9 dev e0
route add 2001:14::/64 encap seg6local action End.X nh6 fc00::9 oif e1 dev e0
route add 2001:15::/64 encap seg6local action End.T table 100 dev e0
route add 2001:16::/64 encap seg6local action End.T table main dev e0
route add 2001:17::/64 encap seg6local action End.DX2 oif e0 dev e0
route add 2001:18::/64 encap seg6local action End.DX6 nh6 :: dev e0
route add 2001:19::/64 encap seg6local action End.DX4 nh4 10.0.0.1 dev e0
route add 2001:1a::/64 encap seg6local action End.DT6 table 254 dev e0 metric 5 proto bgp
route add 2001:1b::/64 encap seg6local action End.B6 srh segs fc00::1,fc00::2 dev e0
route add 2001:1c::/64 encap seg6local action End.B6.Encaps srh segs fc00::1,fc00::2 dev e0
route add 2001:1d::/64 encap seg6local action End count dev e0
route add 2001:1e::/64 encap seg6local action End flavors psp dev e0
route add 2001:1f::/64 encap seg6local action End flavors psp,next-csid lblen 48 nflen 8 count dev e0
route add 2001:20::/64 encap seg6local action End.X nh6 fc00::9 flavors next-csid dev e0
route add 2001:20:1::/64 encap seg6local action End.T table 100 flavors psp nh6 fc00::1 dev e0
route add 2001:21::/64 nexthop via fc00::9 encap seg6 mode encap segs fc00::1 nexthop via fc01::9 encap seg6local action End weight 3
route add unreachable 2001:22::/64
route add blackhole 2001:23::/64 proto static
route add prohibit 2001:24::/64 metric 4 mtu 1400
route add throw 2001:25::/64
route add local 2001:26::/64 dev lo
route add local 2001:26::/64 dev lo table main
route add anycast 2001:27::/64 dev e0 table main
route add multicast 2001:28::/64 dev e0
route add broadcast 2001:29::/64 dev e0 table main
route add 2001:2a::/64 dev e0 expires 300 mtu 1400
route add 2001:2b::/64 via fc00::9 initcwnd 10 initrwnd 12 window 4000 cwnd lock 5 reordering 4 ssthresh 6 rtt 100 rttvar 50 rto_min 5 quickack 1 features ecn congctl reno fastopen_no_cookie 1
route add 2001:2b:1::/64 via fc00::9 rtt 20s rttvar 1500ms advmss lock 1300 congctl lock reno mtu 1400 mtu lock 1300
route add 2001:2b:2::/64 via fc00::9 mtu 0 hoplimit 0 advmss 0 window 0
route add 2001:2c::/64 via fc00::9 table 100
route add 2001:2d::/64 dev lo
route add 2001:2e::1 dev e0
route add 2001:2f::/128 from 2001::1/128 dev e0
route add ::/0 from 2001::/16 dev e0
route add default via fc00::9 proto ra
route add default via fc00::9 metric 1025 proto kernel
route add ::/1 dev e0
route add ff00::/8 dev e0 table 100
route add 2001:30::/64 dev e0
route append 2001:30::/64 dev e1
route append 2001:30::/64 via fc00::9 dev e0
route append 2001:30::/64 via fc01::9 dev e1
route append 2001:30::/64 via fc00::9 dev e0 metric 5
route add 2001:31::/64 via inet6 fe80::1 dev e1
route add 2001:32::/64 dev e0 pref low proto 77
route add 2001:33::/64 via fc00::9 metric 1024 proto 0
route add 2001:34::/64 via fc00::9 realms 4 scope link
route add 2001:36::/64 nhid 10
route add 2001:37::/64 dev e1 table 4294967295
route add 2001:38::/64 nexthop via fc00::9
route add 2001:39::/64 via fc00::9 mtu 1400
route append 2001:39::/64 dev e1
route append 2001:39::/64 via fc01::9 proto static mtu 1300
rule add pref 10 not from 2001::/16 to 2002::/16 tos 0x10 fwmark 5/0xff iif e0 oif nosuch uidrange 0-5 ipproto tcp sport 5 dport 6-7 tun_id 9 proto static table 77 suppress_prefixlength 3 suppress_ifgroup 5
rule add pref 11 from 2001::1 to 2002::1 lookup main
rule add pref 12 iif nosuch oif e0 goto 100
rule add pref 13 ipproto 99 nop
rule add pref 14 ipproto ipv6-route blackhole proto bird
rule add pref 15 l3mdev not proto 77
rule add pref 16 from ::/0 to ::/0 lookup local
rule add pref 17 fwmark 0/0xff lookup default
rule add pref 18 tos EF unreachable
rule add pref 19 tos 0x24 table 5 prohibit suppress_prefixlength 0
rule add pref 20 suppress_ifgroup 0 suppress_prefixlength 0 lookup 9
rule add pref 21 lookup 256 goto 30
rule add pref 22 from 2001:db8::/0 lookup 9
rule add pref 23 proto kernel lookup 9
rule add pref 24 proto 0 fwmark 7 lookup 9
rule add pref 25 realms 5/6 fwmark 5/0 lookup 9
rule add pref 26 sport 1-65534 lookup 9
rule add pref 27 proto boot lookup 9
rule add pref 100 nop
rule add from 2001:db8::/32 lookup 100
neigh add fc00::1:1 lladdr 02:00:00:00:00:11 dev e0
neigh add fc00::1:2 lladdr 02:00:00:00:00:12 dev e0 nud stale
neigh add fc00::1:3 lladdr 02:00:00:00:00:13 dev e0 router
neigh add fc00::1:4 lladdr 02:00:00:00:00:14 dev e0 nud failed
neigh add fc00::1:5 lladdr 02:00:00:00:00:15 dev e0 nud noarp
neigh add proxy fc00::1:6 dev e0
)";

std::string ip_output(const Namespace& space, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "ip");
  return space.run(arguments).output;
}

// Seconds pass between the two sides.
std::string without_seconds(const std::string& text) {
  static const std::regex kExpires("expires -?[0-9]+sec");
  return std::regex_replace(text, kExpires, "expires Nsec");
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string sorted(const std::string& text) {
  auto lines = lines_of(text);
  std::ranges::sort(lines);
  std::string result;
  for (const auto& line : lines) result += line + "\n";
  return result;
}

// The kernel finds neighbors by hash and learns some by itself; only those that the configuration names are compared.
std::string named_neighbors(const std::string& printed, std::string_view configuration) {
  std::string result;
  for (const auto& line : lines_of(sorted(printed))) {
    const auto address = line.substr(0, line.find(' '));
    if (configuration.find(" " + address + " ") != std::string_view::npos) result += line + "\n";
  }
  return result;
}

// The first line that differs, with its neighbors on both sides.
std::string first_difference(const std::string& kernel, const std::string& ours) {
  const auto a = lines_of(kernel);
  const auto b = lines_of(ours);
  std::size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i]) ++i;
  const auto at = [&](const std::vector<std::string>& lines) {
    return i < lines.size() ? lines[i] : "(end)";
  };
  return fmt::format("line {}\n  kernel: '{}'\n  ours:   '{}'", i + 1, at(a), at(b));
}

class PrintedByIp : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    if (!namespaces_available(why)) GTEST_SKIP() << "the kernel cannot be asked: " << why;
    auto kernel = KernelRouter::create();
    ASSERT_TRUE(kernel) << kernel.error().message;
    kernel_.emplace(std::move(*kernel));
  }

  void apply(std::string_view text) {
    configuration_ = text;
    kernel_outcomes_ = kernel_->apply(text);
    our_outcomes_ = ours_.apply(text);
    kernel_->settle();
  }

  // Lines on which the two disagree are somebody else's fault; what follows from them is not compared.
  std::string disagreement() const {
    std::map<unsigned, int> errors;
    for (const auto& outcome : our_outcomes_) errors[outcome.line] = outcome.error;
    for (const auto& outcome : kernel_outcomes_) {
      const auto found = errors.find(outcome.line);
      const int ours = found == errors.end() ? 0 : found->second;
      if ((ours == 0) != (outcome.error == 0)) {
        return fmt::format("line {}: '{}': the kernel answers {}, ours {}", outcome.line,
                           outcome.text, outcome.error, ours);
      }
    }
    return "";
  }

  // iproute2 6.1 prints nothing for selectors that are younger than itself.
  static std::string without_new_selectors(const std::string& text) {
    static const std::regex kNew(" (dscp|flowlabel) [^ \n]+");
    return std::regex_replace(text, kNew, "");
  }

  void compare(std::string_view what, const std::string& kernel, const std::string& ours) {
    const std::string a = without_seconds(kernel);
    const std::string b = without_seconds(ours);
    EXPECT_EQ(a == b, true) << what << ": " << first_difference(a, b);
  }

  void compare_everything() {
    const rcu::ReadSection section;
    const Namespace& space = kernel_->router();
    for (const TableId table : ours_.fib().table_ids()) {
      const std::string kernel =
          ip_output(space, {"-6", "route", "show", "table", std::to_string(table.value)});
      const std::string ours = config::print_routes(ours_.fib(), table);
      const std::string what = "route show table " + config::table_name(table);
      // Which of two devices was first to have fe80::/64 is a matter of when each found its carrier.
      const bool timed = table == kTableLocal || table == kTableMain;
      compare(what, timed ? with_link_routes_sorted(kernel) : kernel,
              timed ? with_link_routes_sorted(ours) : ours);
    }
    compare("rule show", ip_output(space, {"-6", "rule", "show"}),
            without_new_selectors(config::print_rules(ours_.fib())));
    compare("nexthop show", ip_output(space, {"nexthop", "show"}),
            config::print_nexthops(ours_.fib()));
    compare("neigh show",
            named_neighbors(ip_output(space, {"-6", "neigh", "show"}), configuration_),
            sorted(config::print_neighbors(ours_.neighbors(), ours_.fib().links())));
  }

  static std::string with_link_routes_sorted(const std::string& text) {
    std::string result;
    std::vector<std::string> run;
    const auto flush = [&] {
      std::ranges::sort(run);
      for (const auto& line : run) result += line + "\n";
      run.clear();
    };
    for (const auto& line : lines_of(text)) {
      const bool made_by_carrier = line.find("fe80::/64 ") != std::string::npos ||
                                   line.find("fe80:: ") != std::string::npos ||
                                   line.find("ff00::/8 ") != std::string::npos;
      if (!made_by_carrier) flush();
      if (made_by_carrier) {
        run.push_back(line);
      } else {
        result += line + "\n";
      }
    }
    flush();
    return result;
  }

  std::optional<KernelRouter> kernel_;
  OurRouter ours_;
  std::string configuration_;
  std::vector<LineOutcome> kernel_outcomes_;
  std::vector<LineOutcome> our_outcomes_;
};

TEST_F(PrintedByIp, EveryAttribute) {
  apply(kEverything);
  EXPECT_EQ(disagreement(), "");
  compare_everything();
}

TEST_F(PrintedByIp, LinesWithoutCarrierAndDeadSiblings) {
  apply(R"(
link add name e0 address 02:00:00:00:00:01 type dummy
link add name e1 address 02:00:00:00:00:02 type dummy
link add name e2 address 02:00:00:00:00:03 type dummy
link set dev e0 up
link set dev e1 up
link set dev e2 up
address add fc00::1/64 dev e0
address add fc01::1/64 dev e1
route add 2001:1::/64 nexthop via fc00::9 dev e0 onlink nexthop via fe80::9 dev e1 weight 3 nexthop via fe80::9 dev e2
route add 2001:2::/64 via fe80::9 dev e2 mtu 1400
route add 2001:3::/64 dev e2 onlink
link set e1 down
link set e2 carrier off
)");
  EXPECT_EQ(disagreement(), "");
  compare_everything();
}

TEST_F(PrintedByIp, RandomConfigurations) {
  const char* seed_text = std::getenv("SIDESTEP_SEED");
  const char* count_text = std::getenv("SIDESTEP_ITERATIONS");
  const std::uint64_t first = seed_text != nullptr ? std::strtoull(seed_text, nullptr, 0) : 1;
  const int count = count_text != nullptr ? std::atoi(count_text) : kIterationsDefault;
  int compared = 0;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t seed = first + static_cast<std::uint64_t>(i);
    SCOPED_TRACE(fmt::format("run again: SIDESTEP_SEED={} SIDESTEP_ITERATIONS=1", seed));
    auto kernel = KernelRouter::create();
    ASSERT_TRUE(kernel);
    kernel_.reset();
    kernel_.emplace(std::move(*kernel));
    OurRouter ours;
    const std::string text = random_config(seed).text();
    configuration_ = text;
    kernel_outcomes_ = kernel_->apply(text);
    our_outcomes_ = ours.apply(text);
    kernel_->settle();
    if (const auto why = disagreement(); !why.empty()) {
      fmt::print("seed {} left out: {}\n", seed, why);
      continue;
    }
    ++compared;
    const rcu::ReadSection section;
    for (const TableId table : ours.fib().table_ids()) {
      const auto kernel_text = ip_output(
          kernel_->router(), {"-6", "route", "show", "table", std::to_string(table.value)});
      compare("table " + config::table_name(table), with_link_routes_sorted(kernel_text),
              with_link_routes_sorted(config::print_routes(ours.fib(), table)));
    }
    compare("rules", ip_output(kernel_->router(), {"-6", "rule", "show"}),
            without_new_selectors(config::print_rules(ours.fib())));
    compare("nexthops", ip_output(kernel_->router(), {"nexthop", "show"}),
            config::print_nexthops(ours.fib()));
    if (HasFailure()) {
      fmt::print("{}\n", text);
      break;
    }
  }
  fmt::print("{} random configurations of {} printed alike, seeds from {}\n", compared, count,
             first);
  EXPECT_GE(compared * 10, count * 9);
}

// What ip prints makes the same router again.
TEST_F(PrintedByIp, IsReadBack) {
  apply(kEverything);
  const Namespace& space = kernel_->router();
  const std::string routes = ip_output(space, {"-6", "route", "show"});
  const std::string routes_100 = ip_output(space, {"-6", "route", "show", "table", "100"});
  const std::string rules = ip_output(space, {"-6", "rule", "show"});
  const std::string nexthops = ip_output(space, {"nexthop", "show"});
  std::string text =
      "link add name e0 address 02:00:00:00:00:01 type dummy\n"
      "link add name e1 address 02:00:00:00:00:02 type dummy\n"
      "sysctl -w net.ipv6.conf.all.forwarding=1\nlink set e0 up\nlink set e1 up\n"
      "address add fc00::1/64 dev e0\naddress add fc01::1/64 dev e1\n"
      "rule del pref 0\nrule del pref 32766\n";
  // Routes that addresses make come of themselves.
  const auto add = [&](const std::string& head, const std::string& printed) {
    for (const auto& line : lines_of(printed)) {
      const bool made = line.find(" proto kernel metric 256 ") != std::string::npos;
      if (!made) text += line.starts_with('\t') ? line + "\n" : head + line + "\n";
    }
  };
  // Printed by id, but a group comes after its members.
  std::string groups;
  for (const auto& line : lines_of(nexthops)) {
    const bool group = line.find(" group ") != std::string::npos;
    (group ? groups : text) += "nexthop add " + line + "\n";
  }
  text += groups;
  add("rule add ", rules);
  add("route append table main ", routes);  // ip prints no table here
  for (const auto& line : lines_of(routes_100)) text += "route add " + line + " table 100\n";
  const std::string neighbors = ip_output(space, {"-6", "neigh", "show", "nud", "permanent"});
  add("neigh add ", neighbors);
  OurRouter second;
  for (const auto& outcome : second.apply(text)) EXPECT_EQ(outcome.error, 0) << outcome.text;
  const rcu::ReadSection section;
  compare("rules", rules, without_new_selectors(config::print_rules(second.fib())));
  compare("nexthops", nexthops, config::print_nexthops(second.fib()));
  compare("routes", with_link_routes_sorted(routes),
          with_link_routes_sorted(config::print_routes(second.fib(), kTableMain)));
  compare("table 100", routes_100, config::print_routes(second.fib(), TableId{100}));
  compare("neighbors", sorted(neighbors),
          sorted(config::print_neighbors(second.neighbors(), second.fib().links())));
}

}  // namespace
}  // namespace sidestep::kernel
