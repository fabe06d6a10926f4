// SPDX-License-Identifier: Apache-2.0
// `rule add|del …`, as typed and as `ip -6 rule show` prints.
#include <array>

#include <fmt/format.h>

#include "config/parser.hpp"

namespace sidestep::config {
namespace {

using rules::Action;

constexpr std::string_view kExpectedVerb = "a change: add or del";
constexpr std::string_view kExpectedItem =
    "a selector of a rule, or an action: table, goto, nop, blackhole, unreachable or prohibit";
constexpr std::uint32_t kNoSuppression = UINT32_MAX;  // what the kernel stores for `none`

bool read_range(Cursor& cursor, std::string_view what, std::uint32_t least, std::uint32_t most,
                bool single_allowed, std::uint32_t& first, std::uint32_t& last) {
  const auto expected =
      fmt::format("{}{} of {} to {}", what, single_allowed ? ", N or N-M," : " N-M", least, most);
  if (cursor.at_end()) return cursor.fail_next(expected);
  const std::string_view text = cursor.take().text;
  const auto dash = text.find('-');
  const auto from = parse_digits(text.substr(0, dash), 10);
  const bool single = dash == std::string_view::npos;
  const auto to = single ? from : parse_digits(text.substr(dash + 1), 10);
  if ((single && !single_allowed) || !from || !to || *from < least || *to > most || *from > *to) {
    return cursor.fail(expected);
  }
  first = static_cast<std::uint32_t>(*from);
  last = static_cast<std::uint32_t>(*to);
  return true;
}

// VALUE[/MASK]; whether a mask was given.
bool read_masked(Cursor& cursor, std::string_view expected, std::uint32_t most,
                 std::uint32_t& value, std::optional<std::uint32_t>& mask) {
  if (cursor.at_end()) return cursor.fail_next(std::string(expected));
  const std::string_view text = cursor.take().text;
  const auto slash = text.find('/');
  const auto number = parse_number(text.substr(0, slash));
  if (!number || *number > most) return cursor.fail(std::string(expected));
  value = static_cast<std::uint32_t>(*number);
  if (slash == std::string_view::npos) return true;
  const auto bits = parse_number(text.substr(slash + 1));
  if (!bits || *bits > most) return cursor.fail(std::string(expected));
  mask = static_cast<std::uint32_t>(*bits);
  return true;
}

class RuleParser {
 public:
  RuleParser(Cursor& cursor, Understood& out) : cursor_(cursor), out_(out) {}

  bool run() {
    if (!read_verb()) return false;
    if (cursor_.at_end()) return cursor_.fail_next(std::string(kExpectedItem));
    out_.points_at(*cursor_.peek());
    read_printed_preference();
    while (!cursor_.at_end()) {
      const auto* keyword = find_keyword<RuleParser>(kKeywords, cursor_.take().text);
      if (!(keyword != nullptr ? (this->*keyword->read)() : read_type())) return false;
    }
    return finish();
  }

 private:
  bool read_verb() {
    if (cursor_.at_end()) return cursor_.fail_next(std::string(kExpectedVerb));
    const std::string_view word = cursor_.take().text;
    change_.remove = abbreviates(word, "delete");
    return change_.remove || abbreviates(word, "add") || cursor_.fail(std::string(kExpectedVerb));
  }

  // `10:` as the first word, as printed.
  void read_printed_preference() {
    const std::string_view text = cursor_.peek()->text;
    if (!text.ends_with(':')) return;
    const auto preference = parse_digits(text.substr(0, text.size() - 1), 10);
    if (!preference || *preference > UINT32_MAX) return;
    cursor_.take();
    change_.rule.preference = static_cast<std::uint32_t>(*preference);
    change_.preference_given = true;
  }

  bool read_not() {
    change_.rule.invert = true;
    return true;
  }
  bool read_from() { return read_prefix(change_.rule.from); }
  bool read_to() { return read_prefix(change_.rule.to); }
  bool read_prefix(net::Prefix& out) {
    AddressWithLength prefix;
    if (!cursor_.prefix(prefix)) return false;
    out = prefix.prefix();
    return true;
  }
  bool read_preference() {
    if (!cursor_.number("a preference", change_.rule.preference)) return false;
    out_.points_at(cursor_.last());
    change_.preference_given = true;
    return true;
  }
  bool read_tos() {
    constexpr std::string_view kExpected =
        "a traffic class without ECN bits: a name such as AF11 or a hexadecimal number of 0 to fc";
    if (cursor_.at_end()) return cursor_.fail_next(std::string(kExpected));
    const auto value = dsfield_number(cursor_.take().text);
    if (!value || (*value & 3) != 0) return cursor_.fail(std::string(kExpected));
    change_.rule.dsfield = *value;
    return true;
  }
  bool read_dscp() {
    constexpr std::string_view kExpected =
        "a DSCP: a name such as AF11 or a number of 0 to 63, and /MASK";
    if (cursor_.at_end()) return cursor_.fail_next(std::string(kExpected));
    const std::string_view text = cursor_.peek()->text;
    if (const auto named = dscp_number(text)) {
      cursor_.take();
      change_.rule.dscp = *named;
      return true;
    }
    std::uint32_t value = 0;
    std::optional<std::uint32_t> mask;
    if (!read_masked(cursor_, kExpected, 63, value, mask)) return false;
    change_.rule.dscp = static_cast<std::uint8_t>(value);
    if (mask) change_.rule.dscp_mask = static_cast<std::uint8_t>(*mask);
    return true;
  }
  bool read_flowlabel() {
    std::uint32_t value = 0;
    std::optional<std::uint32_t> mask;
    if (!read_masked(cursor_, "a flow label of 0 to 0xfffff, and /MASK", 0xfffff, value, mask))
      return false;
    change_.rule.flow_label = value;
    if (mask) change_.rule.flow_label_mask = *mask;
    return true;
  }
  bool read_fwmark() {
    std::optional<std::uint32_t> mask;
    if (!read_masked(cursor_, "a mark of 0 to 0xffffffff, and /MASK", UINT32_MAX,
                     change_.rule.fwmark, mask))
      return false;
    // Without a mask the kernel compares every bit of a mark, and nothing at all when the mark is 0.
    change_.rule.fwmask = mask.value_or(change_.rule.fwmark != 0 ? UINT32_MAX : 0);
    return true;
  }
  bool read_realms() {
    std::string realms;
    return cursor_.word("a realm", realms);
  }
  bool read_protocol() { return cursor_.protocol(change_.rule.protocol); }
  bool read_tun_id() {
    constexpr std::string_view kExpected = "a tunnel id of 0 to 18446744073709551615";
    if (cursor_.at_end()) return cursor_.fail_next(std::string(kExpected));
    const auto value = parse_number(cursor_.take().text);
    if (!value) return cursor_.fail(std::string(kExpected));
    change_.rule.tun_id = *value;
    return true;
  }
  bool read_table() {
    if (cursor_.take_if("[l3mdev-table]")) return read_l3mdev();  // as printed
    if (!cursor_.table(change_.rule.table)) return false;
    if (change_.rule.table.value == 0) return cursor_.fail("a table other than 0");
    table_word_ = &cursor_.last();
    change_.table_given = true;
    return true;
  }
  bool read_suppress_prefixlength() {
    std::uint32_t length = 0;
    if (!cursor_.number("a prefix length", length)) return false;
    change_.rule.suppress_prefix_length =
        length == kNoSuppression ? std::nullopt : std::optional(length);
    return true;
  }
  bool read_suppress_ifgroup() {
    std::uint32_t group = 0;
    if (!cursor_.group(group)) return false;
    change_.rule.suppress_ifgroup = group == kNoSuppression ? std::nullopt : std::optional(group);
    return true;
  }
  bool read_iif() { return cursor_.device(change_.rule.iif); }
  bool read_oif() { return cursor_.device(change_.rule.oif); }
  bool read_l3mdev() {
    change_.rule.l3mdev = true;
    return true;
  }
  bool read_uidrange() {
    std::uint32_t first = 0;
    if (!read_range(cursor_, "user ids", 0, UINT32_MAX - 1, false, first, change_.rule.uid_last))
      return false;
    change_.rule.uid_first = first;
    return true;
  }
  bool read_nat() { return cursor_.fail("no NAT: rules of IPv6 have none"); }
  bool read_ipproto() {
    constexpr std::string_view kExpected =
        "an IP protocol: a name such as udp or a decimal number of 0 to 255";
    if (cursor_.at_end()) return cursor_.fail_next(std::string(kExpected));
    const auto number = ip_protocol_number(cursor_.take().text);
    if (!number) return cursor_.fail(std::string(kExpected));
    change_.rule.ipproto = *number;
    return true;
  }
  bool read_sport() { return read_ports(change_.rule.sport); }
  bool read_dport() { return read_ports(change_.rule.dport); }
  bool read_ports(std::optional<rules::PortRange>& out) {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    if (!read_range(cursor_, "ports", 1, 65534, true, first, last)) return false;
    out = rules::PortRange{static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(last)};
    return true;
  }
  bool skip_word() { return true; }

  bool read_type_keyword() {
    if (cursor_.at_end()) return cursor_.fail_next(std::string(kExpectedItem));
    cursor_.take();
    return read_type();
  }
  bool read_type() {
    const std::string_view word = cursor_.last().text;
    if (abbreviates(word, "goto")) return read_goto();
    if (abbreviates(word, "nop")) return act(Action::kNop);
    if (abbreviates(word, "prohibit")) return act(Action::kProhibit);
    if (abbreviates(word, "unreachable")) return act(Action::kUnreachable);
    if (word.size() > 1 && abbreviates(word, "blackhole")) return act(Action::kBlackhole);
    if (abbreviates(word, "unicast")) return true;
    return cursor_.fail(std::string(kExpectedItem));
  }
  bool act(Action action) {
    change_.rule.action = action;
    change_.action_given = true;
    return true;
  }
  bool read_goto() {
    return act(Action::kGoto) &&
           cursor_.number("the preference of a rule", change_.rule.goto_target);
  }

  bool finish() {
    auto& rule = change_.rule;
    if (rule.l3mdev && change_.table_given) {
      return cursor_.fail_at(
          *table_word_, "no table: a rule with 'l3mdev' looks in the table of the device's VRF");
    }
    if (rule.dscp && rule.dsfield != 0) return cursor_.fail("either 'dscp' or 'tos'");
    const bool looks_up = rule.action == Action::kToTable && !rule.l3mdev;
    if (!change_.remove && looks_up && !change_.table_given) rule.table = kTableMain;
    out_.actions.emplace_back(std::move(change_));
    return true;
  }

  using K = Keyword<RuleParser>;
  static const std::array<K, 33> kKeywords;

  Cursor& cursor_;
  Understood& out_;
  lookup::RuleChange change_;
  const Word* table_word_ = nullptr;
};

const std::array<RuleParser::K, 33> RuleParser::kKeywords{
    K{"not", &RuleParser::read_not, kWhole},
    K{"from", &RuleParser::read_from, kWhole},
    K{"to", &RuleParser::read_to, kWhole},
    K{"preference", &RuleParser::read_preference},
    K{"order", &RuleParser::read_preference},
    K{"priority", &RuleParser::read_preference},
    K{"tos", &RuleParser::read_tos, kWhole},
    K{"dsfield", &RuleParser::read_tos},
    K{"fwmark", &RuleParser::read_fwmark, kWhole},
    K{"realms", &RuleParser::read_realms},
    K{"protocol", &RuleParser::read_protocol},
    K{"tun_id", &RuleParser::read_tun_id},
    K{"table", &RuleParser::read_table},
    K{"lookup", &RuleParser::read_table, kWhole},
    K{"suppress_prefixlength", &RuleParser::read_suppress_prefixlength},
    K{"sup_pl", &RuleParser::read_suppress_prefixlength, kWhole},
    K{"suppress_ifgroup", &RuleParser::read_suppress_ifgroup},
    K{"sup_group", &RuleParser::read_suppress_ifgroup, kWhole},
    K{"dev", &RuleParser::read_iif, kWhole},
    K{"iif", &RuleParser::read_iif, kWhole},
    K{"oif", &RuleParser::read_oif, kWhole},
    K{"l3mdev", &RuleParser::read_l3mdev, kWhole},
    K{"uidrange", &RuleParser::read_uidrange, kWhole},
    K{"nat", &RuleParser::read_nat, kWhole},
    K{"map-to", &RuleParser::read_nat},
    K{"ipproto", &RuleParser::read_ipproto, kWhole},
    K{"sport", &RuleParser::read_sport, kWhole},
    K{"dport", &RuleParser::read_dport, kWhole},
    K{"type", &RuleParser::read_type_keyword, kWhole},
    // Newer than iproute2 6.1.
    K{"dscp", &RuleParser::read_dscp, kWhole},
    K{"flowlabel", &RuleParser::read_flowlabel, kWhole},
    // Printed, not typed.
    K{"[detached]", &RuleParser::skip_word, kWhole},
    K{"[unresolved]", &RuleParser::skip_word, kWhole},
};

}  // namespace

bool parse_rule(Cursor& cursor, Understood& out) { return RuleParser(cursor, out).run(); }

}  // namespace sidestep::config
