// SPDX-License-Identifier: Apache-2.0
// `neigh add|replace|change|del …`, as typed and as `ip -6 neigh show` prints.
#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "config/parser.hpp"

namespace sidestep::config {
namespace {

using neighbor::State;

constexpr std::string_view kExpectedVerb = "a change: add, replace, change or del";

struct StateName {
  std::string_view text;
  State state;
};
constexpr std::array kStates{
    StateName{"permanent", State::kPermanent}, StateName{"reachable", State::kReachable},
    StateName{"noarp", State::kNoArp},         StateName{"none", State::kNone},
    StateName{"stale", State::kStale},         StateName{"incomplete", State::kIncomplete},
    StateName{"delay", State::kDelay},         StateName{"probe", State::kProbe},
    StateName{"failed", State::kFailed}};

bool needs_mac(State state) {
  return state != State::kNone && state != State::kIncomplete && state != State::kFailed;
}

class NeighborParser {
 public:
  NeighborParser(Cursor& cursor, Understood& out) : cursor_(cursor), out_(out) {}

  bool run() {
    if (!read_verb()) return false;
    while (!cursor_.at_end()) {
      const auto* keyword = find_keyword<NeighborParser>(kKeywords, cursor_.take().text);
      if (!(keyword != nullptr ? (this->*keyword->read)() : read_other())) return false;
    }
    return finish();
  }

 private:
  bool read_verb() {
    if (cursor_.at_end()) return cursor_.fail_next(std::string(kExpectedVerb));
    const std::string_view word = cursor_.take().text;
    if (abbreviates(word, "add")) return true;
    if (abbreviates(word, "change") || word == "chg") {
      change_.replace = true;
      change_.create = false;
    } else if (abbreviates(word, "replace")) {
      change_.replace = true;
    } else if (abbreviates(word, "delete")) {
      change_.remove = true;
    } else {
      return cursor_.fail(std::string(kExpectedVerb));
    }
    return true;
  }

  bool read_lladdr() {
    if (cursor_.take_if("null")) return true;
    change_.neighbor.has_mac = true;
    return cursor_.mac(change_.neighbor.mac);
  }
  bool read_nud() {
    constexpr std::string_view kExpected =
        "a state: permanent, reachable, noarp, none, stale, incomplete, delay, probe or failed";
    if (cursor_.at_end()) return cursor_.fail_next(std::string(kExpected));
    const std::string_view text = cursor_.take().text;
    const auto number = parse_number(text);
    for (const StateName& name : kStates) {
      if (name.text == text || (number && *number == static_cast<std::uint8_t>(name.state))) {
        set_state(name.state);
        return true;
      }
    }
    return cursor_.fail(std::string(kExpected));
  }
  void set_state(State state) {
    change_.neighbor.state = state;
    state_given_ = true;
  }
  bool read_proxy() {
    change_.neighbor.proxy = true;
    if (address_given_) return cursor_.fail("one address");
    return read_address();
  }
  bool read_router() {
    change_.neighbor.router = true;
    return true;
  }
  bool read_managed() {
    if (!state_given_) change_.neighbor.state = State::kNone;
    return true;
  }
  bool skip_word() { return true; }
  bool read_dev() { return cursor_.device(change_.device); }
  bool read_protocol() {
    std::uint8_t protocol = 0;
    return cursor_.protocol(protocol);
  }
  bool read_to() { return read_address(); }
  bool read_address() {
    net::Ipv6Address& address = change_.neighbor.address;
    if (!cursor_.address(address)) return false;
    out_.points_at(cursor_.last());
    address_given_ = true;
    return true;
  }
  // A state in capitals, as printed, or the address.
  bool read_other() {
    const std::string& text = cursor_.last().text;
    for (const StateName& name : kStates) {
      if (std::ranges::equal(name.text, text,
                             [](char low, char given) { return std::toupper(low) == given; })) {
        set_state(name.state);
        return true;
      }
    }
    if (address_given_) return cursor_.fail("an option of a neighbor or the end of the line");
    cursor_.step_back();
    return read_address();
  }

  bool finish() {
    if (!address_given_) return cursor_.fail_next("the address of a neighbor");
    if (change_.device.empty()) return cursor_.fail_next("'dev' and a device");
    auto& neighbor = change_.neighbor;
    if (!change_.remove && !neighbor.proxy && needs_mac(neighbor.state) && !neighbor.has_mac) {
      return cursor_.fail_next("'lladdr' and an Ethernet address");
    }
    if (!needs_mac(neighbor.state)) neighbor.has_mac = false;
    out_.actions.emplace_back(std::move(change_));
    return true;
  }

  using K = Keyword<NeighborParser>;
  static const std::array<K, 10> kKeywords;

  Cursor& cursor_;
  Understood& out_;
  NeighborChange change_;
  bool address_given_ = false;
  bool state_given_ = false;
};

const std::array<NeighborParser::K, 10> NeighborParser::kKeywords{
    K{"lladdr", &NeighborParser::read_lladdr},
    K{"nud", &NeighborParser::read_nud, kWhole},
    K{"proxy", &NeighborParser::read_proxy},
    K{"router", &NeighborParser::read_router, kWhole},
    K{"managed", &NeighborParser::read_managed, kWhole},
    K{"use", &NeighborParser::skip_word, kWhole},
    K{"extern_learn", &NeighborParser::skip_word, kWhole},
    K{"dev", &NeighborParser::read_dev, kWhole},
    K{"protocol", &NeighborParser::read_protocol},
    K{"to", &NeighborParser::read_to, kWhole}};

}  // namespace

bool parse_neighbor(Cursor& cursor, Understood& out) { return NeighborParser(cursor, out).run(); }

}  // namespace sidestep::config
