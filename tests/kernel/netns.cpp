// SPDX-License-Identifier: Apache-2.0
// Namespaces are made with `ip netns add`, so that a person can look into one with `ip netns exec` while a test runs, and
// entered with setns(2) on threads and child processes that exist for that purpose only: the namespace of the test's own
// thread never changes, so no mistake here can reach the machine's own devices.
//
// A destructor removes the namespace. A process that is killed leaves its namespaces behind; their names carry its id, and
// the next run removes the ones whose process is gone.

#include "kernel/netns.hpp"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>

#include <fmt/format.h>

namespace sidestep::kernel {
namespace {

constexpr std::string_view kNamePrefix = "sidestep-";
const std::string kNamespaceDirectory = "/run/netns";

/// Contents of an in-memory file from its beginning.
std::string read_all(int descriptor) {
  std::string text;
  char buffer[4096];
  off_t offset = 0;
  for (;;) {
    const ssize_t count = pread(descriptor, buffer, sizeof buffer, offset);
    if (count <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
    offset += count;
  }
}

/// An anonymous file that holds `text`.
int memory_file(std::string_view text) {
  const int descriptor = memfd_create("sidestep", MFD_CLOEXEC);
  while (!text.empty()) {
    const ssize_t count = write(descriptor, text.data(), text.size());
    if (count <= 0) break;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  lseek(descriptor, 0, SEEK_SET);
  return descriptor;
}

/// Runs a program, in the namespace behind `netns` unless that is negative. Between fork and exec only system calls.
ProgramResult run_program(int netns, const std::vector<std::string>& arguments,
                          std::string_view input,
                          const std::vector<std::string>& extra_environment) {
  std::vector<char*> argv;
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  std::vector<char*> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.push_back(*entry);
  for (const auto& entry : extra_environment)
    environment.push_back(const_cast<char*>(entry.c_str()));
  environment.push_back(nullptr);

  const int standard_in = memory_file(input);
  const int standard_out = memory_file({});
  const int standard_error = memory_file({});
  const pid_t child = fork();
  if (child == 0) {
    dup2(standard_in, STDIN_FILENO);
    dup2(standard_out, STDOUT_FILENO);
    dup2(standard_error, STDERR_FILENO);
    if (netns >= 0 && setns(netns, CLONE_NEWNET) != 0) _exit(127);
    execvpe(argv[0], argv.data(), environment.data());
    _exit(127);
  }
  ProgramResult result;
  int status = 0;
  if (child < 0) {
    result.status = 127;
  } else {
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  result.output = read_all(standard_out);
  result.errors = read_all(standard_error);
  close(standard_in);
  close(standard_out);
  close(standard_error);
  return result;
}

/// Removes namespaces whose process, named in them, is gone.
void remove_leftovers() {
  std::error_code ignored;
  std::vector<std::string> gone;
  for (const auto& entry : std::filesystem::directory_iterator(kNamespaceDirectory, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kNamePrefix)) continue;
    pid_t process = 0;
    const char* begin = name.data() + kNamePrefix.size();
    const auto [rest, failed] = std::from_chars(begin, name.data() + name.size(), process);
    if (failed != std::errc{} || *rest != '-' || process <= 0) continue;
    if (kill(process, 0) != 0 && errno == ESRCH) gone.push_back(name);
  }
  for (const auto& name : gone) run_program(-1, {"ip", "netns", "del", name}, {}, {});
}

}  // namespace

Result<Namespace> Namespace::create() {
  static std::once_flag cleaned;
  std::call_once(cleaned, remove_leftovers);
  static std::atomic<unsigned> next{0};
  // A number may be taken by a process of the same id that was killed; the next one is not.
  std::string name;
  ProgramResult added;
  for (int tries = 0; tries < 8; ++tries) {
    name = fmt::format("{}{}-{}", kNamePrefix, getpid(), next.fetch_add(1));
    added = run_program(-1, {"ip", "netns", "add", name}, {}, {});
    if (added.status == 0 || !std::filesystem::exists(kNamespaceDirectory + "/" + name)) break;
  }
  if (added.status != 0) {
    return failure(EPERM, fmt::format("`ip netns add` failed: {}", added.errors));
  }
  const int descriptor = open((kNamespaceDirectory + "/" + name).c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    const int error = errno;
    run_program(-1, {"ip", "netns", "del", name}, {}, {});
    return failure(error, "the new namespace cannot be opened");
  }
  return Namespace(std::move(name), descriptor);
}

Namespace::Namespace(Namespace&& other) noexcept
    : name_(std::exchange(other.name_, {})), descriptor_(std::exchange(other.descriptor_, -1)) {}

Namespace& Namespace::operator=(Namespace&& other) noexcept {
  if (this != &other) {
    remove();
    name_ = std::exchange(other.name_, {});
    descriptor_ = std::exchange(other.descriptor_, -1);
  }
  return *this;
}

Namespace::~Namespace() { remove(); }

void Namespace::remove() noexcept {
  if (descriptor_ < 0) return;
  close(descriptor_);
  descriptor_ = -1;
  run_program(-1, {"ip", "netns", "del", name_}, {}, {});
}

void Namespace::inside(const std::function<void()>& work) const {
  std::thread([&] {
    if (setns(descriptor_, CLONE_NEWNET) != 0) {
      fmt::print(stderr, "cannot enter namespace {}: {}\n", name_, std::strerror(errno));
      std::abort();
    }
    work();
  }).join();
}

ProgramResult Namespace::run(const std::vector<std::string>& arguments, std::string_view input,
                             const std::vector<std::string>& environment) const {
  return run_program(descriptor_, arguments, input, environment);
}

int Namespace::set_sysctl(std::string_view key, std::string_view value) const {
  std::string path = "/proc/sys/";
  for (const char c : key) path += c == '.' ? '/' : c;
  int error = 0;
  inside([&] {
    const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0) {
      error = errno;
      return;
    }
    if (write(file, value.data(), value.size()) < 0) error = errno;
    close(file);
  });
  return error;
}

std::string Namespace::read_file(const std::string& path) const {
  // /proc/net belongs to the process; /proc/thread-self/net to the thread that entered the namespace.
  std::string seen = path;
  if (seen.starts_with("/proc/net/")) seen = "/proc/thread-self" + seen.substr(5);
  std::string text;
  inside([&] {
    const int file = open(seen.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    char buffer[4096];
    ssize_t count = 0;
    while ((count = read(file, buffer, sizeof buffer)) > 0)
      text.append(buffer, static_cast<std::size_t>(count));
    close(file);
  });
  return text;
}

unsigned Namespace::device_index(const std::string& device) const {
  unsigned index = 0;
  inside([&] { index = if_nametoindex(device.c_str()); });
  return index;
}

bool namespaces_available(std::string& why) {
  if (geteuid() != 0) {
    why = "namespaces need root";
    return false;
  }
  auto probe = Namespace::create();
  if (!probe) why = probe.error().message;
  return probe.has_value();
}

}  // namespace sidestep::kernel
