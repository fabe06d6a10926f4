// SPDX-License-Identifier: Apache-2.0
// A configuration file applied to the running kernel, in namespaces of its own.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <sidestep/result.hpp>

#include "kernel/netns.hpp"

struct mnl_socket;

namespace sidestep::kernel {

/// What the kernel said to one line.
struct LineOutcome {
  unsigned line = 0;  ///< from 1
  std::string text;   ///< as written, without the comment
  int error = 0;      ///< 0: done; -1: `ip` refused it without asking the kernel
};

/// A router made of the kernel: one namespace with the devices of a configuration, and one with the other ends of their cables.
///
/// Every device whose kind the kernel need not know (`dummy` and anything else but `ifb`, `vrf`, `bridge`) becomes a veth whose peer, of
/// the same name, is in the second namespace, where IPv6 is off. Carrier is the peer's being up. Neighbor discovery, router
/// solicitation and MLD are as quiet as sysctls make them, so that frames and counters are the packets' own.
class KernelRouter {
 public:
  [[nodiscard]] static Result<KernelRouter> create();
  KernelRouter(KernelRouter&&) noexcept;
  KernelRouter& operator=(KernelRouter&&) noexcept = delete;
  ~KernelRouter();

  /// Applies a configuration line by line, in order, and gives each command's outcome. Waits after links and addresses until
  /// the kernel has done what it does later (carrier, link-local addresses, local routes).
  std::vector<LineOutcome> apply(std::string_view text);
  /// Waits until every device that is up and plugged in is ready and has no tentative address; false after two seconds.
  bool settle();

  [[nodiscard]] const Namespace& router() const noexcept { return router_; }
  [[nodiscard]] const Namespace& peers() const noexcept { return peers_; }
  /// Names of devices with a cable, in order of creation.
  [[nodiscard]] const std::vector<std::string>& cabled_devices() const noexcept { return cabled_; }

 private:
  struct Step;
  KernelRouter(Namespace router, Namespace peers);
  void prepare();
  [[nodiscard]] Step plan(unsigned line, const std::string& text);
  void run_batch(const std::vector<Step>& steps, std::vector<LineOutcome>& outcomes);
  int run_step(const Step& step);
  void set_peer_up(const std::string& device, bool up);
  [[nodiscard]] bool is_settled();

  Namespace router_;
  Namespace peers_;
  mnl_socket* netlink_ = nullptr;  // in the router's namespace
  int control_ = -1;               // a datagram socket in the peers' namespace, for ioctl
  std::vector<std::string> cabled_;
  std::map<std::string, bool> plugged_;  // by device: whether its peer is up
  unsigned next_index_ = 2;
};

/// The words of a configuration line; empty for a comment or an empty line.
[[nodiscard]] std::vector<std::string> words_of(std::string_view line);
/// Whether `word` is an abbreviation of `full` as `ip` takes it (a prefix).
[[nodiscard]] bool abbreviates(std::string_view word, std::string_view full) noexcept;

}  // namespace sidestep::kernel
