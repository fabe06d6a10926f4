// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sidestep/net/ids.hpp>
#include <sidestep/net/prefix.hpp>

namespace sidestep::rules {

/// Rule actions, numbered as FR_ACT_* of linux/fib_rules.h.
enum class Action : std::uint8_t {
  kToTable = 1,
  kGoto = 2,
  kNop = 3,
  kBlackhole = 6,
  kUnreachable = 7,
  kProhibit = 8,
};

/// An inclusive range of ports.
struct PortRange {
  std::uint16_t first = 0;
  std::uint16_t last = 0;
  bool operator==(const PortRange&) const = default;
};

/// A policy rule as in ip-rule(8): preference, selectors (all must match), action, suppressors. Plain data.
struct Rule {
  std::uint32_t preference = 0;  ///< small wins; equal: older first
  bool invert = false;           ///< `not`

  // Selectors; empty or zero: any.
  net::Prefix from{};
  net::Prefix to{};
  std::string iif{};  ///< device name; `lo`: locally generated traffic
  std::string oif{};
  std::uint32_t fwmark = 0;
  std::uint32_t fwmask = 0;  ///< bits of the mark that are compared; 0: none, whatever fwmark is
  std::uint8_t dsfield = 0;  ///< traffic class with ECN bits zero; 0: any (`tos`)
  std::optional<std::uint8_t> dscp{};  ///< 0..63, may select 0
  std::uint8_t dscp_mask = 0x3f;
  std::optional<std::uint32_t> flow_label{};
  std::uint32_t flow_label_mask = 0xfffff;
  std::uint8_t ipproto = 0;
  std::optional<PortRange> sport{};
  std::optional<PortRange> dport{};
  std::optional<std::uint32_t> uid_first{};
  std::uint32_t uid_last = 0;
  std::uint64_t tun_id = 0;
  bool l3mdev = false;

  Action action = Action::kToTable;
  TableId table{};                ///< kToTable
  std::uint32_t goto_target = 0;  ///< kGoto: preference of the target
  std::optional<std::uint32_t> suppress_prefix_length{};
  std::optional<std::uint32_t> suppress_ifgroup{};
  std::uint8_t protocol = 0;

  bool operator==(const Rule&) const = default;
};

}  // namespace sidestep::rules
