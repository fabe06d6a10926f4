// SPDX-License-Identifier: Apache-2.0
// A routing table: prefixes, per prefix an ordered list of routes, and the kernel's rules for adding and replacing them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <sidestep/fib/route.hpp>
#include <sidestep/net/ids.hpp>
#include <sidestep/net/prefix.hpp>
#include <sidestep/result.hpp>

namespace sidestep::fib {

/// One route in a prefix's list, with what changes without the route changing.
struct RouteSlot {
  const Route* route = nullptr;
  bool dead = false;      ///< device down (RTNH_F_DEAD); only ring siblings stay in this state
  bool linkdown = false;  ///< no carrier (RTNH_F_LINKDOWN)
  std::int32_t upper_bound = 0x7fffffff;  ///< ring siblings: last hash value of the share; -1: none
};

/// The routes of one (destination, source) prefix pair in metric order, older first. Immutable once published.
struct RouteSet {
  std::vector<RouteSlot> slots{};
};

/// Netlink flags of a route request.
struct InsertFlags {
  bool create = true;
  bool exclusive = false;
  bool replace = false;
  bool append = false;
  bool linkdown = false;  ///< the new route's device has no carrier: its slot starts that way
};

/// What a delete request names; empty or zero fields match anything.
struct RouteMatch {
  std::optional<std::uint32_t> metric{};
  std::optional<std::uint8_t> protocol{};
  std::optional<RouteType> type{};
  IfIndex device{};
  std::optional<net::Ipv6Address> gateway{};
  NexthopId nexthop_id{};
  bool single_hop = false;  ///< one leg of a multipath delete: never takes the rest of a ring along
};

struct TrieNode;  // the source files know it

/// What a lookup that starts at a prefix meets first.
struct FirstCandidate {
  const RouteSet* set =
      nullptr;  ///< the sourceless routes of the longest prefix; nullptr: none, or hidden by the next
  bool source_specific =
      false;  ///< that prefix has source-specific routes: what is met depends on the source
};

/// What an update does with a slot.
enum class SlotFate : std::uint8_t { kKeep, kRemove };

class Table {
 public:
  explicit Table(TableId id);
  ~Table();  ///< retires every route; no reader may use the table any more
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  [[nodiscard]] TableId id() const noexcept { return id_; }

  // Writer.

  /// Adds or replaces as the kernel does (kernel semantics: metric order, rings, EXCL/REPLACE/APPEND). Takes the route over: on an
  /// error it has been retired. Displaced routes are unlinked and retired. Ring shares are computed again.
  /// Errors: EEXIST, ENOENT (replace without create).
  Result<const Route*> insert(Route* route, InsertFlags flags);
  /// Removes the first route that matches, or its whole ring when no gateway was named.
  /// @return  number of routes removed
  /// Errors:  ESRCH
  Result<std::size_t> erase(const net::Prefix& destination, const net::Prefix& source,
                            const RouteMatch& match);
  /// Lets `change` edit each slot's flags, remove it, or put another route of the same prefixes and metric in its place (the
  /// old one is retired), publishes the sets that changed, computes ring shares again.
  void update(const std::function<SlotFate(RouteSlot&)>& change);
  /// The same for one prefix pair.
  void update(const net::Prefix& destination, const net::Prefix& source,
              const std::function<SlotFate(RouteSlot&)>& change);
  /// Computes all ring shares again and publishes those that changed.
  void rebalance();
  /// Which ring siblings get a share of the hash space; set by the owner, asked at each insert, erase and update.
  void set_share_predicate(std::function<bool(const RouteSlot&)> usable);
  /// Is told of every destination whose routes have changed: after readers can see the change, before what was displaced
  /// is retired. So whoever keeps pointers to routes drops them in time.
  void set_observer(std::function<void(const net::Prefix& destination)> changed);

  // Readers, inside a read section (or the writer).

  /// Prefixes that cover a destination, longest first, with the kernel's order for source-specific ones.
  ///
  /// A prefix that has source-specific routes gives those whose source prefix covers `source`, longest first. If none does, the
  /// first descent skips the prefix altogether, its sourceless routes included (kernel quirk), except at ::/0.
  /// While backtracking (after a candidate had nothing usable) the sourceless routes of such a prefix do come, after its
  /// source-specific ones, as in the kernel's climb.
  class Walk {
   public:
    Walk(const Table& table, const net::Ipv6Address& destination,
         const net::Ipv6Address& source) noexcept;
    /// The next candidate set, or nullptr at the end.
    [[nodiscard]] const RouteSet* next() noexcept;

   private:
    /// The longest candidate; passes over the sourceless routes of prefixes whose source-specific ones do not match.
    [[nodiscard]] const RouteSet* first() noexcept;
    /// The candidate after the one that the cursor stands on.
    [[nodiscard]] const RouteSet* climb() noexcept;
    /// The longest source prefix of a subtree that is shorter than `below`; moves the source cursor there.
    [[nodiscard]] const RouteSet* source_specific(const TrieNode& subtree, unsigned below) noexcept;

    const TrieNode* root_;
    const TrieNode* node_ = nullptr;  // cursor; nullptr after the start: at the end
    const TrieNode* source_node_ =
        nullptr;  // inside node_'s subtree, when the candidate is source-specific
    net::Ipv6Address destination_;
    net::Ipv6Address source_;
    bool started_ = false;
  };

  /// The longest prefix that covers all of `destination` and has routes.
  [[nodiscard]] FirstCandidate first_candidate(const net::Prefix& destination) const noexcept;
  /// Whether this destination has routes, sourceless or source-specific.
  [[nodiscard]] bool has(const net::Prefix& destination) const noexcept;
  /// Every destination that has routes and lies inside `range`, the range itself included. Writer.
  void for_each_inside(const net::Prefix& range,
                       const std::function<void(const net::Prefix&)>& visit) const;
  /// The set of exactly this prefix pair, or nullptr.
  [[nodiscard]] const RouteSet* get(const net::Prefix& destination,
                                    const net::Prefix& source) const noexcept;
  /// Every set, in the order in which the kernel dumps a table (source-specific first, then the 0 branch, the 1 branch, the node).
  void for_each(const std::function<void(const RouteSet&)>& visit) const;
  [[nodiscard]] std::size_t route_count() const noexcept {
    return route_count_.load(std::memory_order_relaxed);
  }
  /// Whether any source-specific route is here.
  [[nodiscard]] bool has_source_specific() const noexcept {
    return source_specific_count_.load(std::memory_order_relaxed) != 0;
  }

 private:
  /// What is stored for a prefix pair, replaced by `slots`; publishes with one pointer store. Empty slots: removed.
  void store(const net::Prefix& destination, const net::Prefix& source,
             std::vector<RouteSlot> slots);
  void update_set(const RouteSet& set, const std::function<SlotFate(RouteSlot&)>& change);

  TableId id_;
  TrieNode* root_;  // ::/0; lives as long as the table
  std::function<bool(const RouteSlot&)> usable_;
  std::function<void(const net::Prefix&)> changed_;
  // Counts for whoever asks; written by the writer alone and ordering nothing, hence relaxed and without a partner.
  std::atomic<std::size_t> route_count_{0};
  std::atomic<std::size_t> source_specific_count_{0};
};

}  // namespace sidestep::fib
