// SPDX-License-Identifier: Apache-2.0
// The oracle of Table: a list of routes and the kernel's rules written down as filters over all of it. Slow, and simple
// enough to be seen to be right. Shares no code with the trie nor with the planning of changes.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include <sidestep/fib/table.hpp>

namespace sidestep::fib {

class FlatTable {
 public:
  struct Entry {
    RouteFields fields{};
    bool dead = false;
    bool linkdown = false;
  };
  using Pair = std::pair<net::Prefix, net::Prefix>;  // destination, source

  /// 0 or the errno.
  int insert(const RouteFields& added, InsertFlags flags) {
    const auto same = indexes_if([&](const Entry& e) {
      return pair_of(e) == Pair{added.destination, added.source} && e.fields.metric == added.metric;
    });
    if (flags.exclusive && !same.empty()) return EEXIST;
    if (flags.replace && !flags.exclusive) return replace(added, flags, same);
    for (const auto i : same) {
      if (!is_duplicate(entries_[i].fields, added)) continue;
      if (entries_[i].fields.expires_at) {
        entries_[i].fields.expires_at = added.expires_at;
        if (added.mtu != 0) entries_[i].fields.mtu = added.mtu;
      }
      return EEXIST;
    }
    entries_.push_back(Entry{.fields = added, .linkdown = flags.linkdown});
    return 0;
  }

  /// Number of routes removed.
  std::size_t erase(const net::Prefix& destination, net::Prefix source, const RouteMatch& match) {
    if (!any_if([&](const Entry& e) {
          return e.fields.destination == destination && e.fields.source.length() != 0;
        })) {
      source = net::Prefix();
    }
    for (const Entry& entry : at({destination, source})) {
      if (!matches(entry.fields, match)) continue;
      const std::uint32_t tag = entry.fields.advmss;
      const bool ring = is_ecmp(entry.fields) && !match.gateway && !match.single_hop;
      return std::erase_if(entries_, [pair = Pair{destination, source},
                                      metric = entry.fields.metric, tag, ring](const Entry& e) {
        return ring ? pair_of(e) == pair && e.fields.metric == metric && is_ecmp(e.fields)
                    : e.fields.advmss == tag;
      });
    }
    return 0;
  }

  /// The entries of a prefix pair in metric order, older first.
  [[nodiscard]] std::vector<Entry> at(const Pair& pair) const {
    std::vector<Entry> found;
    std::ranges::copy_if(entries_, std::back_inserter(found),
                         [&](const Entry& e) { return pair_of(e) == pair; });
    std::ranges::stable_sort(found, {}, [](const Entry& e) { return e.fields.metric; });
    return found;
  }

  /// All pairs that a lookup tries, in order.
  [[nodiscard]] std::vector<Pair> walk(const net::Ipv6Address& destination,
                                       const net::Ipv6Address& source) const {
    std::vector<Pair> pairs =
        distinct_pairs([&](const Entry& e) { return e.fields.destination.covers(destination); });
    // Longer destinations first; of one destination longer sources first, so the sourceless routes last.
    std::ranges::sort(pairs, std::greater(), [](const Pair& pair) {
      return std::pair(pair.first.length(), pair.second.length());
    });
    std::vector<Pair> tried;
    bool matched = false;  // something at an earlier, longer destination
    for (auto at_prefix = pairs.begin(); at_prefix != pairs.end();) {
      const net::Prefix prefix = at_prefix->first;
      const auto end = std::find_if(at_prefix, pairs.end(),
                                    [&](const Pair& pair) { return pair.first != prefix; });
      const auto specific = static_cast<std::size_t>(std::count_if(
          at_prefix, end, [](const Pair& pair) { return pair.second.length() != 0; }));
      const auto before = tried.size();
      std::copy_if(at_prefix, end, std::back_inserter(tried), [&](const Pair& pair) {
        return pair.second.length() != 0 && pair.second.covers(source);
      });
      // Until anything matched, source-specific routes hide the sourceless ones beside them, except in ::/0.
      const bool hidden =
          !matched && specific != 0 && tried.size() == before && prefix.length() != 0;
      if (!hidden && (end - 1)->second.length() == 0) tried.push_back(*(end - 1));
      matched = !tried.empty();
      at_prefix = end;
    }
    return tried;
  }

  /// All pairs in the order of a dump: of a prefix first its source-specific routes, then whatever lies inside it, the
  /// 0 branch before the 1 branch, then its sourceless routes.
  [[nodiscard]] std::vector<Pair> dump_order() const {
    std::vector<Pair> pairs = distinct_pairs([](const Entry&) { return true; });
    std::ranges::sort(pairs, [](const Pair& a, const Pair& b) {
      if (a.first == b.first) return a.second != b.second && is_inside_or_left(a.second, b.second);
      if (a.first.covers(b.first)) return a.second.length() != 0;
      if (b.first.covers(a.first)) return b.second.length() == 0;
      return a.first.address() < b.first.address();
    });
    return pairs;
  }

  /// The share of an entry among those of its prefix pair: all outside rings and in a ring of one, -1 for a dead sibling.
  [[nodiscard]] static std::int32_t upper_bound(const Entry& entry, const std::vector<Entry>& set) {
    long double total = 0;
    long double before = 0;
    std::size_t members = 0;
    bool passed = false;
    for (const Entry& other : set) {
      if (other.fields.metric != entry.fields.metric || !is_ecmp(other.fields)) continue;
      ++members;
      const long double weight = other.dead ? 0 : other.fields.hop.weight;
      total += weight;
      if (!passed) before += weight;
      if (other.fields.advmss == entry.fields.advmss) passed = true;
    }
    if (!is_ecmp(entry.fields) || members < 2) return 0x7fffffff;
    return entry.dead
               ? -1
               : static_cast<std::int32_t>(std::floor(before * 2147483648.0L / total + 0.5L) - 1);
  }

  [[nodiscard]] std::vector<Entry>& entries() { return entries_; }
  [[nodiscard]] static bool is_ecmp(const RouteFields& f) {
    return f.hop.gateway.has_value() && !f.is_ra_learned && f.object == nullptr;
  }

 private:
  static Pair pair_of(const Entry& e) { return {e.fields.destination, e.fields.source}; }

  template <typename Predicate>
  [[nodiscard]] std::vector<std::size_t> indexes_if(Predicate predicate) const {
    std::vector<std::size_t> indexes;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (predicate(entries_[i])) indexes.push_back(i);
    }
    return indexes;
  }
  template <typename Predicate>
  [[nodiscard]] bool any_if(Predicate predicate) const {
    return std::ranges::any_of(entries_, predicate);
  }

  int replace(const RouteFields& added, InsertFlags flags, const std::vector<std::size_t>& same) {
    if (same.empty()) {
      if (!flags.create) return ENOENT;
      entries_.push_back(Entry{.fields = added, .linkdown = flags.linkdown});
      return 0;
    }
    std::size_t victim = same.front();
    for (const auto i : same) {
      if (is_ecmp(entries_[i].fields) == is_ecmp(added)) {
        victim = i;
        break;
      }
    }
    const bool was_ecmp = is_ecmp(entries_[victim].fields);
    entries_[victim] = Entry{.fields = added, .linkdown = flags.linkdown};
    if (!was_ecmp) return 0;
    std::erase_if(entries_, [&](const Entry& e) {
      return pair_of(e) == Pair{added.destination, added.source} &&
             e.fields.metric == added.metric && is_ecmp(e.fields) &&
             e.fields.advmss != added.advmss;
    });
    return 0;
  }

  static bool is_duplicate(const RouteFields& a, const RouteFields& b) {
    if (a.object != nullptr || b.object != nullptr)
      return a.object && b.object && a.object->id == b.object->id;
    const auto encap = [](const RouteFields& f) { return f.hop.encap ? *f.hop.encap : Encap(); };
    const auto device = [](const RouteFields& f) {
      return f.type >= RouteType::kBlackhole ? kLoopbackIndex : f.hop.device;
    };
    return device(a) == device(b) && a.hop.gateway == b.hop.gateway && encap(a) == encap(b);
  }

  static bool matches(const RouteFields& f, const RouteMatch& match) {
    const IfIndex device = f.type >= RouteType::kBlackhole ? kLoopbackIndex : f.hop.device;
    const bool object_agrees = !match.nexthop_id || (f.object && f.object->id == match.nexthop_id);
    const bool hop_agrees =
        f.object ||
        ((!match.device || match.device == device) &&
         (!match.gateway || match.gateway == f.hop.gateway.value_or(net::Ipv6Address{})));
    return (!match.metric || *match.metric == f.metric) &&
           (!match.protocol || *match.protocol == f.protocol) &&
           (!match.type || *match.type == f.type) && object_agrees && hop_agrees;
  }

  template <typename Predicate>
  [[nodiscard]] std::vector<Pair> distinct_pairs(Predicate predicate) const {
    std::vector<Pair> pairs;
    for (const Entry& entry : entries_) {
      if (predicate(entry)) pairs.push_back(pair_of(entry));
    }
    std::ranges::sort(pairs);
    const auto repeated = std::ranges::unique(pairs);
    pairs.erase(repeated.begin(), repeated.end());
    return pairs;
  }

  static bool is_inside_or_left(const net::Prefix& a, const net::Prefix& b) {
    if (a.covers(b)) return false;
    return b.covers(a) || a.address() < b.address();
  }

  std::vector<Entry> entries_;
};

}  // namespace sidestep::fib
