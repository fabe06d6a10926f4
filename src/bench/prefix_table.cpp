// SPDX-License-Identifier: Apache-2.0
//
// Where the prefixes come from. A real table is read when there is one; whoever has none gets a generated table that is
// shaped like it: provider blocks of /19 to /32 in the blocks that the registries hand out, and inside them the customers'
// and traffic engineering prefixes, four of five under few providers. The shares of the lengths are those of a table of
// January 2024; what is not copied is where the prefixes lie, so figures differ a little between the two, and the report
// says which one it was.
#include "bench/prefix_table.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <unordered_set>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bits.hpp"
#include "bench/random.hpp"
#include "bench/update_stream.hpp"

namespace sidestep::bench {
namespace {

/// Collects prefixes, each once.
class Collector {
 public:
  bool add(const net::Prefix& prefix) {
    if (prefix.length() == 0 || !seen_.insert(prefix).second) return false;
    prefixes_.push_back(prefix);
    return true;
  }
  [[nodiscard]] std::vector<net::Prefix>& prefixes() { return prefixes_; }

 private:
  std::unordered_set<net::Prefix, PrefixHash> seen_;
  std::vector<net::Prefix> prefixes_;
};

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 1 << 16> buffer;
  while (true) {
    const ssize_t got = read(descriptor, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

/// What `gzip -dc` makes of a file; empty when it fails.
std::optional<std::string> unzip(const std::string& path) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  std::string program = "gzip";
  std::string flags = "-dc";
  std::string end = "--";
  std::string file = path;
  std::array<char*, 5> arguments{program.data(), flags.data(), end.data(), file.data(), nullptr};
  pid_t child = 0;
  const int error = posix_spawnp(&child, "gzip", &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text = error == 0 ? read_all(ends[0]) : std::string{};
  close(ends[0]);
  int status = 1;
  if (error != 0 || waitpid(child, &status, 0) != child || status != 0) return std::nullopt;
  return text;
}

std::optional<std::string> read_file(const std::string& path) {
  if (path.ends_with(".gz")) return unzip(path);
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

/// How many of 160,000 prefixes of the Internet have a length. What is rarer than these hides in the neighbors.
struct Share {
  std::uint8_t length;
  unsigned count;
};
constexpr std::array kBlocks{Share{20, 40},  Share{24, 60},  Share{28, 220},   Share{29, 4370},
                             Share{30, 650}, Share{31, 280}, Share{32, 22'600}};
constexpr std::array kInside{Share{33, 2930}, Share{34, 2600}, Share{35, 1040}, Share{36, 6000},
                             Share{37, 880},  Share{38, 1620}, Share{39, 1380}, Share{40, 13'420},
                             Share{41, 900},  Share{42, 2300}, Share{43, 1000}, Share{44, 14'370},
                             Share{45, 1550}, Share{46, 3040}, Share{47, 3150}, Share{48, 75'300},
                             Share{56, 60},   Share{64, 190},  Share{112, 2},   Share{124, 5},
                             Share{126, 30},  Share{127, 45},  Share{128, 10}};
constexpr std::array<std::uint16_t, 24> kRegistries{
    0x2001, 0x2a02, 0x2a00, 0x2a01, 0x2a03, 0x2a06, 0x2a0b, 0x2400, 0x2401, 0x2402, 0x2404, 0x2405,
    0x2407, 0x2408, 0x2409, 0x240a, 0x2600, 0x2602, 0x2604, 0x2606, 0x2620, 0x2800, 0x2804, 0x2806};

template <std::size_t Size>
std::uint8_t draw_length(const std::array<Share, Size>& shares, Random& random) {
  std::uint64_t total = 0;
  for (const auto& share : shares) total += share.count;
  auto at = random.below(total);
  for (const auto& share : shares) {
    if (at < share.count) return share.length;
    at -= share.count;
  }
  return shares.back().length;
}

net::Prefix draw_block(Random& random) {
  const Number registry = kRegistries[random.below(kRegistries.size())];
  return {to_address((registry << 112) | (random_bits(random) >> 16)),
          draw_length(kBlocks, random)};
}

/// A prefix inside a block. Numbers are handed out from below, mostly, so the bits between are small.
net::Prefix draw_inside(const net::Prefix& block, Random& random) {
  const std::uint8_t length = draw_length(kInside, random);
  const unsigned width = length - block.length();
  Number between = random_bits(random) & host_mask(128 - width);
  if (random.below(4) != 0) between &= host_mask(128 - width / 2);
  return {to_address(to_number(block.address()) | (between << (128 - length))), length};
}

}  // namespace

Result<PrefixTable> read_table(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return failure(ENOENT, fmt::format("{}: the table cannot be read", path));
  Collector collector;
  std::size_t number = 0;
  for (std::string_view rest = *text; !rest.empty();) {
    const auto end = rest.find('\n');
    const auto line = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
    ++number;
    if (line.empty()) continue;
    const auto prefix = net::Prefix::parse(line);
    if (!prefix)
      return failure(EINVAL, fmt::format("{}:{}: '{}' is no prefix", path, number, line));
    collector.add(*prefix);
  }
  if (collector.prefixes().empty()) return failure(EINVAL, fmt::format("{}: no prefixes", path));
  return PrefixTable{std::move(collector.prefixes()), path, false};
}

PrefixTable generate_table(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  Collector collector;
  const std::size_t block_count = count / 6 + 1;
  while (collector.prefixes().size() < block_count) collector.add(draw_block(random));
  const std::vector<net::Prefix> blocks = collector.prefixes();
  while (collector.prefixes().size() < count) {
    // The square prefers the first blocks: few providers have most of the customers.
    const double at = random.fraction() * random.fraction();
    const auto& block = blocks[static_cast<std::size_t>(at * static_cast<double>(blocks.size()))];
    collector.add(draw_inside(block, random));
  }
  return {std::move(collector.prefixes()), fmt::format("generated, seed {}", seed), true};
}

Result<PrefixTable> choose_table(const Options& options) {
  if (options.always_generated) return generate_table(options.generated, options.seed);
  if (!options.table.empty()) return read_table(options.table);
  const char* shared = std::getenv("SIDESTEP_SHARED_DIR");
  const std::filesystem::path base = shared != nullptr ? shared : "../shared";
  const auto path = base / "data" / "prefixes6.txt.gz";
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) return read_table(path.string());
  return generate_table(options.generated, options.seed);
}

}  // namespace sidestep::bench
