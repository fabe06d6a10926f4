// SPDX-License-Identifier: Apache-2.0
// A rule with its device names resolved, ready to be asked about flows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sidestep/net/ids.hpp>
#include <sidestep/rules/flow.hpp>
#include <sidestep/rules/rule.hpp>

namespace sidestep::fib {
class Links;
}

namespace sidestep::rules {

/// The selectors in the order in which the kernel tests them.
enum class Selector : std::uint8_t {
  kNone,  ///< every selector matched
  kIif,
  kOif,
  kFwmark,
  kTunId,
  kL3mdev,
  kUidRange,
  kTo,
  kFrom,
  kDsfield,
  kDscp,
  kFlowLabel,
  kIpproto,
  kSport,
  kDport,
};

/// The word ip-rule(8) has for a selector; "all" for kNone.
[[nodiscard]] const char* selector_word(Selector selector) noexcept;

/// Which devices are enslaved to which VRF, and the VRFs' tables. Immutable; shared by all rules of a compiled list.
class VrfMap {
 public:
  explicit VrfMap(const fib::Links& links);
  /// The VRF that a flow belongs to: that of its output device, else of its input device; empty when there is none.
  [[nodiscard]] std::optional<IfIndex> vrf_of(const Flow& flow) const noexcept;
  [[nodiscard]] bool is_vrf(IfIndex device) const noexcept { return table_of(device).has_value(); }
  [[nodiscard]] std::optional<TableId> table_of(IfIndex vrf) const noexcept;

 private:
  struct Entry {
    IfIndex device{};
    IfIndex vrf{};  ///< the device itself when it is a VRF
    TableId table{};
  };
  [[nodiscard]] const Entry* find(IfIndex device) const noexcept;
  std::vector<Entry> entries_;  // by device; only VRFs and their slaves
};

/// A rule's selectors as masked compares, all of which a flow has to pass; for testing many flows at once.
struct MaskedSelectors {
  /// 16 bytes as two words, in the order in which they lie in memory.
  struct Address {
    std::array<std::uint64_t, 2> mask{};
    std::array<std::uint64_t, 2> value{};
  };
  struct Word {
    std::uint32_t mask = 0;  ///< 0: not asked
    std::uint32_t value = 0;
  };
  Address from{};  ///< when asked, flows without a source fail
  Address to{};
  Word iif{};
  Word oif{};
  Word mark{};
  Word traffic_class{};
  Word flow_label{};
  Word protocol{};
};

/// A rule of a CompiledRuleList. Immutable; refers to the list it is in and lives as long as that.
///
/// Cost: matches() is compares only; no allocation, no lock
class CompiledRule {
 public:
  CompiledRule(const Rule& rule, const fib::Links& links, const VrfMap& vrfs,
               std::optional<std::size_t> goto_index);

  [[nodiscard]] const Rule& rule() const noexcept {
    return *rule_;
  }  ///< as configured, for printing
  [[nodiscard]] std::uint32_t preference() const noexcept { return rule_->preference; }
  [[nodiscard]] Action action() const noexcept { return rule_->action; }
  /// The table to look up for this flow: the rule's, or with `l3mdev` the flow's VRF's. Only for kToTable and a flow
  /// that matches; with `not l3mdev` there is no VRF and the answer is table 0, which does not exist.
  [[nodiscard]] TableId table(const Flow& flow) const noexcept;
  /// Index in the list of the rule to continue with; empty: target unresolved, continue with the next rule.
  [[nodiscard]] std::optional<std::size_t> goto_index() const noexcept { return goto_index_; }
  [[nodiscard]] std::optional<std::uint32_t> suppress_prefix_length() const noexcept {
    return rule_->suppress_prefix_length;
  }
  /// Empty also for 0xffffffff, by which the kernel means no group.
  [[nodiscard]] std::optional<std::uint32_t> suppress_ifgroup() const noexcept {
    return rule_->suppress_ifgroup == 0xffff'ffff ? std::nullopt : rule_->suppress_ifgroup;
  }

  /// Whether the rule's action is to be taken for this flow (`not` included).
  [[nodiscard]] bool matches(const Flow& flow) const noexcept {
    return (first_mismatch(flow) == Selector::kNone) != rule_->invert;
  }
  /// Whether there is no selector at all, so that every flow matches.
  [[nodiscard]] bool matches_everything() const noexcept;
  /// The selectors as masked compares (`not` is the caller's to apply); empty when the rule asks for what is none: a VRF,
  /// ports, a uid, a device that is not there.
  [[nodiscard]] std::optional<MaskedSelectors> masked() const noexcept;
  /// The first selector that the flow fails, before `not` is applied; kNone when it meets all.
  [[nodiscard]] Selector first_mismatch(const Flow& flow) const noexcept;
  /// Why matches() answers as it does, one clause. Not for the packet path: allocates.
  [[nodiscard]] std::string reason(const Flow& flow) const;
  /// Whether this rule makes the input path dissect packets for upper-layer protocol and ports.
  [[nodiscard]] bool needs_ports() const noexcept;

 private:
  /// What a device selector was resolved to.
  struct DeviceSelector {
    bool given = false;
    bool vrf = false;  ///< the device is a VRF: it is compared with the flow's VRF
    IfIndex index{};   ///< none: no such device now, so no flow matches
  };
  [[nodiscard]] static DeviceSelector resolve(const std::string& name, const fib::Links& links,
                                              const VrfMap& vrfs);
  [[nodiscard]] bool device_matches(const DeviceSelector& selector, IfIndex device,
                                    const Flow& flow) const noexcept;
  [[nodiscard]] Selector device_mismatch(const Flow& flow) const noexcept;
  [[nodiscard]] Selector address_mismatch(const Flow& flow) const noexcept;
  [[nodiscard]] Selector header_mismatch(const Flow& flow) const noexcept;

  const Rule* rule_;
  const VrfMap* vrfs_;
  DeviceSelector iif_;
  DeviceSelector oif_;
  std::optional<std::size_t> goto_index_;
};

}  // namespace sidestep::rules
