// SPDX-License-Identifier: Apache-2.0
// `nexthop add|replace|del …`, as typed and as `ip nexthop show` prints.
#include <array>

#include <fmt/format.h>

#include "config/parser.hpp"

namespace sidestep::config {
namespace {

using lookup::NexthopChange;
using lookup::NexthopMemberSpec;
using lookup::NexthopVerb;

constexpr std::string_view kExpectedVerb = "a change: add, replace or del";

class NexthopParser {
 public:
  NexthopParser(Cursor& cursor, Understood& out) : cursor_(cursor), out_(out) {}

  bool run() {
    if (!read_verb()) return false;
    while (!cursor_.at_end()) {
      const auto* keyword = find_keyword<NexthopParser>(kKeywords, cursor_.take().text);
      if (keyword == nullptr) return cursor_.fail("an option of a nexthop or the end of the line");
      if (!(this->*keyword->read)()) return false;
    }
    return finish();
  }

 private:
  bool read_verb() {
    if (cursor_.at_end()) return cursor_.fail_next(std::string(kExpectedVerb));
    const std::string_view word = cursor_.take().text;
    if (abbreviates(word, "add")) {
      change_.verb = NexthopVerb::kAdd;
    } else if (abbreviates(word, "replace")) {
      change_.verb = NexthopVerb::kReplace;
    } else if (abbreviates(word, "delete")) {
      change_.verb = NexthopVerb::kDelete;
    } else {
      return cursor_.fail(std::string(kExpectedVerb));
    }
    return true;
  }

  bool read_id() {
    if (!cursor_.number("a nexthop id", change_.id.value, 1)) return false;
    out_.points_at(cursor_.last());
    return true;
  }
  bool read_dev() { return cursor_.device(change_.hop.device); }
  bool read_via() {
    net::Ipv6Address gateway;
    if (!cursor_.gateway(gateway)) return false;
    change_.hop.gateway = gateway;
    return true;
  }
  bool read_encap() { return parse_encap(cursor_, change_.hop); }
  bool read_blackhole() {
    change_.blackhole = true;
    return true;
  }
  bool read_onlink() {
    change_.hop.onlink = true;
    return true;
  }
  bool read_fdb() {
    fdb_ = true;
    return true;
  }
  bool read_protocol() { return cursor_.protocol(change_.protocol); }
  bool read_scope() {  // as printed
    return (!cursor_.at_end() && scope_number(cursor_.take().text)) || cursor_.fail("a scope");
  }

  // ID[,WEIGHT]/ID[,WEIGHT]…
  bool read_group() {
    constexpr std::string_view kExpected =
        "members ID[,WEIGHT] separated by '/', weights of 1 to 256";
    if (cursor_.at_end()) return cursor_.fail_next(std::string(kExpected));
    std::string_view text = cursor_.take().text;
    while (true) {
      const auto slash = text.find('/');
      const auto member = read_member(text.substr(0, slash));
      if (!member) return cursor_.fail(std::string(kExpected));
      change_.group.push_back(*member);
      if (slash == std::string_view::npos) return true;
      text.remove_prefix(slash + 1);
    }
  }
  static std::optional<NexthopMemberSpec> read_member(std::string_view text) {
    const auto comma = text.find(',');
    const auto id = parse_number(text.substr(0, comma));
    if (!id || *id == 0 || *id > UINT32_MAX) return std::nullopt;
    NexthopMemberSpec member{NexthopId{static_cast<std::uint32_t>(*id)}, 1};
    if (comma == std::string_view::npos) return member;
    const auto weight = parse_number(text.substr(comma + 1));
    if (!weight || *weight == 0 || *weight > 256) return std::nullopt;
    member.weight = static_cast<std::uint16_t>(*weight);
    return member;
  }

  bool read_type() {
    if (cursor_.take_if("mpath")) return true;
    if (!cursor_.take_if("resilient")) return cursor_.fail_next("'mpath' or 'resilient'");
    change_.resilient = true;
    while (!cursor_.at_end()) {
      if (cursor_.take_if("buckets")) {
        if (!cursor_.number("a number of buckets", change_.buckets.emplace(), 1U, 65535U))
          return false;
      } else if (cursor_.take_if("idle_timer")) {
        if (!cursor_.number("seconds", change_.idle_timer_s.emplace())) return false;
      } else if (cursor_.take_if("unbalanced_timer")) {
        if (!cursor_.number("seconds", change_.unbalanced_timer_s.emplace())) return false;
      } else if (cursor_.take_if("unbalanced_time")) {  // as printed
        std::uint32_t now = 0;
        if (!cursor_.number("seconds", now)) return false;
      } else {
        break;
      }
    }
    return true;
  }

  bool finish() {
    if (!change_.id) return cursor_.fail_next("'id' and a nexthop id");
    if (change_.verb != NexthopVerb::kDelete && !check()) return false;
    if (fdb_) {  // for bridges and VXLAN: no route can use it
      out_.actions.emplace_back(KeptLine{cursor_.line().text});
    } else {
      out_.actions.emplace_back(std::move(change_));
    }
    return true;
  }
  bool check() {
    const bool hop_given = change_.hop.gateway || !change_.hop.device.empty();
    if (!change_.group.empty() && (hop_given || change_.blackhole)) {
      return cursor_.fail("either 'group' or a single nexthop");
    }
    if (change_.blackhole && hop_given)
      return cursor_.fail("either 'blackhole' or 'via' and 'dev'");
    return true;  // a missing device is found when the object is made, as the kernel does
  }

  using K = Keyword<NexthopParser>;
  static const std::array<K, 11> kKeywords;

  Cursor& cursor_;
  Understood& out_;
  NexthopChange change_;
  bool fdb_ = false;
};

const std::array<NexthopParser::K, 11> NexthopParser::kKeywords{
    K{"id", &NexthopParser::read_id, kWhole},
    K{"dev", &NexthopParser::read_dev, kWhole},
    K{"via", &NexthopParser::read_via, kWhole},
    K{"encap", &NexthopParser::read_encap, kWhole},
    K{"blackhole", &NexthopParser::read_blackhole, kWhole},
    K{"onlink", &NexthopParser::read_onlink, kWhole},
    K{"group", &NexthopParser::read_group, kWhole},
    K{"fdb", &NexthopParser::read_fdb, kWhole},
    K{"type", &NexthopParser::read_type, kWhole},
    K{"protocol", &NexthopParser::read_protocol},
    K{"scope", &NexthopParser::read_scope, kWhole}};

}  // namespace

bool parse_nexthop(Cursor& cursor, Understood& out) { return NexthopParser(cursor, out).run(); }

}  // namespace sidestep::config
