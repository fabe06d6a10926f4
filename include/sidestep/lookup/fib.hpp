// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sidestep/fib/link.hpp>
#include <sidestep/lookup/answer.hpp>
#include <sidestep/lookup/change.hpp>
#include <sidestep/lookup/flow.hpp>
#include <sidestep/result.hpp>
#include <sidestep/rules/rule.hpp>

namespace sidestep::fib {
class Table;
}

namespace sidestep::lookup {

struct Explanation;

/// What a neighbor's state means to route selection.
enum class NeighborHealth : std::uint8_t {
  kUnknown,     ///< no entry
  kValid,       ///< packets may be sent with it
  kFailed,      ///< resolution failed
  kIncomplete,  ///< an entry that is neither: being resolved
};

/// Asks the neighbor table of whoever embeds the FIB. A plain function: no allocation, no lock.
struct NeighborOracle {
  const void* context = nullptr;
  NeighborHealth (*health)(const void* context, IfIndex device,
                           const net::Ipv6Address& address) = nullptr;
  /// Whether a neighbor is known to be a router; nullptr: all are taken for one. Asked when exceptions are collected.
  bool (*is_router)(const void* context, IfIndex device, const net::Ipv6Address& address) = nullptr;
};

/// Everything that decides where a packet goes: devices, tables, nexthop objects, rules, and the lookups over them.
///
/// One writer thread calls apply(); any number of registered readers look up meanwhile.
class Fib {
 public:
  static constexpr std::uint64_t kDefaultMultipathSeed = 0x5349'4445'5354'4550;

  /// A router as the kernel boots it: `lo` up, rules 0 (local) and 32766 (main), forwarding off.
  /// @param multipath_seed  key of the hash that spreads flows over equal-cost hops; the same seed gives the same choices
  explicit Fib(NeighborOracle neighbors = {}, std::uint64_t multipath_seed = kDefaultMultipathSeed);
  ~Fib();
  Fib(const Fib&) = delete;
  Fib& operator=(const Fib&) = delete;

  /// Makes one change, or none: on an error nothing has changed, except where the kernel itself leaves a part done
  /// (multipath replace).
  ///
  /// @param now  when: routes with a lifetime count from here
  /// Errors:   the errno and the words the kernel would answer with (EEXIST, ENOENT, ESRCH, EINVAL, EHOSTUNREACH, ENODEV …)
  /// Thread:   writer
  Result<void> apply(const Change& change, TimeNs now = {});

  // Lookups. Thread: registered reader inside a read section. They borrow and write nothing shared.

  /// Input: a packet received on `flow.iif` (kernel: ip6_route_input).
  [[nodiscard]] Answer input(const Flow& flow) const;
  /// The same for many: their loads overlap, and the whole of a block of 64 sees one rule list.
  /// @param answers  as many as flows, asserted; each is replaced
  void input(std::span<const Flow> flows, std::span<Answer> answers) const;
  /// Output: locally generated (kernel: ip6_route_output). `flow.oif` optional, `flow.has_source` as the caller knows it.
  [[nodiscard]] Answer output(const Flow& flow) const;
  /// input() and output() by the plain walk over rules and tables, which they are compared with and fall back on.
  [[nodiscard]] Answer input_by_walk(const Flow& flow) const;
  [[nodiscard]] Answer output_by_walk(const Flow& flow) const;
  /// One table, no rules (kernel: ip6_pol_route as SRv6 calls it); a missing table gives blackhole_dst().
  [[nodiscard]] Answer table(TableId table, const Flow& flow) const;
  /// The same with the walk recorded. Not for the packet path: allocates.
  [[nodiscard]] Answer input_explained(const Flow& flow, Explanation& explanation) const;
  [[nodiscard]] Answer output_explained(const Flow& flow, Explanation& explanation) const;

  /// RFC 6724 source selection toward `destination` over `device` (none: any); empty when there is no candidate.
  [[nodiscard]] std::optional<net::Ipv6Address> select_source(const net::Ipv6Address& destination,
                                                              IfIndex device) const;

  /// The hash by which a flow chooses among equal-cost hops, of the fields that fib_multipath_hash_policy asks for; never 0. For
  /// callers that know better than the flow to be looked up what to hash: an ICMPv6 error follows the packet it is about.
  /// @param inner  what the packet carries, when it is a tunnel's: policy 3 may ask for its fields; nullptr: nothing
  [[nodiscard]] std::uint32_t multipath_hash(const Flow& flow, const Flow* inner = nullptr) const;

  // Views. Borrowed until the next quiescent state (readers) or the next apply (writer).
  [[nodiscard]] const fib::Links& links() const;
  [[nodiscard]] const fib::Sysctls& sysctls() const;
  [[nodiscard]] std::span<const rules::Rule> rules() const;
  /// Whether a rule asks for upper-layer protocol or ports of received packets. If not, a flow's protocol is the packet's
  /// first next header and its ports are 0 (kernel: flow dissection happens only when a rule needs it).
  [[nodiscard]] bool needs_ports() const;
  /// Ids of existing tables, ascending.
  [[nodiscard]] std::vector<TableId> table_ids() const;
  [[nodiscard]] const fib::Table* find_table(TableId table) const;
  /// SID counters given away so far, numbered from 1 (fib::SidCounterId). Each route that counts has its own; numbers are not
  /// used again. Any thread.
  [[nodiscard]] std::uint32_t sid_counter_count() const;
  /// Nexthop objects, by id ascending.
  [[nodiscard]] std::vector<std::shared_ptr<const fib::NexthopObject>> nexthops() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sidestep::lookup
