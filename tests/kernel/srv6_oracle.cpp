// SPDX-License-Identifier: Apache-2.0
// srv6_oracle: random segment routers and packets, many at a time, through the kernel and through Sidestep. Frames, SNMP
// counters and SID counters of a group of packets must be equal; when they are not, the group's packets are sent again one by
// one, in a router of their own.
//
//   srv6_oracle --configs 5 --packets 1000 --seed 1
//
// Exits 1 on a difference, 77 without namespaces. A difference is printed with its configuration and frame, which
// `packet_oracle --config FILE --check-mac --frame DEV=HEX` repeats.

#include <CLI/CLI.hpp>

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "kernel/oracle_report.hpp"
#include "kernel/our_packets.hpp"
#include "kernel/packet_explanation.hpp"
#include "kernel/random_srv6.hpp"

namespace {

using namespace sidestep;          // NOLINT: a program
using namespace sidestep::kernel;  // NOLINT

struct Options {
  unsigned configs = 5;
  unsigned packets = 1000;
  unsigned group = 32;
  std::uint64_t seed = 1;
  unsigned shown_max = 5;
};

struct Totals {
  std::uint64_t packets = 0;
  std::uint64_t frames = 0;  ///< that came out of the kernel
  std::uint64_t groups_again = 0;
  std::uint64_t differences = 0;
  std::uint64_t not_implemented = 0;
  unsigned shown = 0;
  std::map<std::string, std::uint64_t> explained;
  std::map<std::string, std::uint64_t> verdicts;  ///< ours
};

/// One router, twice.
class Lab {
 public:
  explicit Lab(const std::vector<std::string>& lines) {
    auto made = KernelRouter::create();
    if (!made) return;
    router_ = std::make_unique<KernelRouter>(std::move(*made));
    std::string text;
    for (const auto& line : lines) text += line + "\n";
    const auto said = router_->apply(text);
    const auto ours = our_router_.apply(text);
    for (std::size_t i = 0; i < said.size(); ++i) {
      if (i < ours.size() && said[i].error == ours[i].error) continue;
      fmt::print("line differs: {}: kernel {}, ours {}\n", said[i].text, said[i].error,
                 i < ours.size() ? ours[i].error : -1);
      ++line_differences_;
    }
    kernel_ = std::make_unique<KernelPackets>(*router_);
    ours_ = std::make_unique<OurPackets>(our_router_);
  }
  [[nodiscard]] bool is_ready() const { return kernel_ != nullptr; }
  [[nodiscard]] unsigned line_differences() const { return line_differences_; }
  [[nodiscard]] const OurRouter& our_router() const { return our_router_; }

  PacketOutcome send_ours(const DeviceFrame& frame) {
    now_.value += kNsPerSecond / 1000;
    return ours_->send(frame.device, frame.frame, now_);
  }
  PacketOutcome send_kernel(const std::vector<DeviceFrame>& frames, std::size_t expected) {
    return kernel_->send(frames, expected);
  }

 private:
  std::unique_ptr<KernelRouter> router_;
  OurRouter our_router_;
  std::unique_ptr<KernelPackets> kernel_;
  std::unique_ptr<OurPackets> ours_;
  TimeNs now_{kNsPerSecond};
  unsigned line_differences_ = 0;
};

void add(PacketOutcome& sum, const PacketOutcome& one) {
  sum.sent.insert(sum.sent.end(), one.sent.begin(), one.sent.end());
  for (const auto& [name, delta] : one.counters) sum.counters[name] += delta;
}

void print_difference(const std::vector<std::string>& lines, const DeviceFrame& frame,
                      const std::string& words) {
  for (const auto& line : lines) fmt::print("    {}\n", line);
  std::string hex = hex_of(frame.frame, "");
  std::erase(hex, '\n');
  fmt::print("  --frame {}={}\n{}", frame.device, hex, words);
}

/// Sends the packets of a group one by one, and judges each.
void judge_each(const std::vector<std::string>& lines, const std::vector<DeviceFrame>& group,
                const Options& options, Totals& totals) {
  ++totals.groups_again;
  Lab lab(lines);
  for (const auto& frame : group) {
    const PacketOutcome ours = lab.send_ours(frame);
    const PacketOutcome said = lab.send_kernel({frame}, ours.sent.size());
    const std::string words = describe_difference(said, ours);
    if (words.empty()) continue;
    if (const auto heading = explanation_of(frame, said, ours, lab.our_router());
        !heading.empty()) {
      ++totals.explained[heading];
    } else if (ours.verdict == "not_implemented") {
      ++totals.not_implemented;
    } else {
      ++totals.differences;
      if (totals.shown++ < options.shown_max) print_difference(lines, frame, words);
    }
  }
}

void run_config(std::uint64_t seed, const Options& options, Totals& totals) {
  const auto lines = random_srv6_config(seed);
  Lab lab(lines);
  totals.differences += lab.line_differences();
  if (!lab.is_ready()) return;
  Dice dice(seed ^ 0x9e3779b97f4a7c15ULL);
  for (unsigned done = 0; done < options.packets; done += options.group) {
    std::vector<DeviceFrame> group;
    PacketOutcome ours;
    for (unsigned i = done; i < std::min(done + options.group, options.packets); ++i) {
      group.push_back(random_srv6_frame(dice));
      const PacketOutcome one = lab.send_ours(group.back());
      ++totals.verdicts[one.verdict];
      add(ours, one);
    }
    std::sort(ours.sent.begin(), ours.sent.end());
    std::erase_if(ours.counters, [](const auto& counter) { return counter.second == 0; });
    const PacketOutcome said = lab.send_kernel(group, ours.sent.size());
    totals.packets += group.size();
    totals.frames += said.sent.size();
    if (!describe_difference(said, ours).empty()) judge_each(lines, group, options, totals);
  }
}

void print_totals(const Options& options, const Totals& totals) {
  fmt::print(
      "srv6 oracle: seeds {}..{}: {} configurations, {} packets compared, {} frames from the "
      "kernel, "
      "{} unexplained differences\n",
      options.seed, options.seed + options.configs - 1, options.configs, totals.packets,
      totals.frames, totals.differences);
  fmt::print("  {} groups of {} were sent again one by one\n", totals.groups_again, options.group);
  if (totals.not_implemented != 0)
    fmt::print("  {} differ because ours says not_implemented\n", totals.not_implemented);
  print_explained(totals.explained);
  for (const auto& [verdict, count] : totals.verdicts) fmt::print("  {:>8} {}\n", count, verdict);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Compares what the kernel and Sidestep do to random SRv6 packets");
  app.add_option("--configs", options.configs, "random configurations");
  app.add_option("--packets", options.packets, "packets per configuration");
  app.add_option("--group", options.group,
                 "packets that are sent before the kernel's side is read");
  app.add_option("--seed", options.seed, "seed of the first");
  app.add_option("--show", options.shown_max, "differences to show");
  CLI11_PARSE(app, argc, argv);
  if (must_skip(fmt::format("{} configurations x {} packets", options.configs, options.packets)))
    return kSkipped;
  Totals totals;
  for (unsigned i = 0; i < options.configs; ++i) run_config(options.seed + i, options, totals);
  print_totals(options, totals);
  return totals.differences == 0 ? 0 : 1;
}
