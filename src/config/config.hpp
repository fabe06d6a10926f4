// SPDX-License-Identifier: Apache-2.0
// The iproute2 language: text to commands, commands to changes.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <sidestep/lookup/change.hpp>
#include <sidestep/lookup/fib.hpp>

#include "neighbor/table.hpp"
#include "srv6/settings.hpp"

namespace sidestep::config {

/// A mistake in a configuration, where it stands, what was read and what was expected.
struct Diagnostic {
  std::string file;
  std::uint32_t line = 0;    ///< from 1
  std::uint32_t column = 0;  ///< from 1, in bytes
  std::string read;
  std::string expected;
  /// `FILE:LINE:COLUMN: READ; EXPECTED`
  [[nodiscard]] std::string to_string() const;
};
using Diagnostics = std::vector<Diagnostic>;

/// `neigh add|replace|del`.
struct NeighborChange {
  std::string device;
  neighbor::Neighbor neighbor;  ///< `device` unresolved
  bool replace = false;
  bool create = true;  ///< false: `change`, which wants the entry to exist
  bool remove = false;
};
struct TunnelSourceChange {
  net::Ipv6Address source{};
};
struct HmacKeyChange {
  srv6::HmacKey key;
};
/// A line of the IPv4 family, or for a later capability: understood and kept, without effect on IPv6 forwarding.
struct KeptLine {
  std::string text;
};

using Action =
    std::variant<lookup::Change, NeighborChange, TunnelSourceChange, HmacKeyChange, KeptLine>;

/// One line of a configuration.
struct Command {
  std::uint32_t line = 0;
  std::uint32_t column = 0;  ///< of the word that an error of applying it points at
  std::string text;          ///< the line, trimmed, without the comment
  Action action;
  std::string object{};  ///< the word at `column`
};

/// Reads a whole configuration. All mistakes are reported, not the first.
[[nodiscard]] std::expected<std::vector<Command>, Diagnostics> parse(std::string_view text,
                                                                     std::string_view file);

/// What a configuration configures.
struct Target {
  lookup::Fib& fib;
  neighbor::Table& neighbors;
  srv6::Settings& srv6;
};

/// Applies one change to the FIB, and lets neighbors go with their devices as the kernel does: all of them when a device goes down or
/// gets another address, those that are not permanent when it loses its carrier.
Result<void> apply_change(Target target, const lookup::Change& change);

/// Applies commands in order; those that fail are reported and passed over. Used on a fresh target, which the caller throws away
/// when anything is reported.
[[nodiscard]] Diagnostics apply(const std::vector<Command>& commands, std::string_view file,
                                Target target);

/// Reads and applies a file: what `-c FILE` does. On any diagnostic the target must not be used.
[[nodiscard]] Diagnostics load_file(const std::string& path, Target target);

}  // namespace sidestep::config
