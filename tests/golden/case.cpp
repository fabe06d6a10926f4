// SPDX-License-Identifier: Apache-2.0
// The text form of golden packets:
//
//   # words                            what the next frame shows
//   in DEVICE [xCOUNT]                 a frame arrives; its bytes follow in hexadecimal, indented
//   out DEVICE [xCOUNT]                a frame that must leave
//   counter NAME[@DEVICE] DELTA
//   verdict WORD
//   kernel-differs HEADING             the kernel does something else, as that heading of docs/kernel-differences.md says

#include "golden/case.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

namespace sidestep::golden {
namespace {

std::string hex_lines(const Bytes& bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i % 32 == 0) text += i == 0 ? "    " : "\n    ";
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text + "\n";
}

std::string frame_lines(std::string_view direction, const GoldenFrame& frame) {
  return fmt::format("{} {}{}\n{}", direction, frame.device,
                     frame.count == 1 ? "" : fmt::format(" x{}", frame.count),
                     hex_lines(frame.frame));
}

std::string slurp(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

[[noreturn]] void refuse(const std::string& file, unsigned line, std::string_view text) {
  fmt::print(stderr, "{}:{}: not a line of a golden case: {}\n", file, line, text);
  std::abort();
}

/// Reads one line into the last step.
void parse_line(const std::string& line, std::vector<Step>& steps, std::string& words,
                Bytes*& bytes, const std::string& file, unsigned number) {
  if (line.starts_with("    ")) {
    if (bytes == nullptr) refuse(file, number, line);
    for (std::size_t i = 4; i + 1 < line.size(); i += 2) {
      bytes->push_back(static_cast<std::uint8_t>(std::stoul(line.substr(i, 2), nullptr, 16)));
    }
    return;
  }
  bytes = nullptr;
  if (line.starts_with("# ")) {
    words = line.substr(2);
    return;
  }
  std::istringstream fields(line);
  std::string verb;
  std::string first;
  std::string second;
  fields >> verb >> first >> second;
  if (verb == "in") {
    steps.emplace_back();
    steps.back().words = std::exchange(words, {});
  }
  if (steps.empty()) refuse(file, number, line);
  Step& step = steps.back();
  if (verb == "in" || verb == "out") {
    GoldenFrame& frame = verb == "in" ? step.in : step.out.emplace_back();
    frame.device = first;
    if (second.starts_with("x")) frame.count = static_cast<unsigned>(std::stoul(second.substr(1)));
    bytes = &frame.frame;
  } else if (verb == "counter") {
    step.counters.emplace_back(first, std::stoll(second));
  } else if (verb == "verdict") {
    step.verdict = first;
  } else if (verb == "kernel-differs") {
    step.kernel_difference = line.substr(verb.size() + 1);
  } else {
    refuse(file, number, line);
  }
}

}  // namespace

std::string print_config(const Case& golden) {
  return fmt::format("# {}\n{}", golden.words, golden.config);
}

std::string print_steps(const Case& golden) {
  std::string text;
  for (const auto& step : golden.steps) {
    text += fmt::format("{}# {}\n", text.empty() ? "" : "\n", step.words);
    text += frame_lines("in", step.in);
    for (const auto& out : step.out) text += frame_lines("out", out);
    for (const auto& [name, delta] : step.counters)
      text += fmt::format("counter {} {}\n", name, delta);
    text += fmt::format("verdict {}\n", step.verdict);
    if (!step.kernel_difference.empty())
      text += fmt::format("kernel-differs {}\n", step.kernel_difference);
  }
  return text;
}

std::vector<Step> parse_steps(const std::string& text, const std::string& file) {
  std::vector<Step> steps;
  std::string words;
  Bytes* bytes = nullptr;
  std::istringstream lines(text);
  unsigned number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (!line.empty()) parse_line(line, steps, words, bytes, file, number);
  }
  return steps;
}

std::vector<Case> read_cases(const std::string& directory) {
  std::vector<Case> cases;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const auto packets = entry.path() / "packets.txt";
    if (!entry.is_directory() || !std::filesystem::exists(packets)) continue;
    Case one;
    one.name = entry.path().filename().string();
    one.config = slurp(entry.path() / "router.conf");
    one.steps = parse_steps(slurp(packets), packets.string());
    cases.push_back(std::move(one));
  }
  std::sort(cases.begin(), cases.end(),
            [](const Case& a, const Case& b) { return a.name < b.name; });
  return cases;
}

}  // namespace sidestep::golden
