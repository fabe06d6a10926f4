// SPDX-License-Identifier: Apache-2.0
// Network namespaces of our own: made, entered and removed again, whatever happens.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <sidestep/result.hpp>

namespace sidestep::kernel {

/// What a program said and how it ended.
struct ProgramResult {
  int status = 0;      ///< exit status; 128 + signal when killed; 127 when it could not be started
  std::string output;  ///< standard output
  std::string errors;  ///< standard error
};

/// A network namespace under /run/netns, removed by the destructor.
///
/// Names are `sidestep-<pid>-<n>`; those of processes that are gone are removed when the first one is made.
class Namespace {
 public:
  /// Errors: EPERM without the privilege, or what `ip netns add` answered.
  [[nodiscard]] static Result<Namespace> create();
  Namespace(Namespace&& other) noexcept;
  Namespace& operator=(Namespace&& other) noexcept;
  Namespace(const Namespace&) = delete;
  Namespace& operator=(const Namespace&) = delete;
  ~Namespace();

  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  /// Runs `work` on a thread of its own that has entered the namespace. What it opens there stays in the namespace.
  void inside(const std::function<void()>& work) const;
  /// Runs a program inside, without a shell. `environment` entries (`NAME=VALUE`) are added to ours.
  [[nodiscard]] ProgramResult run(const std::vector<std::string>& arguments,
                                  std::string_view input = {},
                                  const std::vector<std::string>& environment = {}) const;
  /// Writes a sysctl by its dotted key. Returns 0 or an errno.
  int set_sysctl(std::string_view key, std::string_view value) const;
  /// Reads a file as the namespace sees it (/proc/net/..., /proc/sys/net/...); empty when it cannot be read.
  [[nodiscard]] std::string read_file(const std::string& path) const;
  /// Index of a device inside, or 0.
  [[nodiscard]] unsigned device_index(const std::string& device) const;

 private:
  explicit Namespace(std::string name, int descriptor) noexcept
      : name_(std::move(name)), descriptor_(descriptor) {}
  void remove() noexcept;

  std::string name_;
  int descriptor_ = -1;
};

/// Whether namespaces can be made here. When not, `why` says what is missing.
[[nodiscard]] bool namespaces_available(std::string& why);

}  // namespace sidestep::kernel
