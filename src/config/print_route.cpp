// SPDX-License-Identifier: Apache-2.0
//
// Routes as `ip -6 route show` prints them (asked of iproute2 6.1 on a 6.18 kernel).
//
// A route is one line of words, each followed by a blank, in a fixed order:
//
//   [TYPE] PREFIX [from PREFIX] [nhid N] [encap …] [via A] [dev D] [proto P] [src A] metric N [FLAGS] [expires Nsec]
//   [METRICS] pref P
//
// `encap` has a second blank before it. The protocol `boot` is not printed, since it is what `ip route add` makes. `pref` is
// printed always, the metric too, even 0. A reject route stands on `dev lo` whatever was given.
//
// A multipath route leaves out `encap`, `via`, `dev` and the flags, and has a line for each hop below it, which begins
// with a tab and ends in a blank. It is one line for a whole ring of siblings (metric, protocol and metrics are those of
// the first), and so is a route over a nexthop group.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "config/names.hpp"
#include "config/print.hpp"

namespace sidestep::config {
namespace {

using fib::Nexthop;
using fib::Route;
using fib::RouteSlot;
using fib::RouteType;

constexpr std::uint8_t kMtu = 2;
constexpr std::uint8_t kRtt = 4;
constexpr std::uint8_t kRttVar = 5;
constexpr std::uint8_t kAdvMss = 8;
constexpr std::uint8_t kHopLimit = 10;
constexpr std::uint8_t kFeatures = 12;
constexpr std::uint8_t kRtoMin = 13;
constexpr std::uint8_t kCongestionControl = 16;

constexpr std::array<std::string_view, 18> kMetricNames{
    "",         "",        "mtu",      "window",     "rtt",      "rttvar",
    "ssthresh", "cwnd",    "advmss",   "reordering", "hoplimit", "initcwnd",
    "features", "rto_min", "initrwnd", "quickack",   "congctl",  "fastopen_no_cookie"};

std::string_view type_name(RouteType type) {
  switch (type) {
    case RouteType::kUnicast:
      return "";
    case RouteType::kLocal:
      return "local ";
    case RouteType::kBroadcast:
      return "broadcast ";
    case RouteType::kAnycast:
      return "anycast ";
    case RouteType::kMulticast:
      return "multicast ";
    case RouteType::kBlackhole:
      return "blackhole ";
    case RouteType::kUnreachable:
      return "unreachable ";
    case RouteType::kProhibit:
      return "prohibit ";
    case RouteType::kThrow:
      return "throw ";
  }
  return "";
}

std::string_view preference_name(fib::RouterPreference preference) {
  switch (preference) {
    case fib::RouterPreference::kLow:
      return "low";
    case fib::RouterPreference::kMedium:
      return "medium";
    case fib::RouterPreference::kHigh:
      return "high";
  }
  return "";
}

std::string prefix_text(const net::Prefix& prefix) {
  if (prefix.length() == 0) return "default";
  if (prefix.length() == net::Prefix::kMaxLength) return prefix.address().to_string();
  return prefix.to_string();
}

// Both `encap` and what follows keep their own blanks.
void append_hop(std::string& out, const Nexthop& hop, const fib::Links& links) {
  if (hop.encap != nullptr && !std::holds_alternative<std::monostate>(*hop.encap)) {
    out += print_encap(*hop.encap, links) + " ";
  }
  if (hop.gateway) out += fmt::format("via {} ", hop.gateway->to_string());
  if (hop.device) out += fmt::format("dev {} ", links.name(hop.device));
}

// A hop without carrier is printed as dead where its device's routes are ignored then, though it may still carry flows.
void append_flags(std::string& out, const RouteSlot& slot, const Nexthop& hop,
                  const fib::Links& links) {
  const fib::Link* link = links.find(hop.device);
  const bool ignored = slot.linkdown && link != nullptr && link->conf.ignore_routes_with_linkdown;
  if (slot.dead || ignored) out += "dead ";
  if (hop.onlink) out += "onlink ";
  if (slot.linkdown) out += "linkdown ";
}

std::string metric_value(std::uint8_t number, std::uint32_t value) {
  if (number == kFeatures) return value == 1 ? "ecn" : fmt::format("{:#x}", value);
  if (number != kRtt && number != kRttVar && number != kRtoMin) return std::to_string(value);
  if (number == kRtt) value /= 8;
  if (number == kRttVar) value /= 4;
  return value >= 1000 ? fmt::format("{:g}s", value / 1000.0) : fmt::format("{}ms", value);
}

// In the order of their RTAX_* numbers.
void append_metrics(std::string& out, const fib::RouteFields& fields) {
  auto values = fields.kept.values;
  std::uint32_t locked = fields.kept.locked;
  if (fields.mtu != 0) values[kMtu] = fields.mtu;
  if (fields.mtu_locked) locked |= 1U << kMtu;
  if (fields.advmss != 0) values[kAdvMss] = fields.advmss;
  if (fields.hop_limit != 0) values[kHopLimit] = fields.hop_limit;
  const auto lock = [&](std::uint8_t number) {
    return (locked & (1U << number)) != 0 ? "lock " : "";
  };
  for (std::size_t index = 0; index < kMetricNames.size(); ++index) {
    const auto number = static_cast<std::uint8_t>(index);
    const auto found = values.find(number);
    if (number == kCongestionControl && !fields.kept.congestion_control.empty()) {
      out += fmt::format("congctl {}{} ", lock(number), fields.kept.congestion_control);
    } else if (found != values.end() && found->second != 0) {
      out += fmt::format("{} {}{} ", kMetricNames[number], lock(number),
                         metric_value(number, found->second));
    }
  }
}

class RoutePrinter {
 public:
  RoutePrinter(const lookup::Fib& fib, TableId table, TimeNs now)
      : links_(fib.links()), table_(table), now_(now) {}

  void append_set(const fib::RouteSet& set) {
    const auto& slots = set.slots;
    for (std::size_t i = 0; i < slots.size();) {
      const auto ring = ring_of(slots, i);
      append_route(slots[i], ring);
      i = ring.size() < 2 ? i + 1 : static_cast<std::size_t>(ring.back() - slots.data()) + 1;
    }
  }
  std::string take() { return std::move(out_); }

 private:
  using Ring = std::vector<const RouteSlot*>;

  // The siblings of a slot. The kernel goes on behind the last of them, so what is interleaved with a ring is not printed.
  static Ring ring_of(const std::vector<RouteSlot>& slots, std::size_t first) {
    Ring ring{&slots[first]};
    if (!slots[first].route->is_ecmp_capable()) return ring;
    for (std::size_t i = first + 1; i < slots.size(); ++i) {
      const Route& route = *slots[i].route;
      if (route->metric == slots[first].route->fields().metric && route.is_ecmp_capable())
        ring.push_back(&slots[i]);
    }
    return ring;
  }

  void append_route(const RouteSlot& slot, const Ring& ring) {
    const fib::RouteFields& fields = slot.route->fields();
    // ip takes the main table of IPv6 to be the only one, and leaves out what used to belong to the local one.
    if (table_ == kTableMain && fields.type == RouteType::kLocal) return;
    const auto* object = fields.object.get();
    const bool blackhole_object = object != nullptr && object->blackhole;
    const bool by_group = object != nullptr && object->group;
    const bool single = ring.size() < 2 && !by_group;
    const Nexthop& hop = slot.route->hop(0);
    out_ += type_name(blackhole_object ? RouteType::kBlackhole : fields.type);
    out_ += prefix_text(fields.destination) + " ";
    if (fields.source.length() != 0) out_ += fmt::format("from {} ", prefix_text(fields.source));
    if (object != nullptr) out_ += fmt::format("nhid {} ", object->id.value);
    if (slot.route->is_reject() || blackhole_object) {
      out_ += "dev lo ";
    } else if (single) {
      append_hop(out_, hop, links_);
    }
    if (fields.protocol != fib::kProtocolBoot)
      out_ += fmt::format("proto {} ", protocol_name(fields.protocol));
    if (fields.preferred_source)
      out_ += fmt::format("src {} ", fields.preferred_source->to_string());
    out_ += fmt::format("metric {} ", fields.metric);
    if (single) append_flags(out_, slot, hop, links_);
    if (fields.expires_at) out_ += fmt::format("expires {}sec ", seconds_left(*fields.expires_at));
    append_metrics(out_, fields);
    out_ += fmt::format("pref {}\n", preference_name(fields.preference));
    if (by_group) {
      for (std::size_t i = 0; i < slot.route->hop_count(); ++i)
        append_nexthop(slot.route->hop(i), slot);
    } else if (!single) {
      for (const RouteSlot* sibling : ring) append_nexthop(sibling->route->hop(0), *sibling);
    }
  }

  void append_nexthop(const Nexthop& hop, const RouteSlot& slot) {
    out_ += "\tnexthop ";
    append_hop(out_, hop, links_);
    out_ += fmt::format("weight {} ", hop.weight);
    append_flags(out_, slot, hop, links_);
    out_ += "\n";
  }

  [[nodiscard]] std::int64_t seconds_left(TimeNs at) const {
    const auto left = static_cast<std::int64_t>(at.value) - static_cast<std::int64_t>(now_.value);
    return left / static_cast<std::int64_t>(kNsPerSecond);
  }

  const fib::Links& links_;
  TableId table_;
  TimeNs now_;
  std::string out_;
};

}  // namespace

std::string print_routes(const lookup::Fib& fib, TableId table, TimeNs now) {
  const fib::Table* found = fib.find_table(table);
  if (found == nullptr) return "";
  RoutePrinter printer(fib, table, now);
  found->for_each([&](const fib::RouteSet& set) { printer.append_set(set); });
  return printer.take();
}

}  // namespace sidestep::config
