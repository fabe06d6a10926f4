// SPDX-License-Identifier: Apache-2.0
// What the parsers of the single objects share: a cursor in, actions out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "config/cursor.hpp"

namespace sidestep::config {

/// What one line asks for. Most lines ask for one thing; a veth pair is two devices.
struct Understood {
  std::vector<Action> actions;
  Word object;  ///< names what is changed; without a place: the line's first word

  void points_at(const Word& word) { object = word; }
};

// One parser per object of ip, each behind the object's word. They answer false after cursor.mistake() was set.
bool parse_link(Cursor& cursor, Understood& out);
bool parse_address(Cursor& cursor, Understood& out);
bool parse_neighbor(Cursor& cursor, Understood& out);
bool parse_route(Cursor& cursor, Understood& out);
bool parse_rule(Cursor& cursor, Understood& out);
bool parse_nexthop(Cursor& cursor, Understood& out);
bool parse_sr(Cursor& cursor, Understood& out);
bool parse_sysctl(Cursor& cursor, Understood& out);

/// Reads what follows `encap`: `seg6 …` or `seg6local …`.
bool parse_encap(Cursor& cursor, lookup::NexthopSpec& hop);

/// Everything that could be understood, and everything that could not.
struct ParsedText {
  std::vector<Command> commands;
  Diagnostics mistakes;
  bool link_line_broken = false;  ///< a line with a mistake may have been one that makes a device
};
[[nodiscard]] ParsedText parse_all(std::string_view text, std::string_view file);

/// What a line does: an object of ip, after a family.
enum class Object : std::uint8_t {
  kLink,
  kAddress,
  kNeighbor,
  kRoute,
  kRule,
  kNexthop,
  kSr,
  kSysctl
};

/// Reads an optional `-4` or `-6` and the object. Empty after cursor.mistake() was set.
struct Heading {
  Object object = Object::kRoute;
  Family family = Family::kIpv6;
  std::size_t words = 1;  ///< that it took
};
[[nodiscard]] std::optional<Heading> parse_heading(Cursor& cursor);

}  // namespace sidestep::config
