// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "config/names.hpp"
#include "config/print.hpp"

namespace sidestep::config {
namespace {

using rules::Action;
using rules::Rule;

constexpr std::uint8_t kProtocolUnspecified = 0;

std::string prefix_text(const net::Prefix& prefix) {
  if (prefix.length() == net::Prefix::kMaxLength) return prefix.address().to_string();
  return prefix.to_string();
}

// 0x5, but 0 for zero, as C prints %#x.
std::string hex_text(std::uint32_t value) { return value == 0 ? "0" : fmt::format("{:#x}", value); }

std::string range_text(const rules::PortRange& range) {
  return range.first == range.last ? std::to_string(range.first)
                                   : fmt::format("{}-{}", range.first, range.last);
}

// What only a whole router knows about a rule.
struct Surroundings {
  bool iif_missing = false;
  bool oif_missing = false;
  bool target_missing = false;
};

std::string selectors(const Rule& rule, const Surroundings& around) {
  std::string out = rule.invert ? "not " : "";
  out += rule.from.length() == 0 ? "from all" : "from " + prefix_text(rule.from);
  if (rule.to.length() != 0) out += " to " + prefix_text(rule.to);
  if (rule.dsfield != 0) out += " tos " + dsfield_name(rule.dsfield);
  if (rule.fwmark != 0 || rule.fwmask != 0) {
    out += " fwmark " + hex_text(rule.fwmark);
    if (rule.fwmask != UINT32_MAX) out += "/" + hex_text(rule.fwmask);
  }
  if (!rule.iif.empty()) out += " iif " + rule.iif + (around.iif_missing ? " [detached]" : "");
  if (!rule.oif.empty()) out += " oif " + rule.oif + (around.oif_missing ? " [detached]" : "");
  if (rule.uid_first) out += fmt::format(" uidrange {}-{}", *rule.uid_first, rule.uid_last);
  if (rule.ipproto != 0) out += " ipproto " + ip_protocol_name(rule.ipproto);
  if (rule.sport) out += " sport " + range_text(*rule.sport);
  if (rule.dport) out += " dport " + range_text(*rule.dport);
  if (rule.tun_id != 0) out += fmt::format(" tun_id {}", rule.tun_id);
  // Newer than iproute2 6.1, which prints nothing for these two.
  if (rule.dscp) {
    out += rule.dscp_mask == 0x3f
               ? " dscp " + dscp_name(*rule.dscp)
               : fmt::format(" dscp {}/{}", hex_text(*rule.dscp), hex_text(rule.dscp_mask));
  }
  if (rule.flow_label) {
    out += " flowlabel " + hex_text(*rule.flow_label);
    if (rule.flow_label_mask != 0xfffff) out += "/" + hex_text(rule.flow_label_mask);
  }
  return out;
}

std::string action_text(const Rule& rule, const Surroundings& around) {
  std::string out;
  if (rule.l3mdev) out += " lookup [l3mdev-table]";
  if (rule.table.value != 0) {
    out += " lookup " + table_name(rule.table);
    if (rule.suppress_prefix_length)
      out += fmt::format(" suppress_prefixlength {}", *rule.suppress_prefix_length);
    if (rule.suppress_ifgroup) out += " suppress_ifgroup " + group_name(*rule.suppress_ifgroup);
  }
  switch (rule.action) {
    case Action::kToTable:
      break;
    case Action::kGoto:
      out +=
          fmt::format(" goto {}{}", rule.goto_target, around.target_missing ? " [unresolved]" : "");
      break;
    case Action::kNop:
      out += " nop";
      break;
    case Action::kBlackhole:
      out += " blackhole";
      break;
    case Action::kUnreachable:
      out += " unreachable";
      break;
    case Action::kProhibit:
      out += " prohibit";
      break;
  }
  const bool silent =
      rule.protocol == kProtocolUnspecified || rule.protocol == fib::kProtocolKernel;
  return silent ? out : out + " proto " + protocol_name(rule.protocol);
}

std::string text_of(const Rule& rule, const Surroundings& around) {
  return selectors(rule, around) + action_text(rule, around);
}

}  // namespace

std::string print_rule(const Rule& rule) { return text_of(rule, {}); }

std::string print_rules(const lookup::Fib& fib) {
  std::string out;
  const auto rules = fib.rules();
  const auto missing = [&](const std::string& name) {
    return fib.links().find(std::string_view(name)) == nullptr;
  };
  for (const Rule& rule : rules) {
    Surroundings around;
    around.iif_missing = missing(rule.iif);
    around.oif_missing = missing(rule.oif);
    around.target_missing =
        std::ranges::find(rules, rule.goto_target, &Rule::preference) == rules.end();
    out += fmt::format("{}:\t{}\n", rule.preference, text_of(rule, around));
  }
  return out;
}

}  // namespace sidestep::config
