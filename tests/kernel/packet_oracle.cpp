// SPDX-License-Identifier: Apache-2.0
// packet_oracle: the same packets through the kernel and through Sidestep; frames and SNMP counters must be equal.
//
//   packet_oracle --config FILE --in DEV=CAPTURE [--in …]      the records of captures, in order
//   packet_oracle --config FILE --frame DEV=HEX                one frame
//   packet_oracle --configs 40 --packets 60 --seed 1           random routers and packets
//
// Exits 1 on a difference, 77 without namespaces. A difference in a random run is shrunk to the fewest configuration lines and the one
// packet that show it, and printed with the command that repeats it.

#include <unistd.h>

#include <CLI/CLI.hpp>

#include <chrono>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "io/capture_reader.hpp"
#include "kernel/lookup_comparison.hpp"
#include "kernel/oracle_report.hpp"
#include "kernel/our_packets.hpp"
#include "kernel/packet_explanation.hpp"
#include "kernel/random_packets.hpp"

namespace {

using namespace sidestep;          // NOLINT: a program
using namespace sidestep::kernel;  // NOLINT

struct Options {
  std::string config;
  std::vector<std::string> captures;
  std::vector<std::string> frames;
  unsigned configs = 40;
  unsigned packets = 60;
  std::uint64_t seed = 1;
  unsigned shown_max = 5;
  bool check_mac = false;
};

/// One difference: the frame that showed it, and how.
struct PacketDifference {
  DeviceFrame frame;
  std::string words;
};

struct RunResult {
  std::uint64_t packets = 0;
  std::uint64_t frames = 0;  ///< that came out of the kernel
  std::vector<std::string> line_differences;
  std::vector<PacketDifference> differences;
  std::map<std::string, std::uint64_t> explained;  ///< by heading of docs/kernel-differences.md
};

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  return text;
}

/// Gives unicast frames the router's link-layer address, as `replay` takes them without --check-mac.
void readdress(std::vector<DeviceFrame>& frames, const fib::Links& links) {
  for (auto& one : frames) {
    const fib::Link* link = links.find(one.device);
    if (link == nullptr || one.frame.size() < 6 || (one.frame[0] & 1) != 0) continue;
    std::copy(link->mac.bytes.begin(), link->mac.bytes.end(), one.frame.begin());
  }
}

/// Sends again what differed, when the kernel may have found prefixes again that it had lost.
void explain_lost_subtrees(KernelRouter& router, KernelPackets& kernel, const OurRouter& our_router,
                           OurPackets& ours, RunResult& result) {
  const std::string lines = repairing_lines(our_router.fib(), 1);
  if (lines.empty() || result.differences.empty()) return;
  router.apply(lines);
  std::erase_if(result.differences, [&](const PacketDifference& difference) {
    // Long after everything else, so that no limit of ours is in the way.
    const PacketOutcome mine =
        ours.send(difference.frame.device, difference.frame.frame, TimeNs{kNsPerSecond * 1000});
    const PacketOutcome said =
        kernel.send(difference.frame.device, difference.frame.frame, mine.sent.size());
    const bool explained = describe_difference(said, mine).empty();
    if (explained) ++result.explained[std::string(kLostSubtree)];
    return explained;
  });
}

/// Applies the lines to both and sends both the frames, one at a time. Our clock follows the real one.
RunResult run(const std::vector<std::string>& lines, std::vector<DeviceFrame> frames,
              bool address_to_router = false) {
  RunResult result;
  auto router = KernelRouter::create();
  if (!router) {
    result.line_differences.push_back(router.error().message);
    return result;
  }
  const auto kernel_said = router->apply(joined(lines));
  OurRouter our_router;
  our_router.apply(
      "sysctl -w net.ipv6.auto_flowlabels=0");  // the kernel's labels come from a secret
  const auto we_said = our_router.apply(joined(lines));
  for (std::size_t i = 0; i < kernel_said.size(); ++i) {
    const int ours = i < we_said.size() ? we_said[i].error : -1;
    if (kernel_said[i].error != ours) {
      result.line_differences.push_back(
          fmt::format("{}: kernel {}, ours {}", kernel_said[i].text, kernel_said[i].error, ours));
    }
  }
  if (address_to_router) readdress(frames, our_router.fib().links());
  KernelPackets kernel(*router);
  OurPackets ours(our_router);
  const auto start = std::chrono::steady_clock::now();
  for (const auto& one : frames) {
    const auto elapsed = std::chrono::steady_clock::now() - start;
    const auto now =
        static_cast<std::uint64_t>(std::chrono::nanoseconds(elapsed).count()) + kNsPerSecond;
    const PacketOutcome mine = ours.send(one.device, one.frame, TimeNs{now});
    const PacketOutcome said = kernel.send(one.device, one.frame, mine.sent.size());
    ++result.packets;
    result.frames += said.sent.size();
    auto words = describe_difference(said, mine);
    if (words.empty()) continue;
    if (const auto heading = explanation_of(one, said, mine, our_router); !heading.empty()) {
      ++result.explained[heading];
      continue;
    }
    result.differences.push_back({one, std::move(words)});
  }
  explain_lost_subtrees(*router, kernel, our_router, ours, result);
  return result;
}

/// Takes lines away while the packet still shows a difference.
std::vector<std::string> shrink_lines(std::vector<std::string> lines, const DeviceFrame& frame) {
  for (std::size_t chunk = std::max<std::size_t>(lines.size() / 2, 1);; chunk /= 2) {
    for (std::size_t end = lines.size(); end > 0;) {
      const std::size_t begin = end > chunk ? end - chunk : 0;
      std::vector<std::string> fewer(lines.begin(),
                                     lines.begin() + static_cast<std::ptrdiff_t>(begin));
      fewer.insert(fewer.end(), lines.begin() + static_cast<std::ptrdiff_t>(end), lines.end());
      const RunResult now = run(fewer, {frame});
      if (now.line_differences.empty() && !now.differences.empty()) lines = std::move(fewer);
      end = begin;
    }
    if (chunk <= 1) return lines;
  }
}

/// Shrinks and prints. A difference that the packet alone does not show depends on the ones before; then only the run repeats it.
void show(const std::vector<std::string>& lines, const PacketDifference& difference) {
  std::string words = difference.words;
  const bool alone = !run(lines, {difference.frame}).differences.empty();
  if (alone) {
    const auto small = shrink_lines(lines, difference.frame);
    const RunResult again = run(small, {difference.frame});
    if (!again.differences.empty() && again.differences[0].words != words) {
      fmt::print("  in the whole configuration:\n{}", words);
      words = again.differences[0].words;
    }
    fmt::print("--- configuration:\n");
    for (const auto& line : small) fmt::print("    {}\n", line);
  }
  fmt::print("  in {}\n{}\n{}", difference.frame.device, beginning_of(difference.frame.frame),
             words);
  if (alone) {
    std::string hex = hex_of(difference.frame.frame, "");
    std::erase(hex, '\n');
    fmt::print("  again: packet_oracle --config FILE --check-mac --frame {}={}\n",
               difference.frame.device, hex);
  } else {
    fmt::print("  (the packet alone shows no difference: it depends on the ones before)\n");
  }
  std::fflush(stdout);
}

std::vector<std::string> read_lines(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

/// Frames of a capture; those that were not captured whole are passed over. False when it cannot be read.
bool read_capture(const std::string& argument, std::vector<DeviceFrame>& frames) {
  const auto equals = argument.find('=');
  auto reader = io::CaptureReader::open(argument.substr(equals + 1));
  if (!reader || reader->link_type() != io::LinkType::kEthernet) {
    fmt::print(
        stderr, "{}: {}\n", argument,
        reader ? "only Ethernet captures can be sent to the kernel" : reader.error().message);
    return false;
  }
  io::Record record;
  while (reader->next(record) == io::ReadOutcome::kRecord) {
    if (record.bytes.size() != record.original_size) continue;
    frames.push_back({argument.substr(0, equals), Bytes(record.bytes.begin(), record.bytes.end())});
  }
  return true;
}

DeviceFrame parse_frame(const std::string& argument) {
  const auto equals = argument.find('=');
  DeviceFrame frame{.device = argument.substr(0, equals), .frame = {}};
  for (std::size_t i = equals + 1; i + 1 < argument.size(); i += 2) {
    frame.frame.push_back(
        static_cast<std::uint8_t>(std::stoul(argument.substr(i, 2), nullptr, 16)));
  }
  return frame;
}

int run_file(const Options& options) {
  std::vector<DeviceFrame> frames;
  for (const auto& capture : options.captures) {
    const std::string path = capture.substr(capture.find('=') + 1);
    if (access(path.c_str(), R_OK) != 0) {
      fmt::print("SKIPPED: {} is not here\n", path);
      return kSkipped;
    }
    if (!read_capture(capture, frames)) return 1;
  }
  for (const auto& frame : options.frames) frames.push_back(parse_frame(frame));
  const RunResult result = run(read_lines(options.config), frames, !options.check_mac);
  for (const auto& line : result.line_differences) fmt::print("line differs: {}\n", line);
  for (const auto& one : result.differences) {
    fmt::print("in {}\n{}\n{}", one.frame.device, beginning_of(one.frame.frame), one.words);
  }
  fmt::print(
      "packet oracle: {} packets compared, {} frames from the kernel, {} unexplained differences\n",
      result.packets, result.frames, result.differences.size() + result.line_differences.size());
  print_explained(result.explained);
  return result.differences.empty() && result.line_differences.empty() ? 0 : 1;
}

int run_random(const Options& options) {
  std::uint64_t packets = 0;
  std::uint64_t frames_out = 0;
  std::uint64_t differences = 0;
  unsigned shown = 0;
  std::uint64_t seen_once = 0;
  std::map<std::string, std::uint64_t> explained;
  for (unsigned i = 0; i < options.configs; ++i) {
    const std::uint64_t seed = options.seed + i;
    const auto lines = random_forwarding_config(seed);
    Dice dice(seed ^ 0x9e3779b97f4a7c15ULL);
    std::vector<DeviceFrame> frames;
    for (unsigned packet = 0; packet < options.packets; ++packet)
      frames.push_back(random_frame(dice, packet % 64));
    RunResult result = run(lines, frames);
    if (!result.differences.empty()) {
      // The kernel sends some messages when its timers say so. A difference is one that comes again.
      result = run(lines, frames);
      if (result.differences.empty()) ++seen_once;
    }
    packets += result.packets;
    frames_out += result.frames;
    for (const auto& [heading, count] : result.explained) explained[heading] += count;
    differences += result.differences.size() + result.line_differences.size();
    for (const auto& line : result.line_differences)
      fmt::print("seed {}: line differs: {}\n", seed, line);
    for (const auto& one : result.differences) {
      if (shown >= options.shown_max) break;
      ++shown;
      fmt::print(
          "seed {}: {} differences; one (packet_oracle --configs 1 --packets {} --seed {}):\n",
          seed, result.differences.size(), options.packets, seed);
      show(lines, one);
      break;  // the others of this router are often the same
    }
  }
  fmt::print(
      "packet oracle: seeds {}..{}: {} configurations, {} packets compared, {} frames from the "
      "kernel, {} unexplained differences\n",
      options.seed, options.seed + options.configs - 1, options.configs, packets, frames_out,
      differences);
  if (seen_once != 0) fmt::print("  {} configurations differed once, and not again\n", seen_once);
  print_explained(explained);
  return differences == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Compares what the kernel and Sidestep do to the same packets");
  app.add_option("--config", options.config, "configuration file");
  app.add_option("--in", options.captures, "DEV=CAPTURE");
  app.add_option("--frame", options.frames, "DEV=HEX");
  app.add_flag("--check-mac", options.check_mac,
               "with --config: keep the frames' link-layer addresses");
  app.add_option("--configs", options.configs, "random configurations");
  app.add_option("--packets", options.packets, "packets per random configuration, at most 64");
  app.add_option("--seed", options.seed, "seed of the first");
  app.add_option("--show", options.shown_max, "differences to shrink and show");
  CLI11_PARSE(app, argc, argv);
  if (must_skip(fmt::format("{} configurations x {} packets", options.configs, options.packets)))
    return kSkipped;
  return options.config.empty() ? run_random(options) : run_file(options);
}
