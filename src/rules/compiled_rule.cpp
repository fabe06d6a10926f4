// SPDX-License-Identifier: Apache-2.0
// Matching one rule.
//
// The kernel tests a rule's selectors in a fixed order (fib_rule_match, then fib6_rule_match) and stops at the first that
// fails; `not` inverts the outcome of all of them together. The order cannot be seen in the outcome, but it decides
// which selector is named as the reason, so it is kept.
//
// What a compiled rule adds to a rule is what depends on devices: names become indexes, and a name that no device has
// becomes an index that no flow has, so that the rule waits for the device. A device that is a VRF is compared with
// the flow's VRF instead of its device, and `l3mdev` takes the table of the flow's VRF.
//
// Two points that look like mistakes and are not. Locally generated traffic has iif lo, so `iif lo` selects it.
// A flow without a source (output before source selection) fails every `from`, so that `not from` takes it.
#include <sidestep/rules/compiled_rule.hpp>

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include <sidestep/fib/link.hpp>

namespace sidestep::rules {
namespace {

std::uint8_t dscp_of(const Flow& flow) {
  return static_cast<std::uint8_t>(flow.traffic_class >> 2);
}

bool port_matches(const std::optional<PortRange>& range, std::uint16_t port) {
  return !range || (range->first <= port && port <= range->last);
}

// The invalid uid is above every range that can be configured.
bool uid_matches(const Rule& rule, const std::optional<std::uint32_t>& uid) {
  return !rule.uid_first || (uid && *rule.uid_first <= *uid && *uid <= rule.uid_last);
}

std::string flow_value(Selector selector, const Flow& flow) {
  switch (selector) {
    case Selector::kIif:
      return fmt::format("device {}", flow.iif.value);
    case Selector::kOif:
      return fmt::format("device {}", flow.oif.value);
    case Selector::kFwmark:
      return fmt::format("{:#x}", flow.mark);
    case Selector::kTunId:
      return "no tunnel";
    case Selector::kL3mdev:
      return "no VRF";
    case Selector::kUidRange:
      return flow.uid ? fmt::format("{}", *flow.uid) : "no uid";
    case Selector::kTo:
      return flow.destination.to_string();
    case Selector::kFrom:
      return flow.has_source ? flow.source.to_string() : "no source yet";
    case Selector::kDsfield:
      return fmt::format("{:#04x}", flow.traffic_class & 0xfc);
    case Selector::kDscp:
      return fmt::format("{}", dscp_of(flow));
    case Selector::kFlowLabel:
      return fmt::format("{:#x}", flow.flow_label);
    case Selector::kIpproto:
      return fmt::format("{}", flow.protocol);
    case Selector::kSport:
      return fmt::format("{}", flow.source_port);
    case Selector::kDport:
      return fmt::format("{}", flow.destination_port);
    case Selector::kNone:
      break;
  }
  return "";
}

}  // namespace

const char* selector_word(Selector selector) noexcept {
  switch (selector) {
    case Selector::kNone:
      return "all";
    case Selector::kIif:
      return "iif";
    case Selector::kOif:
      return "oif";
    case Selector::kFwmark:
      return "fwmark";
    case Selector::kTunId:
      return "tun_id";
    case Selector::kL3mdev:
      return "l3mdev";
    case Selector::kUidRange:
      return "uidrange";
    case Selector::kTo:
      return "to";
    case Selector::kFrom:
      return "from";
    case Selector::kDsfield:
      return "tos";
    case Selector::kDscp:
      return "dscp";
    case Selector::kFlowLabel:
      return "flowlabel";
    case Selector::kIpproto:
      return "ipproto";
    case Selector::kSport:
      return "sport";
    case Selector::kDport:
      return "dport";
  }
  return "?";
}

VrfMap::VrfMap(const fib::Links& links) {
  for (const auto& [index, link] : links.all()) {
    const fib::Link* vrf = links.vrf_of(index);
    if (vrf == nullptr) continue;
    entries_.push_back(Entry{.device = index, .vrf = vrf->index, .table = *vrf->vrf_table});
  }
}

const VrfMap::Entry* VrfMap::find(IfIndex device) const noexcept {
  const auto found = std::ranges::lower_bound(entries_, device, {}, &Entry::device);
  return found != entries_.end() && found->device == device ? &*found : nullptr;
}

std::optional<IfIndex> VrfMap::vrf_of(const Flow& flow) const noexcept {
  if (entries_.empty()) return std::nullopt;
  const Entry* entry = nullptr;
  if (flow.oif) {
    entry = find(flow.oif);
  } else if (flow.iif > kLoopbackIndex) {
    entry = find(flow.iif);
  }
  return entry == nullptr ? std::nullopt : std::optional(entry->vrf);
}

std::optional<TableId> VrfMap::table_of(IfIndex vrf) const noexcept {
  const Entry* entry = find(vrf);
  return entry == nullptr || entry->vrf != vrf ? std::nullopt : std::optional(entry->table);
}

CompiledRule::CompiledRule(const Rule& rule, const fib::Links& links, const VrfMap& vrfs,
                           std::optional<std::size_t> goto_index)
    : rule_(&rule),
      vrfs_(&vrfs),
      iif_(resolve(rule.iif, links, vrfs)),
      oif_(resolve(rule.oif, links, vrfs)),
      goto_index_(goto_index) {}

CompiledRule::DeviceSelector CompiledRule::resolve(const std::string& name, const fib::Links& links,
                                                   const VrfMap& vrfs) {
  DeviceSelector selector{.given = !name.empty()};
  const fib::Link* link = selector.given ? links.find(name) : nullptr;
  if (link != nullptr) {
    selector.index = link->index;
    selector.vrf = vrfs.is_vrf(link->index);
  }
  return selector;
}

TableId CompiledRule::table(const Flow& flow) const noexcept {
  if (!rule_->l3mdev) return rule_->table;
  const auto vrf = vrfs_->vrf_of(flow);
  return vrf ? vrfs_->table_of(*vrf).value_or(TableId{}) : TableId{};
}

bool CompiledRule::device_matches(const DeviceSelector& selector, IfIndex device,
                                  const Flow& flow) const noexcept {
  if (!selector.given) return true;
  if (!selector.index) return false;
  return selector.vrf ? vrfs_->vrf_of(flow) == selector.index : device == selector.index;
}

Selector CompiledRule::device_mismatch(const Flow& flow) const noexcept {
  if (!device_matches(iif_, flow.iif, flow)) return Selector::kIif;
  if (!device_matches(oif_, flow.oif, flow)) return Selector::kOif;
  if (((rule_->fwmark ^ flow.mark) & rule_->fwmask) != 0) return Selector::kFwmark;
  if (rule_->tun_id != 0) return Selector::kTunId;  // no packet here comes with a tunnel key
  if (rule_->l3mdev && !vrfs_->vrf_of(flow)) return Selector::kL3mdev;
  if (!uid_matches(*rule_, flow.uid)) return Selector::kUidRange;
  return Selector::kNone;
}

Selector CompiledRule::address_mismatch(const Flow& flow) const noexcept {
  if (!rule_->to.covers(flow.destination)) return Selector::kTo;
  if (rule_->from.length() == 0) return Selector::kNone;
  return flow.has_source && rule_->from.covers(flow.source) ? Selector::kNone : Selector::kFrom;
}

Selector CompiledRule::header_mismatch(const Flow& flow) const noexcept {
  if (rule_->dscp) {
    if (((*rule_->dscp ^ dscp_of(flow)) & rule_->dscp_mask) != 0) return Selector::kDscp;
  } else if (rule_->dsfield != 0 && (rule_->dsfield >> 2) != dscp_of(flow)) {
    return Selector::kDsfield;
  }
  if (rule_->flow_label && ((*rule_->flow_label ^ flow.flow_label) & rule_->flow_label_mask) != 0) {
    return Selector::kFlowLabel;
  }
  if (rule_->ipproto != 0 && rule_->ipproto != flow.protocol) return Selector::kIpproto;
  if (!port_matches(rule_->sport, flow.source_port)) return Selector::kSport;
  if (!port_matches(rule_->dport, flow.destination_port)) return Selector::kDport;
  return Selector::kNone;
}

Selector CompiledRule::first_mismatch(const Flow& flow) const noexcept {
  if (const Selector selector = device_mismatch(flow); selector != Selector::kNone) return selector;
  if (const Selector selector = address_mismatch(flow); selector != Selector::kNone)
    return selector;
  return header_mismatch(flow);
}

std::string CompiledRule::reason(const Flow& flow) const {
  const Selector selector = first_mismatch(flow);
  const char* inverted = rule_->invert ? ", which `not` inverts" : "";
  if (selector == Selector::kNone) return fmt::format("every selector matches{}", inverted);
  const bool detached =
      (selector == Selector::kIif && !iif_.index) || (selector == Selector::kOif && !oif_.index);
  if (detached)
    return fmt::format("{} does not match: no such device{}", selector_word(selector), inverted);
  return fmt::format("{} does not match: the flow has {}{}", selector_word(selector),
                     flow_value(selector, flow), inverted);
}

bool CompiledRule::needs_ports() const noexcept {
  const bool local_only = iif_.index == kLoopbackIndex;
  return !local_only &&
         (rule_->ipproto != 0 || rule_->sport.has_value() || rule_->dport.has_value());
}

namespace {

MaskedSelectors::Address masked_address(const net::Prefix& prefix) {
  net::Ipv6Address mask;
  for (unsigned bit = 0; bit < prefix.length(); ++bit)
    mask.bytes[bit / 8] = static_cast<std::uint8_t>(mask.bytes[bit / 8] | (0x80U >> (bit % 8)));
  MaskedSelectors::Address masked;
  std::memcpy(masked.mask.data(), mask.bytes.data(), sizeof masked.mask);
  std::memcpy(masked.value.data(), prefix.address().bytes.data(), sizeof masked.value);
  return masked;
}

MaskedSelectors::Word masked_word(std::uint32_t value, std::uint32_t mask) {
  return {.mask = mask, .value = value & mask};
}

}  // namespace

std::optional<MaskedSelectors> CompiledRule::masked() const noexcept {
  const Rule& rule = *rule_;
  const auto is_plain = [](const DeviceSelector& device) {
    return !device.given || (device.index && !device.vrf);
  };
  const bool more_than_masks =
      rule.l3mdev || rule.tun_id != 0 || rule.uid_first || rule.sport || rule.dport;
  if (more_than_masks || !is_plain(iif_) || !is_plain(oif_)) return std::nullopt;
  constexpr std::uint32_t kAll = ~std::uint32_t{0};
  MaskedSelectors masked;
  masked.from = masked_address(rule.from);
  masked.to = masked_address(rule.to);
  if (iif_.given) masked.iif = masked_word(iif_.index.value, kAll);
  if (oif_.given) masked.oif = masked_word(oif_.index.value, kAll);
  masked.mark = masked_word(rule.fwmark, rule.fwmask);
  constexpr unsigned kDscpShift = 2;
  if (rule.dscp) {
    masked.traffic_class = masked_word(std::uint32_t{*rule.dscp} << kDscpShift,
                                       std::uint32_t{rule.dscp_mask} << kDscpShift);
  } else if (rule.dsfield != 0) {
    masked.traffic_class = masked_word(rule.dsfield, 0xfc);
  }
  if (rule.flow_label) masked.flow_label = masked_word(*rule.flow_label, rule.flow_label_mask);
  if (rule.ipproto != 0) masked.protocol = masked_word(rule.ipproto, kAll);
  return masked;
}

bool CompiledRule::matches_everything() const noexcept {
  const Rule& rule = *rule_;
  const bool any_device = rule.iif.empty() && rule.oif.empty() && !rule.l3mdev;
  const bool any_address = rule.from.length() == 0 && rule.to.length() == 0;
  const bool any_header = rule.dsfield == 0 && !rule.dscp && !rule.flow_label &&
                          rule.ipproto == 0 && !rule.sport && !rule.dport;
  const bool any_mark = rule.fwmask == 0 && rule.tun_id == 0 && !rule.uid_first;
  return !rule.invert && any_device && any_address && any_header && any_mark;
}

}  // namespace sidestep::rules
