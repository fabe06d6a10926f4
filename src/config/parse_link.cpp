// SPDX-License-Identifier: Apache-2.0
// `link add|set|del …`. Only what routing sees of a device is kept; the rest is read and accepted.
#include <array>

#include <fmt/format.h>

#include "config/parser.hpp"

namespace sidestep::config {
namespace {

using lookup::LinkChange;

constexpr std::string_view kExpectedVerb = "a change: add, set or del";

// The arguments of one device: those of the line itself, or those of a veth's peer.
class LinkParser {
 public:
  LinkParser(Cursor& cursor, Understood& out, bool create) : cursor_(cursor), out_(out) {
    change_.create = create;
  }

  bool run() {
    while (!cursor_.at_end()) {
      const auto* keyword = find_keyword<LinkParser>(kKeywords, cursor_.take().text);
      if (!(keyword != nullptr ? (this->*keyword->read)() : read_bare_name())) return false;
    }
    return true;
  }

  // A line of its own: the device, then its peer.
  bool finish() {
    if (name_.empty()) return cursor_.fail_next("the name of a device");
    if (change_.create && change_.kind.empty())
      return cursor_.fail_next("'type' and the type of the device");
    if (change_.kind == "vrf" && change_.create && !change_.vrf_table)
      return cursor_.fail_next("'table' and a table");
    change_.name = name_;
    out_.actions.emplace_back(std::move(change_));
    if (!peer_.name.empty()) out_.actions.emplace_back(std::move(peer_));
    return true;
  }
  // The peer of a veth: no actions of its own. Without a name it is somewhere outside of this configuration.
  LinkChange take_peer() {
    change_.name = name_;
    change_.kind = "veth";
    return std::move(change_);
  }

 private:
  bool read_bare_name() {
    if (!name_.empty()) return cursor_.fail("an option of a device or the end of the line");
    cursor_.step_back();
    return read_name();
  }
  // `name` and `dev` both name the device; a second name would be a new one.
  bool read_name() {
    std::string name;
    if (!cursor_.device(name)) return false;
    if (!name_.empty())
      return cursor_.fail("one name: a device keeps the name that it was made with");
    if (out_.object.column == 0) out_.points_at(cursor_.last());
    name_ = std::move(name);
    return true;
  }
  bool read_up() {
    change_.up = true;
    return true;
  }
  bool read_down() {
    change_.up = false;
    return true;
  }
  bool read_state() {
    std::string state;
    return cursor_.word("a state", state);
  }
  bool read_carrier() { return cursor_.on_off(change_.carrier.emplace()); }
  bool read_address() { return cursor_.mac(change_.mac.emplace()); }
  bool skip_mac() {
    net::MacAddress ignored;
    return cursor_.mac(ignored);
  }
  bool read_mtu() {
    if (change_.mtu) return cursor_.fail("one 'mtu'");
    return cursor_.number("an MTU", change_.mtu.emplace(), 68);
  }
  bool read_group() {
    if (name_.empty() && !change_.create)
      return cursor_.fail("the name of one device before 'group'");
    return cursor_.group(change_.group.emplace());
  }
  bool read_master() { return cursor_.device(change_.master.emplace()); }
  bool read_nomaster() {
    change_.master = "";
    return true;
  }
  bool read_addrgenmode() {
    constexpr std::string_view kExpected = "'eui64' or 'none', the modes that need no secret";
    if (cursor_.take_if("eui64")) {
      change_.addr_gen_mode = 0;
    } else if (cursor_.take_if("none")) {
      change_.addr_gen_mode = 1;
    } else {
      return cursor_.fail_next(std::string(kExpected));
    }
    return true;
  }
  bool skip_device() {
    std::string ignored;
    return cursor_.device(ignored);
  }
  bool skip_value() {
    std::string ignored;
    return cursor_.word("a value", ignored);
  }
  bool skip_number() {
    std::uint32_t ignored = 0;
    return cursor_.number("a number", ignored);
  }
  bool skip_on_off() {
    bool ignored = false;
    return cursor_.on_off(ignored);
  }
  bool refuse_netns() { return cursor_.fail("no 'netns': a configuration describes one router"); }

  bool read_type() {
    if (!cursor_.word("the type of a device", change_.kind)) return false;
    if (change_.kind == "vrf") return read_vrf();
    if (change_.kind == "veth") return read_veth();
    cursor_.skip_rest();  // arguments of a type that means nothing here
    return true;
  }
  bool read_vrf() {
    while (!cursor_.at_end()) {
      if (!abbreviates(cursor_.peek()->text, "table"))
        return cursor_.fail_next("'table' and a table");
      cursor_.take();
      TableId table;
      if (!cursor_.table(table)) return false;
      if (table.value == 0) return cursor_.fail("a table other than 0");
      change_.vrf_table = table;
    }
    return true;
  }
  bool read_veth() {
    if (cursor_.at_end()) return true;
    if (!cursor_.take_if("peer")) return cursor_.fail_next("'peer' or the end of the line");
    Understood nowhere;
    LinkParser peer(cursor_, nowhere, true);
    if (!peer.run()) return false;
    peer_ = peer.take_peer();
    return true;
  }

  using K = Keyword<LinkParser>;
  static const std::array<K, 43> kKeywords;

  Cursor& cursor_;
  Understood& out_;
  LinkChange change_;
  LinkChange peer_;
  std::string name_;
};

const std::array<LinkParser::K, 43> LinkParser::kKeywords{
    K{"up", &LinkParser::read_up, kWhole},
    K{"down", &LinkParser::read_down, kWhole},
    K{"name", &LinkParser::read_name, kWhole},
    K{"index", &LinkParser::skip_number, kWhole},
    K{"link", &LinkParser::skip_device},
    K{"address", &LinkParser::read_address},
    K{"broadcast", &LinkParser::skip_mac},
    K{"brd", &LinkParser::skip_mac, kWhole},
    K{"txqueuelen", &LinkParser::skip_number},
    K{"txqlen", &LinkParser::skip_number, kWhole},
    K{"qlen", &LinkParser::skip_number, kWhole},
    K{"mtu", &LinkParser::read_mtu, kWhole},
    K{"netns", &LinkParser::refuse_netns, kWhole},
    K{"multicast", &LinkParser::skip_on_off, kWhole},
    K{"allmulticast", &LinkParser::skip_on_off, kWhole},
    K{"promisc", &LinkParser::skip_on_off, kWhole},
    K{"trailers", &LinkParser::skip_on_off, kWhole},
    K{"arp", &LinkParser::skip_on_off, kWhole},
    K{"carrier", &LinkParser::read_carrier, kWhole},
    K{"dynamic", &LinkParser::skip_on_off},
    K{"type", &LinkParser::read_type},
    K{"alias", &LinkParser::skip_value, kWhole},
    K{"group", &LinkParser::read_group, kWhole},
    K{"mode", &LinkParser::skip_value, kWhole},
    K{"state", &LinkParser::read_state, kWhole},
    K{"master", &LinkParser::read_master},
    K{"vrf", &LinkParser::read_master, kWhole},
    K{"nomaster", &LinkParser::read_nomaster},
    K{"addrgenmode", &LinkParser::read_addrgenmode},
    K{"numtxqueues", &LinkParser::skip_number},
    K{"numrxqueues", &LinkParser::skip_number},
    K{"protodown", &LinkParser::skip_on_off, kWhole},
    K{"protodown_reason", &LinkParser::skip_value, kWhole},
    K{"gso_max_size", &LinkParser::skip_number, kWhole},
    K{"gso_max_segs", &LinkParser::skip_number, kWhole},
    K{"gro_max_size", &LinkParser::skip_number, kWhole},
    K{"xdp", &LinkParser::skip_value, kWhole},
    K{"link-netnsid", &LinkParser::skip_value, kWhole},
    K{"parentdev", &LinkParser::skip_value, kWhole},
    K{"altname", &LinkParser::skip_value, kWhole},
    K{"token", &LinkParser::skip_value, kWhole},
    K{"dev", &LinkParser::read_name, kWhole},
    K{"metric", &LinkParser::skip_number, kWhole},
};

bool parse_link_delete(Cursor& cursor, Understood& out) {
  if (cursor.peek(1) != nullptr) static_cast<void>(cursor.take_if("dev"));
  lookup::LinkDelete change;
  if (!cursor.device(change.name)) return false;
  out.points_at(cursor.last());
  if (cursor.take_if("type")) cursor.skip_rest();
  out.actions.emplace_back(std::move(change));
  return true;
}

}  // namespace

bool parse_link(Cursor& cursor, Understood& out) {
  if (cursor.at_end()) return cursor.fail_next(std::string(kExpectedVerb));
  const std::string_view verb = cursor.take().text;
  if (abbreviates(verb, "add")) {
    LinkParser parser(cursor, out, true);
    return parser.run() && parser.finish();
  }
  if (abbreviates(verb, "set") || abbreviates(verb, "change")) {
    LinkParser parser(cursor, out, false);
    return parser.run() && parser.finish();
  }
  if (abbreviates(verb, "delete")) return parse_link_delete(cursor, out);
  return cursor.fail(std::string(kExpectedVerb));
}

}  // namespace sidestep::config
