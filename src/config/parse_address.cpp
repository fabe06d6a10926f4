// SPDX-License-Identifier: Apache-2.0
// `address add|replace|change|del …`.
#include <array>

#include <fmt/format.h>

#include "config/parser.hpp"

namespace sidestep::config {
namespace {

constexpr std::string_view kExpectedVerb = "a change: add, replace, change or del";
constexpr std::uint32_t kForever = UINT32_MAX;

class AddressParser {
 public:
  AddressParser(Cursor& cursor, Understood& out) : cursor_(cursor), out_(out) {}

  bool run() {
    if (!read_verb()) return false;
    while (!cursor_.at_end()) {
      const auto* keyword = find_keyword<AddressParser>(kKeywords, cursor_.take().text);
      if (keyword == nullptr) cursor_.step_back();
      if (!(keyword != nullptr ? (this->*keyword->read)() : read_local())) return false;
    }
    return finish();
  }

 private:
  bool read_verb() {
    if (cursor_.at_end()) return cursor_.fail_next(std::string(kExpectedVerb));
    const std::string_view word = cursor_.take().text;
    if (abbreviates(word, "add")) return true;
    if (abbreviates(word, "change") || word == "chg" || abbreviates(word, "replace")) {
      change_.replace = true;
    } else if (abbreviates(word, "delete")) {
      change_.remove = true;
    } else {
      return cursor_.fail(std::string(kExpectedVerb));
    }
    return true;
  }

  bool read_local() {
    if (local_given_) return cursor_.fail_next("an option of an address or the end of the line");
    if (cursor_.at_end()) return cursor_.fail_next("an address and its prefix length");
    out_.points_at(*cursor_.peek());
    local_given_ = true;
    return cursor_.prefix(local_);
  }
  bool read_peer() {
    peer_given_ = true;
    return cursor_.prefix(peer_);
  }
  bool read_broadcast() {
    if (cursor_.family() == Family::kIpv4 && (cursor_.take_if("+") || cursor_.take_if("-")))
      return true;
    return skip_address();
  }
  bool skip_address() {
    net::Ipv6Address ignored;
    return cursor_.address(ignored);
  }
  bool skip_label() {
    std::string label;
    return cursor_.word("a label", label);
  }
  bool read_metric() { return cursor_.number("a metric", change_.address.metric); }
  bool read_scope() {
    if (cursor_.at_end()) return cursor_.fail_next("a scope");
    return scope_number(cursor_.take().text) ||
           cursor_.fail("a scope: global, link, host or a number of 0 to 255");
  }
  bool read_dev() { return cursor_.device(change_.device); }
  bool read_preferred() { return read_lifetime(preferred_s_); }
  bool read_valid() {
    return read_lifetime(valid_s_) && (valid_s_ != 0 || cursor_.fail("a lifetime of 1 or more"));
  }
  bool read_lifetime(std::uint32_t& out) {
    if (cursor_.take_if("forever")) {
      out = kForever;
      return true;
    }
    return cursor_.number("'forever' or seconds", out);
  }
  bool read_home() {
    change_.address.home = true;
    return true;
  }
  bool read_noprefixroute() {
    change_.address.no_prefix_route = true;
    return true;
  }
  bool skip_flag() { return true; }

  bool finish() {
    if (!local_given_) return cursor_.fail_next("an address and its prefix length");
    if (change_.device.empty()) return cursor_.fail_next("'dev' and a device");
    if (preferred_s_ > valid_s_)
      return cursor_.fail("a preferred lifetime that is not longer than the valid one");
    auto& address = change_.address;
    address.address = local_.address;
    address.prefix_length =
        peer_given_ ? peer_.length : local_.length;  // the length is that of what is on the link
    if (peer_given_ && peer_.address != local_.address) address.peer = peer_.address;
    address.deprecated = preferred_s_ == 0;
    out_.actions.emplace_back(std::move(change_));
    return true;
  }

  using K = Keyword<AddressParser>;
  static const std::array<K, 26> kKeywords;

  Cursor& cursor_;
  Understood& out_;
  lookup::AddressChange change_;
  AddressWithLength local_;
  AddressWithLength peer_;
  std::uint32_t preferred_s_ = kForever;
  std::uint32_t valid_s_ = kForever;
  bool local_given_ = false;
  bool peer_given_ = false;
};

const std::array<AddressParser::K, 26> AddressParser::kKeywords{
    K{"peer", &AddressParser::read_peer, kWhole},
    K{"remote", &AddressParser::read_peer, kWhole},
    K{"broadcast", &AddressParser::read_broadcast},
    K{"brd", &AddressParser::read_broadcast, kWhole},
    K{"anycast", &AddressParser::skip_address, kWhole},
    K{"scope", &AddressParser::read_scope, kWhole},
    K{"dev", &AddressParser::read_dev, kWhole},
    K{"label", &AddressParser::skip_label, kWhole},
    K{"metric", &AddressParser::read_metric},
    K{"priority", &AddressParser::read_metric},
    K{"preference", &AddressParser::read_metric},
    K{"valid_lft", &AddressParser::read_valid},
    K{"preferred_lft", &AddressParser::read_preferred},
    K{"home", &AddressParser::read_home, kWhole},
    K{"noprefixroute", &AddressParser::read_noprefixroute, kWhole},
    K{"nodad", &AddressParser::skip_flag, kWhole},
    K{"optimistic", &AddressParser::skip_flag, kWhole},
    K{"mngtmpaddr", &AddressParser::skip_flag, kWhole},
    K{"secondary", &AddressParser::skip_flag, kWhole},
    K{"temporary", &AddressParser::skip_flag, kWhole},
    K{"deprecated", &AddressParser::skip_flag, kWhole},
    K{"tentative", &AddressParser::skip_flag, kWhole},
    K{"permanent", &AddressParser::skip_flag, kWhole},
    K{"dadfailed", &AddressParser::skip_flag, kWhole},
    K{"stable-privacy", &AddressParser::skip_flag, kWhole},
    K{"local", &AddressParser::read_local, kWhole},
};

}  // namespace

bool parse_address(Cursor& cursor, Understood& out) { return AddressParser(cursor, out).run(); }

}  // namespace sidestep::config
