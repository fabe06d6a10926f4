// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "config/print.hpp"

namespace sidestep::config {
namespace {

using fib::Seg6LocalAction;
using fib::Seg6Mode;

std::string_view mode_name(Seg6Mode mode) {
  switch (mode) {
    case Seg6Mode::kInline:
      return "inline";
    case Seg6Mode::kEncap:
      return "encap";
    case Seg6Mode::kL2Encap:
      return "l2encap";
    case Seg6Mode::kEncapRed:
      return "encap.red";
    case Seg6Mode::kL2EncapRed:
      return "l2encap.red";
  }
  return "";
}

std::string_view action_name(Seg6LocalAction action) {
  switch (action) {
    case Seg6LocalAction::kEnd:
      return "End";
    case Seg6LocalAction::kEndX:
      return "End.X";
    case Seg6LocalAction::kEndT:
      return "End.T";
    case Seg6LocalAction::kEndDX2:
      return "End.DX2";
    case Seg6LocalAction::kEndDX6:
      return "End.DX6";
    case Seg6LocalAction::kEndDX4:
      return "End.DX4";
    case Seg6LocalAction::kEndDT6:
      return "End.DT6";
    case Seg6LocalAction::kEndDT4:
      return "End.DT4";
    case Seg6LocalAction::kEndB6:
      return "End.B6";
    case Seg6LocalAction::kEndB6Encaps:
      return "End.B6.Encaps";
    case Seg6LocalAction::kEndBpf:
      return "End.BPF";
    case Seg6LocalAction::kEndDT46:
      return "End.DT46";
  }
  return "";
}

// ` segs 2 [ A B ]`; an SRH that is inserted has a last slot for the packet's own destination, printed as `::`. A HMAC
// key id is hexadecimal.
std::string srh_text(std::span<const net::Ipv6Address> segments, bool own_destination,
                     std::uint32_t hmac_key_id) {
  std::string text = fmt::format(" segs {} [", segments.size() + (own_destination ? 1 : 0));
  for (const auto& segment : segments) text += " " + segment.to_string();
  if (own_destination) text += " ::";
  text += " ]";
  if (hmac_key_id != 0) text += fmt::format(" hmac {:X}", hmac_key_id);
  return text;
}

std::string flavors_text(const fib::Seg6LocalEncap& encap) {
  std::string names;
  const auto add = [&](bool given, std::string_view name) {
    if (!given) return;
    if (!names.empty()) names += ',';
    names += name;
  };
  add(encap.flavor_psp, "psp");
  add(encap.flavor_usp, "usp");
  add(encap.flavor_usd, "usd");
  add(encap.flavor_next_csid, "next-csid");
  if (names.empty()) return "";
  std::string text = " flavors " + names;
  if (encap.flavor_next_csid)
    text += fmt::format(" lblen {} nflen {}", encap.lbl_bits, encap.lnfl_bits);
  return text;
}

struct EncapPrinter {
  const fib::Links& links;

  std::string operator()(const std::monostate&) const { return ""; }

  std::string operator()(const fib::Seg6Encap& encap) const {
    return fmt::format(
        " encap seg6 mode {}{}", mode_name(encap.mode),
        srh_text(encap.segments, encap.mode == Seg6Mode::kInline, encap.hmac_key_id));
  }

  std::string operator()(const fib::Seg6LocalEncap& encap) const {
    std::string text = fmt::format(" encap seg6local action {}", action_name(encap.action));
    if (!encap.srh_segments.empty()) {
      text += srh_text(encap.srh_segments, encap.action == Seg6LocalAction::kEndB6,
                       encap.srh_hmac_key_id);
    }
    if (encap.table) text += " table " + table_name(*encap.table);
    if (encap.vrf_table) text += " vrftable " + table_name(*encap.vrf_table);
    if (encap.nh4) text += " nh4 " + encap.nh4->to_string();
    if (encap.nh6) text += " nh6 " + encap.nh6->to_string();
    if (encap.iif) text += " iif " + links.name(encap.iif);
    if (encap.oif) text += " oif " + links.name(encap.oif);
    if (!encap.bpf_object.empty()) text += " endpoint " + encap.bpf_object;
    return text + flavors_text(encap);
  }
};

}  // namespace

std::string print_encap(const fib::Encap& encap, const fib::Links& links) {
  return std::visit(EncapPrinter{links}, encap);
}

}  // namespace sidestep::config
