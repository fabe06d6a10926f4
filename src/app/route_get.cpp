// SPDX-License-Identifier: Apache-2.0
//
// `sidestep route get` answers as `ip -6 route get` does. The words are those of ip-route(8), which may come in any order;
// a word that is no keyword is the destination. What the kernel does with them (inet6_rtm_getroute):
//
//   with `iif`     an input lookup: `from` takes part in rules only when it is given; `oif` is not used; the flow has no uid
//                  unless one is given; the answer's `src` is the route's own preferred source, if any
//   without        an output lookup, strict on `oif` unless a source is given; the answer's `src` is the preferred source, else
//                  the one RFC 6724 selects on the route's device, whatever `from` says
//   on an error    only the error's words (RTNETLINK answers: …), nothing on stdout
//
// Deliberate differences: exit status 1 where ip has 2 (ours keeps 2 for usage); any `ipproto` is taken, where the kernel
// refuses all but TCP, UDP and ICMPv6; `flowlabel` is ours (iproute2 6.1 does not know it; newer ones do).
#include "app/route_get.hpp"

#include <cstdio>
#include <cstring>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <sidestep/fib/route.hpp>
#include <sidestep/lookup/explain.hpp>
#include <sidestep/lookup/fib.hpp>

#include "app/exit_code.hpp"
#include "app/explain.hpp"
#include "app/router.hpp"
#include "config/names.hpp"
#include "config/print.hpp"

namespace sidestep::app {
namespace {

using nlohmann::ordered_json;

/// The words, understood; devices still by name.
struct Query {
  std::optional<net::Ipv6Address> destination;
  std::optional<net::Ipv6Address> source;
  std::string iif;
  std::string oif;
  rules::Flow flow{};
};

template <typename T>
bool take_number(std::string_view text, std::uint64_t max, T& value) {
  const auto number = config::parse_number(text);
  if (!number || *number > max) return false;
  value = static_cast<T>(*number);
  return true;
}

/// An address, with or without /128: a lookup has no other prefix length.
std::optional<net::Ipv6Address> parse_host(std::string_view text) {
  if (text.ends_with("/128")) text.remove_suffix(4);
  return net::Ipv6Address::parse(text);
}

std::string expected(std::string_view keyword, std::string_view value, std::string_view what) {
  return fmt::format("'{}' after '{}': {} is expected", value, keyword, what);
}

/// Understands one keyword with its value; the error says what was expected.
std::optional<std::string> take_pair(Query& query, std::string_view keyword,
                                     const std::string& value) {
  auto& flow = query.flow;
  if (keyword == "to" || keyword == "from") {
    const auto address = parse_host(value);
    if (!address) return expected(keyword, value, "an IPv6 address");
    (keyword == "to" ? query.destination : query.source) = address;
  } else if (keyword == "iif") {
    query.iif = value;
  } else if (keyword == "oif" || keyword == "dev") {
    query.oif = value;
  } else if (keyword == "mark") {
    if (!take_number(value, UINT32_MAX, flow.mark))
      return expected(keyword, value, "a number of 32 bits");
  } else if (keyword == "tos" || keyword == "dsfield") {
    const auto dsfield = config::dsfield_number(value);
    if (!dsfield)
      return expected(keyword, value, "a traffic class (hexadecimal, or a name such as EF)");
    flow.traffic_class = *dsfield;
  } else if (keyword == "ipproto") {
    const auto protocol = config::ip_protocol_number(value);
    if (!protocol) return expected(keyword, value, "a protocol's name or number");
    flow.protocol = *protocol;
  } else if (keyword == "sport") {
    if (!take_number(value, UINT16_MAX, flow.source_port))
      return expected(keyword, value, "a port");
  } else if (keyword == "dport") {
    if (!take_number(value, UINT16_MAX, flow.destination_port))
      return expected(keyword, value, "a port");
  } else if (keyword == "flowlabel") {
    if (!take_number(value, 0xfffff, flow.flow_label))
      return expected(keyword, value, "a number of 20 bits");
  } else if (keyword == "uid") {
    std::uint32_t uid = 0;
    if (!take_number(value, UINT32_MAX - 1, uid))
      return expected(keyword, value, "a user's number");
    flow.uid = uid;
  }
  return std::nullopt;
}

bool is_keyword(std::string_view word) {
  for (const char* keyword : {"to", "from", "iif", "oif", "dev", "mark", "tos", "dsfield",
                              "ipproto", "sport", "dport", "flowlabel", "uid"}) {
    if (word == keyword) return true;
  }
  return false;
}

/// All words; the error is for the user.
Result<Query> parse(const std::vector<std::string>& words) {
  Query query;
  query.flow.uid.reset();
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    std::optional<std::string> error;
    if (is_keyword(word)) {
      if (i + 1 == words.size()) return failure(EINVAL, fmt::format("'{}' wants a value", word));
      error = take_pair(query, word, words[++i]);
    } else if (query.destination) {
      error = fmt::format(
          "'{}': from, iif, oif, mark, tos, ipproto, sport, dport, flowlabel or uid is expected",
          word);
    } else if (query.destination = parse_host(word); !query.destination) {
      error = fmt::format("'{}': an IPv6 address is expected", word);
    }
    if (error) return failure(EINVAL, *error);
  }
  if (!query.destination) return failure(EINVAL, "a destination address is missing");
  return query;
}

/// Device names to indices; an unknown one is reported as ip does. The uid that is not given is that of the superuser
/// for output (who may ask the kernel) and none for input.
bool resolve(Query& query, const Router& router) {
  for (const auto& [name, index] :
       {std::pair{&query.iif, &query.flow.iif}, {&query.oif, &query.flow.oif}}) {
    if (name->empty()) continue;
    const fib::Link* link = router.links().find(std::string_view(*name));
    if (link == nullptr) {
      fmt::print(stderr, "Cannot find device \"{}\"; the configuration has {}\n", *name,
                 router.device_names());
      return false;
    }
    *index = link->index;
  }
  query.flow.destination = *query.destination;
  query.flow.source = query.source.value_or(net::Ipv6Address{});
  query.flow.has_source = !query.flow.source.is_unspecified();
  if (query.iif.empty()) {
    query.flow.iif = kLoopbackIndex;
    if (!query.flow.uid) query.flow.uid = 0;
  } else {
    query.flow.oif = {};
  }
  return true;
}

const char* type_name(fib::RouteType type) {
  switch (type) {
    case fib::RouteType::kUnicast:
      return "unicast";
    case fib::RouteType::kLocal:
      return "local";
    case fib::RouteType::kBroadcast:
      return "broadcast";
    case fib::RouteType::kAnycast:
      return "anycast";
    case fib::RouteType::kMulticast:
      return "multicast";
    case fib::RouteType::kBlackhole:
      return "blackhole";
    case fib::RouteType::kUnreachable:
      return "unreachable";
    case fib::RouteType::kProhibit:
      return "prohibit";
    case fib::RouteType::kThrow:
      return "throw";
  }
  return "unknown";
}

const char* preference_name(fib::RouterPreference preference) {
  switch (preference) {
    case fib::RouterPreference::kLow:
      return "low";
    case fib::RouterPreference::kMedium:
      return "medium";
    case fib::RouterPreference::kHigh:
      return "high";
  }
  return "medium";
}

/// What is printed of a good answer, in ip's order.
struct Found {
  const fib::RouteFields& route;
  const fib::DstFields& dst;
  std::string device;
  TableId table;
  std::optional<net::Ipv6Address> source;
};

Found describe(const Query& query, const lookup::Answer& answer, const Router& router) {
  const auto& route = answer.route()->fields();
  const auto& dst = answer.dst.get().fields();
  // An address of the router itself is printed on lo, whatever device it is configured on.
  Found found{route, dst, router.links().name(dst.device), answer.table, route.preferred_source};
  if (!found.source && query.iif.empty()) {
    found.source =
        router.fib().select_source(query.flow.destination, answer.route()->hop(0).device);
  }
  return found;
}

std::string text_of(const Query& query, const Found& found, const Router& router) {
  const auto& route = found.route;
  std::string text;
  if (route.type != fib::RouteType::kUnicast) text += fmt::format("{} ", type_name(route.type));
  text +=
      fmt::format("{} from {}", query.flow.destination.to_string(), query.flow.source.to_string());
  if (found.dst.encap != nullptr) {
    // iproute2 puts a blank before and behind an encapsulation.
    const std::string encap = config::print_encap(*found.dst.encap, router.links());
    if (!encap.empty()) text += " " + encap;
  }
  if (found.dst.has_gateway) text += fmt::format(" via {}", found.dst.gateway.to_string());
  text += fmt::format(" dev {}", found.device);
  if (found.table != kTableMain) text += fmt::format(" table {}", config::table_name(found.table));
  if (route.protocol != fib::kProtocolBoot)
    text += fmt::format(" proto {}", config::protocol_name(route.protocol));
  if (found.source) text += fmt::format(" src {}", found.source->to_string());
  text += fmt::format(" metric {}", route.metric);
  if (route.mtu != 0) text += fmt::format(" mtu {}{}", route.mtu_locked ? "lock " : "", route.mtu);
  if (route.advmss != 0) text += fmt::format(" advmss {}", route.advmss);
  if (route.hop_limit != 0) text += fmt::format(" hoplimit {}", route.hop_limit);
  if (!query.iif.empty()) text += fmt::format(" iif {}", query.iif);
  return text + fmt::format(" pref {}", preference_name(route.preference));
}

ordered_json json_of(const Query& query, const Found& found, const Router& router) {
  const auto& route = found.route;
  ordered_json object;
  if (route.type != fib::RouteType::kUnicast) object["type"] = type_name(route.type);
  object["dst"] = query.flow.destination.to_string();
  object["from"] = query.flow.source.to_string();
  if (found.dst.encap != nullptr) {
    std::string encap = config::print_encap(*found.dst.encap, router.links());
    encap.erase(0, encap.find_first_not_of(' '));
    object["encap"] = encap;
  }
  if (found.dst.has_gateway) object["gateway"] = found.dst.gateway.to_string();
  object["dev"] = found.device;
  if (found.table != kTableMain) object["table"] = config::table_name(found.table);
  if (route.protocol != fib::kProtocolBoot)
    object["protocol"] = config::protocol_name(route.protocol);
  if (found.source) object["prefsrc"] = found.source->to_string();
  object["metric"] = route.metric;
  if (route.mtu != 0) object["mtu"] = route.mtu;
  if (route.mtu != 0 && route.mtu_locked) object["mtu_locked"] = true;
  if (route.advmss != 0) object["advmss"] = route.advmss;
  if (route.hop_limit != 0) object["hoplimit"] = route.hop_limit;
  if (!query.iif.empty()) object["iif"] = query.iif;
  object["pref"] = preference_name(route.preference);
  return object;
}

lookup::Answer look_up(const Query& query, const Router& router, lookup::Explanation& explanation) {
  return query.iif.empty() ? router.fib().output_explained(query.flow, explanation)
                           : router.fib().input_explained(query.flow, explanation);
}

std::string dump(const ordered_json& object) {
  return object.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace

int route_get(const RouteGetOptions& options) {
  auto query = parse(options.words);
  if (!query) return fail_usage(query.error().message);
  Router router;
  if (!router.load(options.config)) return kExitFailed;
  if (!resolve(*query, router)) return kExitFailed;

  const rcu::ReadSection section;
  lookup::Explanation explanation;
  const auto answer = look_up(*query, router, explanation);
  name_rules(explanation, router.fib());
  const int error = answer.error();
  const bool found = error == 0 && answer.route() != nullptr;
  if (options.json) {
    auto object = found ? json_of(*query, describe(*query, answer, router), router)
                        : ordered_json{{"dst", query->flow.destination.to_string()},
                                       {"errno", error},
                                       {"error", std::strerror(error)}};
    if (options.explain) object["explanation"] = explanation_json(explanation);
    fmt::print("{}\n", dump(object));
  } else if (found) {
    fmt::print("{}\n", text_of(*query, describe(*query, answer, router), router));
  }
  if (options.explain && !options.json) fmt::print("{}", explanation_text(explanation, 2));
  if (!found) fmt::print(stderr, "RTNETLINK answers: {}\n", std::strerror(error));
  return found ? kExitOk : kExitFailed;
}

}  // namespace sidestep::app
