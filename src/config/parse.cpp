// SPDX-License-Identifier: Apache-2.0
//
// The iproute2 language, reading side.
//
// A configuration is read in three steps. words.cpp cuts the text into lines of words. The heading of a line (this
// file) says which object it changes. The parser of that object (parse_*.cpp) reads the rest with a Cursor and leaves
// an Action. No step looks at the state of a router: whether a device exists or a route is there already is found out
// by apply().
//
// ip lets users shorten nearly every word, and what a short word means follows from the order in which ip compares its
// keywords: `ip r` is `route` because `route` is compared before `rule`. Each parser therefore holds its keywords in a
// table in ip's order, each marked as abbreviable or not. Both were found by asking iproute2 6.1 word by word.
//
// Mistakes never stop the reading: a line with one is left out and the next is read. One mistake per line is reported,
// the first, because what follows it was not understood.
//
// IPv4: a line behind `-4` goes through the same parsers with IPv4 addresses, so that a typing error is found, and is then
// kept without effect. Devices belong to no family and are made either way.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "config/parser.hpp"
#include "config/words.hpp"

namespace sidestep::config {
namespace {

struct ObjectName {
  std::string_view text;
  std::optional<Object> object;  ///< empty: ip knows it, a configuration of ours does not
};

// All objects of ip in its order: `m` is maddress, `t` is tunnel, `n` is neigh.
constexpr std::array kObjects{ObjectName{"address", Object::kAddress},
                              ObjectName{"addrlabel", {}},
                              ObjectName{"maddress", {}},
                              ObjectName{"route", Object::kRoute},
                              ObjectName{"rule", Object::kRule},
                              ObjectName{"neighbor", Object::kNeighbor},
                              ObjectName{"neighbour", Object::kNeighbor},
                              ObjectName{"ntable", {}},
                              ObjectName{"ntbl", {}},
                              ObjectName{"link", Object::kLink},
                              ObjectName{"l2tp", {}},
                              ObjectName{"fou", {}},
                              ObjectName{"ila", {}},
                              ObjectName{"macsec", {}},
                              ObjectName{"tunnel", {}},
                              ObjectName{"tunl", {}},
                              ObjectName{"tuntap", {}},
                              ObjectName{"tap", {}},
                              ObjectName{"token", {}},
                              ObjectName{"tcpmetrics", {}},
                              ObjectName{"tcp_metrics", {}},
                              ObjectName{"monitor", {}},
                              ObjectName{"xfrm", {}},
                              ObjectName{"mroute", {}},
                              ObjectName{"mrule", {}},
                              ObjectName{"netns", {}},
                              ObjectName{"netconf", {}},
                              ObjectName{"vrf", {}},
                              ObjectName{"sr", Object::kSr},
                              ObjectName{"nexthop", Object::kNexthop},
                              ObjectName{"mptcp", {}},
                              ObjectName{"ioam", {}},
                              ObjectName{"help", {}},
                              ObjectName{"stats", {}}};

constexpr std::string_view kExpectedObject =
    "an object: link, address, neigh, nexthop, route, rule, sr or sysctl";

bool parse_object(Object object, Cursor& cursor, Understood& out) {
  switch (object) {
    case Object::kLink:
      return parse_link(cursor, out);
    case Object::kAddress:
      return parse_address(cursor, out);
    case Object::kNeighbor:
      return parse_neighbor(cursor, out);
    case Object::kRoute:
      return parse_route(cursor, out);
    case Object::kRule:
      return parse_rule(cursor, out);
    case Object::kNexthop:
      return parse_nexthop(cursor, out);
    case Object::kSr:
      return parse_sr(cursor, out);
    case Object::kSysctl:
      return parse_sysctl(cursor, out);
  }
  return false;
}

// Routes, rules, neighbors, nexthops and addresses of IPv4 are understood and kept.
void keep_ipv4(Object object, const WordLine& line, Understood& out) {
  if (object == Object::kLink || object == Object::kSr || object == Object::kSysctl) return;
  out.actions.clear();
  out.actions.emplace_back(KeptLine{line.text});
}

// Reads one line; what was wrong with it, if anything.
std::optional<Mistake> parse_line(const WordLine& line, ParsedText& out) {
  Cursor start(line, 0, Family::kIpv6);
  const auto heading = parse_heading(start);
  if (!heading) {
    out.link_line_broken = true;
    return start.mistake();
  }
  Cursor cursor(line, heading->words, heading->family);
  Understood understood;
  const bool parsed = parse_object(heading->object, cursor, understood);
  if (!parsed || (!cursor.at_end() && !cursor.fail_next("the end of the line"))) {
    out.link_line_broken = out.link_line_broken || heading->object == Object::kLink;
    return cursor.mistake();
  }
  if (heading->family == Family::kIpv4) keep_ipv4(heading->object, line, understood);
  const Word& object = understood.object.column != 0 ? understood.object : line.words.front();
  for (Action& action : understood.actions) {
    out.commands.push_back({object.line, object.column, line.text, std::move(action), object.text});
  }
  return std::nullopt;
}

}  // namespace

std::optional<Heading> parse_heading(Cursor& cursor) {
  Heading heading;
  if (cursor.take_if("-4")) {
    heading.family = Family::kIpv4;
    ++heading.words;
  } else if (cursor.take_if("-6")) {
    ++heading.words;
  }
  if (cursor.at_end()) {
    cursor.fail_next(std::string(kExpectedObject));
    return std::nullopt;
  }
  const Word& word = cursor.take();
  if (word.text == "sysctl") {
    heading.object = Object::kSysctl;
    return heading;
  }
  if (word.text == "ip") {
    cursor.fail(fmt::format("{}, without 'ip' before it", kExpectedObject));
    return std::nullopt;
  }
  const auto found = std::ranges::find_if(
      kObjects, [&](const ObjectName& name) { return abbreviates(word.text, name.text); });
  if (found == kObjects.end() || !found->object) {
    cursor.fail(std::string(kExpectedObject));
    return std::nullopt;
  }
  heading.object = *found->object;
  return heading;
}

ParsedText parse_all(std::string_view text, std::string_view file) {
  ParsedText parsed;
  SplitText split = split_words(text);
  parsed.link_line_broken = !split.mistakes.empty();
  for (const WordLine& line : split.lines) {
    if (auto mistake = parse_line(line, parsed)) split.mistakes.push_back(std::move(*mistake));
  }
  std::ranges::stable_sort(split.mistakes, {},
                           [](const Mistake& m) { return std::pair(m.line, m.column); });
  for (Mistake& mistake : split.mistakes) {
    parsed.mistakes.push_back({std::string(file), mistake.line, mistake.column,
                               std::move(mistake.read), std::move(mistake.expected)});
  }
  return parsed;
}

std::expected<std::vector<Command>, Diagnostics> parse(std::string_view text,
                                                       std::string_view file) {
  ParsedText parsed = parse_all(text, file);
  if (!parsed.mistakes.empty()) return std::unexpected(std::move(parsed.mistakes));
  return std::move(parsed.commands);
}

std::string Diagnostic::to_string() const {
  if (line == 0) return fmt::format("{}: {}", file, read);
  return fmt::format("{}:{}:{}: {}; {}", file, line, column, read, expected);
}

}  // namespace sidestep::config
