// SPDX-License-Identifier: Apache-2.0
#include "bench/machine.hpp"

#include <cstdlib>
#include <fstream>
#include <string_view>
#include <thread>

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace sidestep::bench {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string processor_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

std::string caches() {
  std::string text;
  for (int i = 0; i < 5; ++i) {
    const auto base = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", i);
    const auto size = first_line(base + "size");
    const auto type = first_line(base + "type");
    if (size.empty() || type == "Instruction") continue;
    text += fmt::format("{}L{} {}", text.empty() ? "" : ", ", first_line(base + "level"), size);
  }
  return text.empty() ? "unknown" : text;
}

std::string vector_units() {
  if (has_avx512()) return "AVX-512";
  return has_avx2() ? "AVX2, no AVX-512" : "neither AVX2 nor AVX-512";
}

std::string kernel() {
  utsname name{};
  uname(&name);
  return fmt::format("{} {} {}", name.sysname, name.release, name.machine);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> describe_machine() {
#ifdef NDEBUG
  const char* build = "optimized";
#else
  const char* build = "with assertions: figures mean nothing";
#endif
  return {{"processor", processor_model()},
          {"cores", std::to_string(std::thread::hardware_concurrency())},
          {"caches", caches()},
          {"vector units", vector_units()},
          {"kernel", kernel()},
          {"huge pages", first_line("/sys/kernel/mm/transparent_hugepage/enabled")},
          {"compiler", "g++ " __VERSION__},
          {"build", build},
          {"load average", fmt::format("{:.2f}", load_average())}};
}

double load_average() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : 0;
}

#if defined(__x86_64__)
bool has_avx2() noexcept {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("popcnt") != 0;
}
bool has_avx512() noexcept {
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
}
#else
bool has_avx2() noexcept { return false; }
bool has_avx512() noexcept { return false; }
#endif

std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  file >> total >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

Pin::Pin(unsigned which) {
  CPU_ZERO(&before_);
  if (sched_getaffinity(0, sizeof(before_), &before_) != 0) return;
  auto left = which % static_cast<unsigned>(CPU_COUNT(&before_));
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &before_) || left-- != 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    static_cast<void>(sched_setaffinity(0, sizeof(one), &one));  // a hint
    return;
  }
}

Pin::~Pin() { static_cast<void>(sched_setaffinity(0, sizeof(before_), &before_)); }

}  // namespace sidestep::bench
