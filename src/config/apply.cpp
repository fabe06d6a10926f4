// SPDX-License-Identifier: Apache-2.0
// Commands to a router: what `-c FILE` does.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "config/parser.hpp"

namespace sidestep::config {
namespace {

// Makes one kind of change each; what the kernel would say when it refuses.
class Applier {
 public:
  explicit Applier(Target target) : target_(target) {}

  Result<void> operator()(const lookup::Change& change) { return apply_change(target_, change); }

  Result<void> operator()(const NeighborChange& change) {
    const fib::Link* link = target_.fib.links().find(change.device);
    if (link == nullptr)
      return failure(ENODEV, fmt::format("Cannot find device \"{}\"", change.device));
    neighbor::Neighbor entry = change.neighbor;
    entry.device = link->index;
    if (change.remove) return target_.neighbors.erase(entry.device, entry.address);
    if (!change.create && !exists(entry)) return failure(ENOENT, "No such file or directory");
    return target_.neighbors.insert(entry, change.replace);
  }

  Result<void> operator()(const TunnelSourceChange& change) {
    target_.srv6.tunnel_source = change.source;
    return {};
  }

  Result<void> operator()(const HmacKeyChange& change) {
    auto& secrets = target_.srv6.hmac_secrets;
    const srv6::HmacKey& key = change.key;
    if (key.secret.empty()) {
      if (secrets.erase(key.id) == 0) return failure(ENOENT, "No such file or directory");
    } else {
      secrets.insert_or_assign(key.id, srv6::HmacSecret(key.algorithm, key.secret));
    }
    return {};
  }

  Result<void> operator()(const KeptLine&) { return {}; }

 private:
  // Without find(), which only registered readers may call.
  [[nodiscard]] bool exists(const neighbor::Neighbor& entry) const {
    return std::ranges::any_of(target_.neighbors.all(), [&](const neighbor::Neighbor& other) {
      return other.device == entry.device && other.address == entry.address;
    });
  }

  Target target_;
};

bool may_take_neighbors(const lookup::Change& change) {
  return std::holds_alternative<lookup::LinkChange>(change) ||
         std::holds_alternative<lookup::LinkDelete>(change) ||
         std::holds_alternative<lookup::SysctlChange>(change);
}

bool speaks(const fib::Link& link) { return link.up && !link.conf.disable_ipv6; }

// Kernel: neigh_ifdown, neigh_changeaddr and neigh_carrier_down.
void flush_neighbors(Target target, const fib::Links& before) {
  for (const auto& [index, was] : before.all()) {
    const fib::Link* link = target.fib.links().find(index);
    const bool gone = link == nullptr || (speaks(was) && !speaks(*link)) || was.mac != link->mac;
    const bool unplugged = link != nullptr && link->up && was.carrier && !link->carrier;
    if (gone || unplugged) target.neighbors.flush(index, gone);
  }
}

Diagnostic refused(const Command& command, std::string_view file, const Error& error) {
  const char* name = strerrorname_np(error.code);
  return {std::string(file), command.line, command.column, "read " + quote(command.object),
          fmt::format("refused: {} ({})", error.message, name == nullptr ? "unknown error" : name)};
}

// After a mistake the lines that depend on the broken one fail too. These are errors in their own right: a duplicate is one
// whatever is missing, and a device that no broken line may have made is missing.
bool stands_alone(const Error& error, bool link_line_broken) {
  return error.code == EEXIST || (error.code == ENODEV && !link_line_broken);
}

// Calls `failed` for each command that the target refuses.
template <typename Failed>
void apply_each(const std::vector<Command>& commands, Target target, Failed failed) {
  Applier applier(target);
  for (const Command& command : commands) {
    const auto result = std::visit(applier, command.action);
    if (!result) failed(command, result.error());
  }
}

// The whole file, or an errno.
std::expected<std::string, int> read_file(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             std::fclose);
  if (file == nullptr) return std::unexpected(errno);
  std::string text;
  std::array<char, 1 << 16> chunk{};
  while (true) {
    const std::size_t size = std::fread(chunk.data(), 1, chunk.size(), file.get());
    text.append(chunk.data(), size);
    if (size == chunk.size()) continue;
    if (std::ferror(file.get()) != 0) return std::unexpected(errno);  // a directory, for one
    return text;
  }
}

}  // namespace

Result<void> apply_change(Target target, const lookup::Change& change) {
  if (!may_take_neighbors(change)) return target.fib.apply(change);
  const fib::Links before = target.fib.links();
  auto result = target.fib.apply(change);
  flush_neighbors(target, before);
  return result;
}

Diagnostics apply(const std::vector<Command>& commands, std::string_view file, Target target) {
  Diagnostics diagnostics;
  apply_each(commands, target, [&](const Command& command, const Error& error) {
    diagnostics.push_back(refused(command, file, error));
  });
  return diagnostics;
}

Diagnostics load_file(const std::string& path, Target target) {
  const auto text = read_file(path);
  if (!text)
    return {{path, 0, 0, fmt::format("cannot be read: {}", std::strerror(text.error())), ""}};
  ParsedText parsed = parse_all(*text, path);
  if (parsed.mistakes.empty()) return apply(parsed.commands, path, target);
  // The target is lost anyway; what it refuses of the rest is worth knowing too.
  apply_each(parsed.commands, target, [&](const Command& command, const Error& error) {
    if (stands_alone(error, parsed.link_line_broken))
      parsed.mistakes.push_back(refused(command, path, error));
  });
  std::ranges::stable_sort(parsed.mistakes, {},
                           [](const Diagnostic& d) { return std::pair(d.line, d.column); });
  return std::move(parsed.mistakes);
}

}  // namespace sidestep::config
