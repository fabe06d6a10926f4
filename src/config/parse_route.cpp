// SPDX-License-Identifier: Apache-2.0
// `route VERB …`, in the form that is typed and in the form that `ip -6 route show` prints.
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "config/parser.hpp"

namespace sidestep::config {
namespace {

using fib::RouteType;
using lookup::NexthopSpec;
using lookup::RouteChange;
using lookup::RouteVerb;

// RTAX_* numbers of linux/rtnetlink.h.
enum Metric : std::uint8_t {
  kWindow = 3,
  kRtt = 4,
  kRttVar = 5,
  kSsthresh = 6,
  kCwnd = 7,
  kAdvMss = 8,
  kReordering = 9,
  kHopLimit = 10,
  kInitCwnd = 11,
  kFeatures = 12,
  kRtoMin = 13,
  kInitRwnd = 14,
  kQuickAck = 15,
  kFastOpenNoCookie = 17,
};

struct VerbName {
  std::string_view text;
  std::optional<RouteVerb> verb;
  bool abbreviable = true;
};
// In ip's order; those without a verb change nothing.
constexpr std::array kVerbs{VerbName{"list", {}},
                            VerbName{"show", {}},
                            VerbName{"lst", {}},
                            VerbName{"get", {}},
                            VerbName{"add", RouteVerb::kAdd},
                            VerbName{"change", RouteVerb::kChange},
                            VerbName{"chg", RouteVerb::kChange, false},
                            VerbName{"replace", RouteVerb::kReplace},
                            VerbName{"prepend", RouteVerb::kPrepend},
                            VerbName{"append", RouteVerb::kAppend},
                            VerbName{"test", {}},
                            VerbName{"delete", RouteVerb::kDelete}};
constexpr std::string_view kExpectedVerb = "a change: add, append, prepend, replace, change or del";

struct TypeName {
  std::string_view text;
  std::optional<RouteType> type;
  bool abbreviable = true;
};
constexpr std::array kTypes{
    TypeName{"local", RouteType::kLocal, false},  TypeName{"nat", {}, false},
    TypeName{"broadcast", RouteType::kBroadcast}, TypeName{"brd", RouteType::kBroadcast, false},
    TypeName{"anycast", RouteType::kAnycast},     TypeName{"multicast", RouteType::kMulticast},
    TypeName{"prohibit", RouteType::kProhibit},   TypeName{"unreachable", RouteType::kUnreachable},
    TypeName{"blackhole", RouteType::kBlackhole}, TypeName{"xresolve", {}},
    TypeName{"unicast", RouteType::kUnicast},     TypeName{"throw", RouteType::kThrow, false}};

template <typename Names>
auto find_name(const Names& names, std::string_view word) {
  for (auto name = names.begin(); name != names.end(); ++name) {
    if (name->abbreviable ? abbreviates(word, name->text) : word == name->text) return name;
  }
  return names.end();
}

class RouteParser {
 public:
  RouteParser(Cursor& cursor, Understood& out) : cursor_(cursor), out_(out) {}

  bool run() {
    if (!read_verb()) return false;
    while (!cursor_.at_end()) {
      const Word& word = cursor_.take();
      const auto* keyword = find_keyword<RouteParser>(kKeywords, word.text);
      if (!(keyword != nullptr ? (this->*keyword->read)() : read_destination(word))) return false;
    }
    return finish();
  }

 private:
  bool read_verb() {
    if (cursor_.at_end()) return cursor_.fail_next(std::string(kExpectedVerb));
    const Word& word = cursor_.take();
    const auto found = find_name(kVerbs, word.text);
    if (found == kVerbs.end() || !found->verb) return cursor_.fail(std::string(kExpectedVerb));
    route_.verb = *found->verb;
    return true;
  }

  // [to] [TYPE] PREFIX. A word that begins with a digit is never a type.
  bool read_destination(const Word& first) {
    const Word* word = &first;
    if (word->text == "to") {
      if (cursor_.at_end()) return expect_destination();
      word = &cursor_.take();
    }
    const bool digit = !word->text.empty() && word->text[0] >= '0' && word->text[0] <= '9';
    const auto type = digit ? kTypes.end() : find_name(kTypes, word->text);
    if (type != kTypes.end()) {
      if (!type->type) return cursor_.fail("a route type of IPv6");
      route_.type = *type->type;
      if (cursor_.at_end()) return expect_destination();
      word = &cursor_.take();
    }
    return read_prefix(*word);
  }

  bool expect_destination() {
    return cursor_.fail_next("a destination prefix, 'default' or 'all'");
  }

  bool read_prefix(const Word& word) {
    if (destination_given_)
      return cursor_.fail_at(word, "an option of a route or the end of the line");
    cursor_.step_back();
    AddressWithLength destination;
    if (!cursor_.prefix(destination)) return false;
    route_.destination = destination.prefix();
    destination_given_ = true;
    out_.points_at(word);
    return true;
  }

  bool read_src() {
    net::Ipv6Address address;
    if (!cursor_.address(address)) return false;
    route_.preferred_source = address;
    return true;
  }
  bool read_as() {  // the new destination of a NAT route; IPv6 has none and ignores it
    static_cast<void>(cursor_.take_if("to"));
    net::Ipv6Address address;
    return cursor_.address(address);
  }
  bool read_via() {
    if (hop_.gateway) return cursor_.fail("one 'via'; several ways are written with 'nexthop'");
    net::Ipv6Address gateway;
    if (!cursor_.gateway(gateway)) return false;
    hop_.gateway = gateway;
    return true;
  }
  bool read_from() {
    AddressWithLength source;
    if (!cursor_.prefix(source)) return false;
    route_.source = source.length == 0 ? std::nullopt : std::optional(source.prefix());
    return true;
  }
  bool read_tos() {
    if (cursor_.at_end()) return cursor_.fail_next("a traffic class");
    const auto value = dsfield_number(cursor_.take().text);
    if (!value)
      return cursor_.fail(
          "a traffic class: a name such as AF11 or a hexadecimal number of 0 to ff");
    if (*value != 0 && cursor_.family() == Family::kIpv6)
      return cursor_.fail("no traffic class: IPv6 routes have none");
    return true;
  }
  bool read_expires() {
    if (cursor_.at_end()) return cursor_.fail_next("a number of seconds");
    std::string_view text = cursor_.take().text;
    if (text.ends_with("sec")) text.remove_suffix(3);  // as printed
    const auto seconds = parse_number(text);
    if (!seconds || *seconds > UINT32_MAX)
      return cursor_.fail("a number of seconds of 0 to 4294967295");
    route_.expires_s = static_cast<std::uint32_t>(*seconds);
    return true;
  }
  bool read_metric() {
    std::uint32_t metric = 0;
    if (!cursor_.number("a metric", metric)) return false;
    route_.metric = metric == 0 ? std::nullopt : std::optional(metric);  // 0 means: not given
    return true;
  }
  bool read_scope() {
    if (cursor_.at_end()) return cursor_.fail_next("a scope");
    return scope_number(cursor_.take().text) ||
           cursor_.fail("a scope: global, link, host or a number of 0 to 255");
  }
  bool read_pref() {
    if (cursor_.at_end()) return cursor_.fail_next("'low', 'medium' or 'high'");
    const std::string_view text = cursor_.take().text;
    if (text == "low" || text == "3") {  // RFC 4191 encodes low as 3 (-1 in two bits)
      route_.preference = fib::RouterPreference::kLow;
    } else if (text == "medium" || text == "0") {
      route_.preference = fib::RouterPreference::kMedium;
    } else if (text == "high" || text == "1") {
      route_.preference = fib::RouterPreference::kHigh;
    } else {
      return cursor_.fail("'low', 'medium' or 'high'");
    }
    return true;
  }

  bool read_lock() { return cursor_.take_if("lock"); }
  bool read_mtu() {
    if (read_lock()) route_.mtu_locked = true;
    return cursor_.number("an MTU", route_.mtu);
  }
  bool read_hoplimit() {
    lock_if_given(kHopLimit);
    return cursor_.number("a hop limit", route_.hop_limit, 0, 255);
  }
  bool read_advmss() {
    lock_if_given(kAdvMss);
    return cursor_.number("an MSS", route_.advmss);
  }
  void lock_if_given(Metric metric) {
    if (read_lock()) route_.kept.locked |= 1U << metric;
  }
  bool keep_number(Metric metric, std::uint32_t most = UINT32_MAX) {
    lock_if_given(metric);
    std::uint32_t value = 0;
    if (!cursor_.number("a metric value", value, 0U, most)) return false;
    route_.kept.values[metric] = value;
    return true;
  }
  bool read_reordering() { return keep_number(kReordering); }
  bool read_window() { return keep_number(kWindow); }
  bool read_cwnd() { return keep_number(kCwnd); }
  bool read_initcwnd() { return keep_number(kInitCwnd); }
  bool read_initrwnd() { return keep_number(kInitRwnd); }
  bool read_ssthresh() { return keep_number(kSsthresh); }
  bool read_quickack() { return keep_number(kQuickAck, 1); }
  bool read_fastopen() { return keep_number(kFastOpenNoCookie, 1); }
  bool read_rtt() { return keep_time(kRtt, 8); }
  bool read_rttvar() { return keep_time(kRttVar, 4); }
  bool read_rto_min() {
    route_.kept.locked |= 1U << kRtoMin;
    return keep_time(kRtoMin, 1);
  }
  // Times are stored in fractions of a millisecond when a unit is given, raw when not.
  bool keep_time(Metric metric, std::uint32_t per_millisecond) {
    lock_if_given(metric);
    if (cursor_.at_end()) return cursor_.fail_next("a time");
    const auto value = parse_time(cursor_.take().text, per_millisecond);
    if (!value) return cursor_.fail("a time such as 20ms or 1.5s");
    route_.kept.values[metric] = *value;
    return true;
  }
  static std::optional<std::uint32_t> parse_time(std::string_view text,
                                                 std::uint32_t per_millisecond) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.begin(), text.end(), number);
    if (error != std::errc{} || !(number >= 0)) return std::nullopt;
    const std::string_view unit(end, text.end());
    double factor = 1;
    if (unit == "ms" || unit == "msec" || unit == "msecs") {
      factor = per_millisecond;
    } else if (unit == "s" || unit == "sec" || unit == "secs") {
      factor = 1000.0 * per_millisecond;
    } else if (!unit.empty()) {
      return std::nullopt;
    }
    const double value = number * factor;
    if (value > static_cast<double>(UINT32_MAX)) return std::nullopt;
    return static_cast<std::uint32_t>(value);
  }
  bool read_features() {
    if (!cursor_.take_if("ecn")) return cursor_.fail_next("'ecn'");
    route_.kept.values[kFeatures] = 1;
    return true;
  }
  bool read_congctl() {
    if (read_lock()) route_.kept.locked |= 1U << 16;
    return cursor_.word("the name of a congestion control", route_.kept.congestion_control);
  }
  bool read_realms() {
    std::string realms;
    return cursor_.word("a realm", realms);
  }
  bool read_onlink() {
    hop_.onlink = true;
    return true;
  }
  bool read_nhid() {
    nhid_given_ = true;
    return cursor_.number("a nexthop id", route_.nexthop_id.value, 1);
  }
  bool read_protocol() {
    std::uint8_t protocol = 0;
    if (!cursor_.protocol(protocol)) return false;
    route_.protocol = protocol == 0 ? std::nullopt : std::optional(protocol);
    return true;
  }
  bool read_table() {
    TableId table;
    if (!cursor_.table(table)) return false;
    route_.table = table.value == 0 ? kTableMain : table;
    return true;
  }
  bool read_dev() { return cursor_.device(hop_.device); }
  bool read_encap() { return parse_encap(cursor_, hop_); }
  bool read_vrf() { return cursor_.fail("'table': a VRF is named by its table"); }
  bool read_ttl_propagate() {
    if (cursor_.take_if("enabled") || cursor_.take_if("disabled")) return true;
    return cursor_.fail_next("'enabled' or 'disabled'");
  }
  bool skip_word() { return true; }
  bool skip_value() {
    std::string ignored;
    return cursor_.word("a value", ignored);
  }

  // nexthop [via A] [dev D] [weight N] [onlink] [encap …] …, to the end of the line.
  bool read_nexthops() {
    route_.multipath = true;
    while (true) {
      if (cursor_.at_end()) return cursor_.fail_next("'via' or 'dev' behind 'nexthop'");
      if (!read_one_nexthop()) return false;
      if (cursor_.at_end()) return true;
      if (!cursor_.take_if("nexthop")) return cursor_.fail_next("'nexthop' or the end of the line");
    }
  }
  bool read_one_nexthop() {
    NexthopSpec hop;
    while (!cursor_.at_end() && cursor_.peek()->text != "nexthop") {
      const std::string_view word = cursor_.peek()->text;
      if (word == "via") {
        cursor_.take();
        if (hop.gateway) return cursor_.fail("one 'via' for each 'nexthop'");
        net::Ipv6Address gateway;
        if (!cursor_.gateway(gateway)) return false;
        hop.gateway = gateway;
      } else if (word == "dev") {
        cursor_.take();
        if (!cursor_.device(hop.device)) return false;
      } else if (word == "weight") {
        cursor_.take();
        if (!cursor_.number("a weight", hop.weight, 1, 256)) return false;
      } else if (word == "encap") {
        cursor_.take();
        if (!parse_encap(cursor_, hop)) return false;
      } else if (abbreviates(word, "realms")) {
        cursor_.take();
        if (!read_realms()) return false;
      } else if (word == "onlink") {
        cursor_.take();
        hop.onlink = true;
      } else if (word == "dead" || word == "linkdown" || word == "pervasive") {  // as printed
        cursor_.take();
      } else {
        return cursor_.fail_next("'nexthop' or the end of the line");
      }
    }
    route_.hops.push_back(std::move(hop));
    return true;
  }

  bool finish() {
    if (!destination_given_) return expect_destination();
    if (nhid_given_) {
      // A printed route names the object and what the object says. Only the name counts: ip itself refuses both.
      route_.hops.clear();
      route_.multipath = false;
      if (route_.type == RouteType::kBlackhole) route_.type.reset();
    } else if (route_.multipath) {
      inherit_route_hop();
    } else {
      route_.hops.push_back(std::move(hop_));
    }
    set_table_of_type();
    out_.actions.emplace_back(std::move(route_));
    return true;
  }
  // What is written before the first `nexthop` holds where a nexthop does not say otherwise; an encapsulation does not.
  void inherit_route_hop() {
    for (NexthopSpec& hop : route_.hops) {
      if (hop.device.empty()) hop.device = hop_.device;
      if (!hop.gateway) hop.gateway = hop_.gateway;
      hop.onlink = hop.onlink || hop_.onlink;
    }
  }
  void set_table_of_type() {
    if (route_.table || !route_.type) return;
    if (route_.type == RouteType::kLocal || route_.type == RouteType::kBroadcast ||
        route_.type == RouteType::kAnycast) {
      route_.table = kTableLocal;
    }
  }

  using K = Keyword<RouteParser>;
  static const std::array<K, 46> kKeywords;

  Cursor& cursor_;
  Understood& out_;
  RouteChange route_;
  NexthopSpec hop_;
  bool destination_given_ = false;
  bool nhid_given_ = false;
};

const std::array<RouteParser::K, 46> RouteParser::kKeywords{
    K{"src", &RouteParser::read_src, kWhole},
    K{"as", &RouteParser::read_as, kWhole},
    K{"via", &RouteParser::read_via, kWhole},
    K{"from", &RouteParser::read_from, kWhole},
    K{"tos", &RouteParser::read_tos, kWhole},
    K{"dsfield", &RouteParser::read_tos},
    K{"expires", &RouteParser::read_expires, kWhole},
    K{"metric", &RouteParser::read_metric},
    K{"priority", &RouteParser::read_metric},
    K{"preference", &RouteParser::read_metric, kWhole},
    K{"scope", &RouteParser::read_scope, kWhole},
    K{"mtu", &RouteParser::read_mtu, kWhole},
    K{"hoplimit", &RouteParser::read_hoplimit, kWhole},
    K{"advmss", &RouteParser::read_advmss, kWhole},
    K{"reordering", &RouteParser::read_reordering},
    K{"rtt", &RouteParser::read_rtt, kWhole},
    K{"window", &RouteParser::read_window},
    K{"cwnd", &RouteParser::read_cwnd},
    K{"initcwnd", &RouteParser::read_initcwnd},
    K{"initrwnd", &RouteParser::read_initrwnd},
    K{"features", &RouteParser::read_features},
    K{"quickack", &RouteParser::read_quickack},
    K{"congctl", &RouteParser::read_congctl},
    K{"rttvar", &RouteParser::read_rttvar},
    K{"ssthresh", &RouteParser::read_ssthresh},
    K{"realms", &RouteParser::read_realms},
    K{"onlink", &RouteParser::read_onlink, kWhole},
    K{"nexthop", &RouteParser::read_nexthops, kWhole},
    K{"nhid", &RouteParser::read_nhid, kWhole},
    K{"protocol", &RouteParser::read_protocol},
    K{"table", &RouteParser::read_table},
    K{"vrf", &RouteParser::read_vrf, kWhole},
    K{"dev", &RouteParser::read_dev, kWhole},
    K{"oif", &RouteParser::read_dev, kWhole},
    K{"pref", &RouteParser::read_pref},
    K{"encap", &RouteParser::read_encap, kWhole},
    K{"ttl-propagate", &RouteParser::read_ttl_propagate, kWhole},
    K{"fastopen_no_cookie", &RouteParser::read_fastopen},
    K{"rto_min", &RouteParser::read_rto_min, kWhole},
    // Printed, not typed: states of the moment, which say nothing about the configuration.
    K{"dead", &RouteParser::skip_word, kWhole},
    K{"linkdown", &RouteParser::skip_word, kWhole},
    K{"pervasive", &RouteParser::skip_word, kWhole},
    K{"offload", &RouteParser::skip_word, kWhole},
    K{"trap", &RouteParser::skip_word, kWhole},
    K{"error", &RouteParser::skip_value, kWhole},
    K{"uid", &RouteParser::skip_value, kWhole},
};

}  // namespace

bool parse_route(Cursor& cursor, Understood& out) { return RouteParser(cursor, out).run(); }

}  // namespace sidestep::config
