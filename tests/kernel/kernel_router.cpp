// SPDX-License-Identifier: Apache-2.0
// Feeding a configuration to the kernel. The lines of a file are turned into steps: most are handed to `ip -6 -batch` as they
// stand, as many at a time as possible; our extensions are taken out of the stream where they stand and done otherwise:
//
//   sysctl -w KEY=VALUE        written to /proc/sys
//   -4 … / -6 …                `ip -4 -batch` / `ip -6 -batch`
//   nexthop … group …          `ip -batch`: the kernel refuses a group with a family, and `ip -6` gives it one
//   link add … type dummy      `type veth peer …`: the test kernels have no dummy, and a cable is needed to send and capture
//   link set X carrier on|off  the peer is set up or down
//   rule … dscp/flowlabel …    a netlink message, since iproute2 6.1 does not know these selectors
//
// The kernel finishes some work after a command has returned: carrier and link-local addresses come from the link watcher,
// local routes from the DAD worker. Ours do not, so each run of link or address lines is followed by a wait for quiet.

#include "kernel/kernel_router.hpp"

#include <libmnl/libmnl.h>
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include <fmt/format.h>

#include "kernel/attributes.hpp"
#include "kernel/raw_rule.hpp"

namespace sidestep::kernel {

enum class StepKind { kBatch6, kBatch4, kBatchAny, kSysctl, kCarrier, kRawRule, kHmacKey };

namespace {

bool is_batch(StepKind kind) {
  return kind == StepKind::kBatch6 || kind == StepKind::kBatch4 || kind == StepKind::kBatchAny;
}

}  // namespace

struct KernelRouter::Step {
  StepKind kind = StepKind::kBatch6;
  unsigned line = 0;
  std::string text;    // as written
  std::string spoken;  // what `ip` is given
  std::string first;   // sysctl key, device, HMAC key's command
  std::string second;  // sysctl value, on/off, secret
  int waits = 0;       // 1: links, 2: addresses; the kernel finishes them later
};

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : line) {
    if (c == '#') break;
    if (c == ' ' || c == '\t' || c == '\r') {
      if (!word.empty()) words.push_back(std::move(word));
      word.clear();
    } else {
      word += c;
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

bool abbreviates(std::string_view word, std::string_view full) noexcept {
  return !word.empty() && full.starts_with(word);
}

namespace {

std::string joined(const std::vector<std::string>& words, std::size_t begin, std::size_t end) {
  std::string text;
  for (std::size_t i = begin; i < end; ++i) text += (text.empty() ? "" : " ") + words[i];
  return text;
}

bool is_verb(const std::string& word, std::string_view verb) { return abbreviates(word, verb); }

/// Name in `link add [name|dev] X …`: the word behind `name` or `dev`, or the first that is not a keyword's.
std::string link_name(const std::vector<std::string>& words) {
  for (std::size_t i = 2; i + 1 < words.size(); ++i) {
    if (words[i] == "name" || words[i] == "dev") return words[i + 1];
    if (words[i] == "type") break;
  }
  return words.size() > 2 ? words[2] : std::string();
}

/// errno of the text of strerror(3), 0 when it is none.
int errno_of(std::string_view text) {
  for (int error = 1; error < 134; ++error) {
    if (text == std::strerror(error)) return error;
  }
  return 0;
}

/// Runs a dump and hands each message to `each`.
template <typename Each>
void dump(mnl_socket* socket, std::uint16_t type, std::uint8_t family, Each each) {
  std::array<char, 32768> buffer{};
  nlmsghdr* header = mnl_nlmsg_put_header(buffer.data());
  header->nlmsg_type = type;
  header->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  header->nlmsg_seq = 1;
  if (type == RTM_GETLINK) {
    auto* message = static_cast<ifinfomsg*>(mnl_nlmsg_put_extra_header(header, sizeof(ifinfomsg)));
    message->ifi_family = family;
  } else {
    auto* message = static_cast<ifaddrmsg*>(mnl_nlmsg_put_extra_header(header, sizeof(ifaddrmsg)));
    message->ifa_family = family;
  }
  mnl_socket_sendto(socket, header, header->nlmsg_len);
  for (;;) {
    const ssize_t count = mnl_socket_recvfrom(socket, buffer.data(), buffer.size());
    if (count <= 0) return;
    int left = static_cast<int>(count);
    for (auto* message = reinterpret_cast<nlmsghdr*>(buffer.data()); mnl_nlmsg_ok(message, left);
         message = mnl_nlmsg_next(message, &left)) {
      if (message->nlmsg_type == NLMSG_DONE || message->nlmsg_type == NLMSG_ERROR) return;
      each(message);
    }
  }
}

}  // namespace

Result<KernelRouter> KernelRouter::create() {
  auto router = Namespace::create();
  if (!router) return std::unexpected(router.error());
  auto peers = Namespace::create();
  if (!peers) return std::unexpected(peers.error());
  KernelRouter made(std::move(*router), std::move(*peers));
  made.prepare();
  return made;
}

KernelRouter::KernelRouter(Namespace router, Namespace peers)
    : router_(std::move(router)), peers_(std::move(peers)) {}

KernelRouter::KernelRouter(KernelRouter&& other) noexcept
    : router_(std::move(other.router_)),
      peers_(std::move(other.peers_)),
      netlink_(std::exchange(other.netlink_, nullptr)),
      control_(std::exchange(other.control_, -1)),
      cabled_(std::move(other.cabled_)),
      plugged_(std::move(other.plugged_)),
      next_index_(other.next_index_) {}

KernelRouter::~KernelRouter() {
  if (netlink_ != nullptr) mnl_socket_close(netlink_);
  if (control_ >= 0) close(control_);
}

void KernelRouter::prepare() {
  peers_.inside([this] { control_ = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0); });
  peers_.set_sysctl("net.ipv6.conf.all.disable_ipv6", "1");
  peers_.set_sysctl("net.ipv6.conf.default.disable_ipv6", "1");
  router_.inside([this] { netlink_ = mnl_socket_open(NETLINK_ROUTE); });
  mnl_socket_bind(netlink_, 0, MNL_SOCKET_AUTOPID);
  for (const char* scope : {"all", "default"}) {
    const std::string conf = fmt::format("net.ipv6.conf.{}.", scope);
    router_.set_sysctl(conf + "dad_transmits", "0");
    router_.set_sysctl(conf + "router_solicitation_delay",
                       "0");  // else DAD begins with a random wait
    router_.set_sysctl(conf + "router_solicitations", "0");
    router_.set_sysctl(conf + "accept_ra", "0");
    router_.set_sysctl(conf + "mldv2_unsolicited_report_interval", "1");
  }
  router_.set_sysctl("net.ipv6.mld_qrv", "1");
  router_.set_sysctl("net.ipv6.auto_flowlabels", "0");
  const ProgramResult up = router_.run({"ip", "link", "set", "lo", "up"});
  if (up.status != 0) fmt::print(stderr, "lo of {} stays down: {}", router_.name(), up.errors);
}

KernelRouter::Step KernelRouter::plan(unsigned line, const std::string& text) {
  Step step;
  step.line = line;
  step.text = text;
  std::vector<std::string> words = words_of(text);
  if (words[0] == "sysctl") {
    const std::string assignment =
        joined(words, words.size() > 1 && words[1] == "-w" ? 2 : 1, words.size());
    const auto equals = assignment.find('=');
    step.kind = StepKind::kSysctl;
    step.first = assignment.substr(0, equals);
    step.second = equals == std::string::npos ? "" : assignment.substr(equals + 1);
    return step;
  }
  if (words.size() > 4 && words[0] == "sr" && words[1] == "hmac") {
    step.kind = StepKind::kHmacKey;
    step.first = joined(words, 0, 5);
    step.second = words.size() > 5 ? words[5] : "";
    return step;
  }
  if (words[0] == "-4" || words[0] == "-6") {
    if (words[0] == "-4") step.kind = StepKind::kBatch4;
    words.erase(words.begin());
  }
  step.spoken = joined(words, 0, words.size());
  if (words.size() < 2) return step;
  const bool link = abbreviates(words[0], "link");
  step.waits = link ? 1 : abbreviates(words[0], "address") ? 2 : 0;
  if (link && is_verb(words[1], "add")) {
    std::size_t type = 2;
    while (type < words.size() && words[type] != "type") ++type;
    const std::string kind = type + 1 < words.size() ? words[type + 1] : "dummy";
    if (kind != "ifb" && kind != "vrf" && kind != "bridge") {
      const std::string name = link_name(words);
      const unsigned index = next_index_++;
      // The peer's index differs from the device's: otherwise carrier changes would wait for the link watcher's second.
      step.spoken = fmt::format("{} index {} type veth peer name {} index {} mtu 65535 netns {}",
                                joined(words, 0, type), index, name, index + 1000, peers_.name());
      step.first = name;
    } else {
      step.spoken = fmt::format("{} index {} {}", joined(words, 0, type), next_index_++,
                                joined(words, type, words.size()));
    }
  }
  for (std::size_t i = 2; link && is_verb(words[1], "set") && i + 1 < words.size(); ++i) {
    if (words[i] != "carrier") continue;
    step.kind = StepKind::kCarrier;
    step.first = words[2] == "dev" ? words[3] : words[2];
    step.second = words[i + 1];
  }
  if (step.kind == StepKind::kBatch6 && abbreviates(words[0], "nexthop")) {
    for (const auto& word : words) {
      if (word == "group") step.kind = StepKind::kBatchAny;
    }
  }
  if (abbreviates(words[0], "rule")) {
    for (const auto& word : words) {
      if (word == "dscp" || word == "flowlabel") step.kind = StepKind::kRawRule;
    }
  }
  return step;
}

std::vector<LineOutcome> KernelRouter::apply(std::string_view text) {
  std::vector<Step> steps;
  unsigned line = 0;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view one = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++line;
    if (const auto words = words_of(one); !words.empty())
      steps.push_back(plan(line, joined(words, 0, words.size())));
  }
  std::vector<LineOutcome> outcomes;
  for (std::size_t begin = 0; begin < steps.size();) {
    const Step& first = steps[begin];
    if (!is_batch(first.kind)) {
      outcomes.push_back({first.line, first.text, run_step(first)});
      ++begin;
      continue;
    }
    std::size_t end = begin;
    while (end < steps.size() && steps[end].kind == first.kind && steps[end].waits == first.waits)
      ++end;
    run_batch({steps.begin() + static_cast<std::ptrdiff_t>(begin),
               steps.begin() + static_cast<std::ptrdiff_t>(end)},
              outcomes);
    begin = end;
  }
  settle();
  return outcomes;
}

void KernelRouter::run_batch(const std::vector<Step>& steps, std::vector<LineOutcome>& outcomes) {
  // A batch of link lines may have to be cut: a peer goes up before its device does, as if the cable had always been there.
  std::vector<Step> rest;
  std::string input;
  std::size_t used = 0;
  bool peers_waiting = false;
  for (; used < steps.size(); ++used) {
    const bool adds_cable = !steps[used].first.empty();
    if (peers_waiting && !adds_cable) break;
    peers_waiting |= adds_cable;
    input += steps[used].spoken + "\n";
  }
  std::vector<std::string> arguments{"ip", "-force", "-batch", "-"};
  if (steps[0].kind == StepKind::kBatch6) arguments.insert(arguments.begin() + 1, "-6");
  if (steps[0].kind == StepKind::kBatch4) arguments.insert(arguments.begin() + 1, "-4");
  const ProgramResult said =
      router_.run(arguments, input, {"LD_PRELOAD=" SIDESTEP_PLAIN_ERRORS_LIBRARY});
  std::vector<int> errors(used, 0);
  int last_error = -1;
  std::size_t failed = 0;
  for (std::string_view text = said.errors; !text.empty();) {
    const auto end = text.find('\n');
    const std::string_view one = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    constexpr std::string_view kAnswer = "RTNETLINK answers: ";
    constexpr std::string_view kFailed = "Command failed -:";
    if (one.starts_with(kAnswer)) last_error = errno_of(one.substr(kAnswer.size()));
    if (one.starts_with("Cannot find device")) last_error = ENODEV;
    if (one.starts_with(kFailed)) {
      failed = std::stoul(std::string(one.substr(kFailed.size()))) - 1;
      if (failed < used) errors[failed] = last_error;
      last_error = -1;
    }
  }
  for (std::size_t i = 0; i < used; ++i) {
    if (!steps[i].first.empty() && errors[i] == 0) {
      cabled_.push_back(steps[i].first);
      set_peer_up(steps[i].first, true);
    }
    outcomes.push_back({steps[i].line, steps[i].text, errors[i]});
  }
  // `ip` ends the batch at a line it cannot parse; the lines behind it were not tried.
  if (said.status != 0 && last_error == -1 &&
      said.errors.find("Command failed") == std::string::npos) {
    for (auto& outcome : outcomes) outcome.error = -1;
  }
  if (steps[0].waits != 0) settle();
  if (used < steps.size()) {
    run_batch({steps.begin() + static_cast<std::ptrdiff_t>(used), steps.end()}, outcomes);
  }
}

int KernelRouter::run_step(const Step& step) {
  switch (step.kind) {
    case StepKind::kSysctl:
      return router_.set_sysctl(step.first, step.second);
    case StepKind::kCarrier:
      set_peer_up(step.first, step.second == "on");
      settle();
      return 0;
    case StepKind::kRawRule:
      return apply_raw_rule(netlink_, step.spoken);
    case StepKind::kHmacKey: {
      // `ip` asks for the secret on the terminal, and on standard input when there is none.
      const std::string command = "exec setsid -w ip " + step.first;
      return router_.run({"sh", "-c", command}, step.second + "\n").status == 0 ? 0 : -1;
    }
    default:
      return -1;
  }
}

void KernelRouter::set_peer_up(const std::string& device, bool up) {
  ifreq request{};
  device.copy(request.ifr_name, IFNAMSIZ - 1);
  if (ioctl(control_, SIOCGIFFLAGS, &request) != 0) return;
  request.ifr_flags =
      static_cast<short>(up ? request.ifr_flags | IFF_UP : request.ifr_flags & ~IFF_UP);
  if (ioctl(control_, SIOCSIFFLAGS, &request) == 0) plugged_[device] = up;
}

bool KernelRouter::is_settled() {
  bool settled = true;
  std::map<int, bool> ready;
  dump(netlink_, RTM_GETLINK, AF_UNSPEC, [&](const nlmsghdr* message) {
    const auto* link = static_cast<const ifinfomsg*>(mnl_nlmsg_get_payload(message));
    std::string name;
    std::uint8_t state = 0;
    for_each_attribute(message, sizeof(ifinfomsg), [&](const nlattr* attribute) {
      if (mnl_attr_get_type(attribute) == IFLA_IFNAME) name = mnl_attr_get_str(attribute);
      if (mnl_attr_get_type(attribute) == IFLA_OPERSTATE) state = mnl_attr_get_u8(attribute);
    });
    if ((link->ifi_flags & IFF_UP) == 0) return;
    const bool operational = state == IF_OPER_UP || state == IF_OPER_UNKNOWN;
    const auto plugged = plugged_.find(name);
    if (operational != (plugged == plugged_.end() || plugged->second)) settled = false;
    ready[link->ifi_index] = operational;
  });
  dump(netlink_, RTM_GETADDR, AF_INET6, [&](const nlmsghdr* message) {
    const auto* address = static_cast<const ifaddrmsg*>(mnl_nlmsg_get_payload(message));
    std::uint32_t flags = address->ifa_flags;
    for_each_attribute(message, sizeof(ifaddrmsg), [&](const nlattr* attribute) {
      if (mnl_attr_get_type(attribute) == IFA_FLAGS) flags = mnl_attr_get_u32(attribute);
    });
    if ((flags & IFA_F_TENTATIVE) != 0 && ready[static_cast<int>(address->ifa_index)])
      settled = false;
  });
  return settled;
}

bool KernelRouter::settle() {
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::seconds(30);  // a busy machine takes its time
  while (!is_settled()) {
    if (std::chrono::steady_clock::now() > deadline) {
      fmt::print(stderr, "devices of {} did not become ready\n", router_.name());
      return false;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  // The workers hold the configuration lock until they are done; so does this request, which changes nothing.
  router_.inside([] {
    const int barrier = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ifreq request{};
    std::memcpy(request.ifr_name, "lo", 3);
    if (ioctl(barrier, SIOCGIFFLAGS, &request) == 0)
      static_cast<void>(ioctl(barrier, SIOCSIFFLAGS, &request));
    close(barrier);
  });
  return true;
}

}  // namespace sidestep::kernel
