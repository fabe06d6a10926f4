// SPDX-License-Identifier: Apache-2.0
// `encap seg6 …` and `encap seg6local …`, as typed and as printed.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "config/parser.hpp"

namespace sidestep::config {
namespace {

using fib::Seg6Encap;
using fib::Seg6LocalAction;
using fib::Seg6LocalEncap;
using fib::Seg6Mode;

constexpr std::size_t kSegmentsMax =
    126;  // Hdr Ext Len is one byte, in units of 8 octets; `inline` adds one segment

struct ModeName {
  std::string_view text;
  Seg6Mode mode;
};
constexpr std::array kModes{
    ModeName{"inline", Seg6Mode::kInline}, ModeName{"encap", Seg6Mode::kEncap},
    ModeName{"l2encap", Seg6Mode::kL2Encap}, ModeName{"encap.red", Seg6Mode::kEncapRed},
    ModeName{"l2encap.red", Seg6Mode::kL2EncapRed}};

struct ActionName {
  std::string_view text;
  Seg6LocalAction action;
};
constexpr std::array kActions{ActionName{"End", Seg6LocalAction::kEnd},
                              ActionName{"End.X", Seg6LocalAction::kEndX},
                              ActionName{"End.T", Seg6LocalAction::kEndT},
                              ActionName{"End.DX2", Seg6LocalAction::kEndDX2},
                              ActionName{"End.DX6", Seg6LocalAction::kEndDX6},
                              ActionName{"End.DX4", Seg6LocalAction::kEndDX4},
                              ActionName{"End.DT6", Seg6LocalAction::kEndDT6},
                              ActionName{"End.DT4", Seg6LocalAction::kEndDT4},
                              ActionName{"End.DT46", Seg6LocalAction::kEndDT46},
                              ActionName{"End.B6", Seg6LocalAction::kEndB6},
                              ActionName{"End.B6.Encaps", Seg6LocalAction::kEndB6Encaps},
                              ActionName{"End.BPF", Seg6LocalAction::kEndBpf}};
constexpr std::string_view kExpectedAction =
    "an action: End, End.X, End.T, End.DX2, End.DX4, End.DX6, End.DT4, End.DT6, End.DT46, End.B6, "
    "End.B6.Encaps or "
    "End.BPF";

// Segment lists. Typed: `A,B,C`. Printed: `3 [ A B C ]`, and then a HMAC key id is hexadecimal without saying so.
struct SegmentList {
  std::vector<net::Ipv6Address> segments;
  bool printed = false;
};

bool read_printed_segments(Cursor& cursor, SegmentList& out) {
  cursor.take();  // the number of segments
  cursor.take();  // [
  out.printed = true;
  while (!cursor.take_if("]")) {
    net::Ipv6Address segment;
    if (cursor.at_end()) return cursor.fail_next("a segment or ']'");
    if (!cursor.address(segment, Family::kIpv6)) return false;
    out.segments.push_back(segment);
  }
  return !out.segments.empty() || cursor.fail("at least one segment");
}

bool read_segments(Cursor& cursor, SegmentList& out) {
  constexpr std::string_view kExpected = "IPv6 addresses separated by commas";
  const Word* bracket = cursor.peek(1);
  if (bracket != nullptr && bracket->text == "[" && parse_digits(cursor.peek()->text, 10)) {
    return read_printed_segments(cursor, out);
  }
  if (cursor.at_end()) return cursor.fail_next(std::string(kExpected));
  std::string_view text = cursor.take().text;
  while (true) {
    const auto comma = text.find(',');
    const auto segment = net::Ipv6Address::parse(text.substr(0, comma));
    if (!segment) return cursor.fail(std::string(kExpected));
    out.segments.push_back(*segment);
    if (out.segments.size() > kSegmentsMax)
      return cursor.fail(fmt::format("at most {} segments", kSegmentsMax));
    if (comma == std::string_view::npos) return true;
    text.remove_prefix(comma + 1);
  }
}

bool read_hmac(Cursor& cursor, bool printed, std::uint32_t& out) {
  if (!printed) return cursor.number("a HMAC key id", out);
  if (cursor.at_end()) return cursor.fail_next("a HMAC key id");
  const auto id = parse_digits(cursor.take().text, 16);
  if (!id || *id > UINT32_MAX) return cursor.fail("a hexadecimal HMAC key id");
  out = static_cast<std::uint32_t>(*id);
  return true;
}

// Where the SRH ends with a slot for the packet's own destination, that slot is printed as `::`.
void drop_own_destination(SegmentList& list) {
  if (list.printed && list.segments.size() > 1 && list.segments.back().is_unspecified())
    list.segments.pop_back();
}

bool parse_seg6(Cursor& cursor, lookup::NexthopSpec& hop) {
  Seg6Encap encap;
  SegmentList list;
  bool mode_given = false;
  while (!cursor.at_end()) {
    if (cursor.take_if("mode")) {
      if (mode_given) return cursor.fail("one 'mode'");
      if (cursor.at_end())
        return cursor.fail_next("a mode: encap, inline, l2encap, encap.red or l2encap.red");
      const std::string_view text = cursor.take().text;
      const auto found = std::ranges::find(kModes, text, &ModeName::text);
      if (found == kModes.end())
        return cursor.fail("a mode: encap, inline, l2encap, encap.red or l2encap.red");
      encap.mode = found->mode;
      mode_given = true;
    } else if (cursor.take_if("segs")) {
      if (!mode_given) return cursor.fail("'mode' before 'segs'");
      if (!list.segments.empty()) return cursor.fail("one 'segs'");
      if (!read_segments(cursor, list)) return false;
    } else if (cursor.take_if("hmac")) {
      if (!read_hmac(cursor, list.printed, encap.hmac_key_id)) return false;
    } else {
      break;
    }
  }
  if (!mode_given) return cursor.fail_next("'mode'");
  if (list.segments.empty()) return cursor.fail_next("'segs' and the segments");
  if (encap.mode == Seg6Mode::kInline) drop_own_destination(list);
  encap.segments = std::move(list.segments);
  hop.encap = std::move(encap);
  return true;
}

class Seg6LocalParser {
 public:
  Seg6LocalParser(Cursor& cursor, lookup::NexthopSpec& hop) : cursor_(cursor), hop_(hop) {}

  bool run() {
    while (!cursor_.at_end()) {
      const auto* keyword = find_keyword<Seg6LocalParser>(kKeywords, cursor_.peek()->text);
      if (keyword == nullptr) break;
      const auto bit = 1U << static_cast<unsigned>(keyword - kKeywords.data());
      cursor_.take();
      if ((seen_ & bit) != 0) return cursor_.fail(fmt::format("one '{}'", keyword->text));
      seen_ |= bit;
      if (!(this->*keyword->read)()) return false;
    }
    if (action_word_ == nullptr) return cursor_.fail_next("'action'");
    if (!check_required()) return false;
    forget_unused();
    hop_.encap = std::move(encap_);
    return true;
  }

 private:
  bool read_action() {
    if (cursor_.at_end()) return cursor_.fail_next(std::string(kExpectedAction));
    action_word_ = &cursor_.take();
    const auto found = std::ranges::find(kActions, action_word_->text, &ActionName::text);
    if (found == kActions.end()) return cursor_.fail(std::string(kExpectedAction));
    encap_.action = found->action;
    return true;
  }
  bool read_table() { return cursor_.table(encap_.table.emplace()); }
  bool read_vrftable() { return cursor_.table(encap_.vrf_table.emplace()); }
  bool read_nh4() { return cursor_.ipv4_address(encap_.nh4.emplace()); }
  bool read_nh6() { return cursor_.address(encap_.nh6.emplace(), Family::kIpv6); }
  bool read_iif() { return cursor_.device(hop_.encap_iif); }
  bool read_oif() { return cursor_.device(hop_.encap_oif); }
  bool read_srh() {
    if (!cursor_.take_if("segs")) return cursor_.fail_next("'segs'");
    return read_srh_segments();
  }
  bool read_srh_segments() {  // printed without `srh`
    SegmentList list;
    if (!read_segments(cursor_, list)) return false;
    if (encap_.action == Seg6LocalAction::kEndB6) drop_own_destination(list);
    encap_.srh_segments = std::move(list.segments);
    if (cursor_.take_if("hmac")) return read_hmac(cursor_, list.printed, encap_.srh_hmac_key_id);
    return true;
  }
  // What names a BPF program: kept, not loaded.
  bool read_endpoint() {
    constexpr std::array<std::string_view, 8> kWords{"obj",    "object-file", "sec",      "section",
                                                     "pinned", "type",        "bytecode", "fd"};
    do {
      if (cursor_.at_end()) return cursor_.fail_next("a BPF program");
      const bool named = std::ranges::find(kWords, cursor_.peek()->text) != kWords.end();
      if (!encap_.bpf_object.empty()) encap_.bpf_object += ' ';
      encap_.bpf_object += cursor_.take().text;
      if (!named) continue;
      if (cursor_.at_end()) return cursor_.fail_next("a BPF program");
      encap_.bpf_object += ' ' + cursor_.take().text;
    } while (!cursor_.at_end() && std::ranges::find(kWords, cursor_.peek()->text) != kWords.end());
    return true;
  }
  bool read_count() {
    encap_.count = true;
    return true;
  }
  bool read_flavors() {
    if (!read_flavor_names()) return false;
    if (!encap_.flavor_next_csid) return true;
    if (cursor_.take_if("lblen") && !read_length("locator block", encap_.lbl_bits)) return false;
    if (cursor_.take_if("nflen") && !read_length("locator node and function", encap_.lnfl_bits))
      return false;
    if (encap_.lbl_bits + encap_.lnfl_bits > 128)
      return cursor_.fail("lengths of at most 128 bits together");
    return true;
  }
  bool read_flavor_names() {
    constexpr std::string_view kExpected =
        "flavors separated by commas, each once: psp, usp, usd, next-csid";
    if (cursor_.at_end()) return cursor_.fail_next(std::string(kExpected));
    std::string_view text = cursor_.take().text;
    if (text.ends_with(',')) text.remove_suffix(1);  // as ip tolerates
    while (true) {
      const auto comma = text.find(',');
      bool* flavor = flavor_of(text.substr(0, comma));
      if (flavor == nullptr || *flavor) return cursor_.fail(std::string(kExpected));
      *flavor = true;
      if (comma == std::string_view::npos) return true;
      text.remove_prefix(comma + 1);
    }
  }
  bool* flavor_of(std::string_view name) {
    if (name == "psp") return &encap_.flavor_psp;
    if (name == "usp") return &encap_.flavor_usp;
    if (name == "usd") return &encap_.flavor_usd;
    if (name == "next-csid") return &encap_.flavor_next_csid;
    return nullptr;
  }
  bool read_length(std::string_view what, std::uint8_t& out) {
    const auto expected = fmt::format("a length of the {}: a multiple of 8 of 8 to 120", what);
    if (cursor_.at_end()) return cursor_.fail_next(expected);
    const auto value = parse_number(cursor_.take().text);
    if (!value || *value < 8 || *value > 120 || *value % 8 != 0) return cursor_.fail(expected);
    out = static_cast<std::uint8_t>(*value);
    return true;
  }

  bool require(bool given, std::string_view what) {
    return given || cursor_.fail_at(*action_word_,
                                    fmt::format("{} for action {}", what, action_word_->text));
  }
  bool check_required() {
    switch (encap_.action) {
      case Seg6LocalAction::kEnd:
        return true;
      case Seg6LocalAction::kEndX:
      case Seg6LocalAction::kEndDX6:
        return require(encap_.nh6.has_value(), "'nh6 ADDRESS'");
      case Seg6LocalAction::kEndDX4:
        return require(encap_.nh4.has_value(), "'nh4 ADDRESS'");
      case Seg6LocalAction::kEndT:
        return require(encap_.table.has_value(), "'table TABLE'");
      case Seg6LocalAction::kEndDX2:
        return require(!hop_.encap_oif.empty(), "'oif DEVICE'");
      case Seg6LocalAction::kEndDT6:
        return require(encap_.table.has_value() != encap_.vrf_table.has_value(),
                       "either 'table' or 'vrftable'");
      case Seg6LocalAction::kEndDT4:
      case Seg6LocalAction::kEndDT46:
        return require(encap_.vrf_table.has_value(), "'vrftable TABLE'");
      case Seg6LocalAction::kEndB6:
      case Seg6LocalAction::kEndB6Encaps:
        return require(!encap_.srh_segments.empty(), "'srh segs SEGMENTS'");
      case Seg6LocalAction::kEndBpf:
        return require(!encap_.bpf_object.empty(), "'endpoint PROGRAM'");
    }
    return true;
  }
  // The kernel accepts attributes that an action has no use for, forgets them and does not print them.
  void forget_unused() {
    const auto action = encap_.action;
    const bool has_flavors = action == Seg6LocalAction::kEnd || action == Seg6LocalAction::kEndX;
    if (!has_flavors) {
      encap_.flavor_psp = encap_.flavor_usp = encap_.flavor_usd = encap_.flavor_next_csid = false;
      encap_.lbl_bits = 32;
      encap_.lnfl_bits = 16;
    }
    if (action != Seg6LocalAction::kEndX && action != Seg6LocalAction::kEndDX6) encap_.nh6.reset();
    if (action != Seg6LocalAction::kEndDX4) encap_.nh4.reset();
    if (action != Seg6LocalAction::kEndT && action != Seg6LocalAction::kEndDT6)
      encap_.table.reset();
    if (action != Seg6LocalAction::kEndDT6 && action != Seg6LocalAction::kEndDT4 &&
        action != Seg6LocalAction::kEndDT46) {
      encap_.vrf_table.reset();
    }
    if (action != Seg6LocalAction::kEndDX2 && action != Seg6LocalAction::kEndX)
      hop_.encap_oif.clear();
    hop_.encap_iif.clear();
    if (action != Seg6LocalAction::kEndB6 && action != Seg6LocalAction::kEndB6Encaps) {
      encap_.srh_segments.clear();
      encap_.srh_hmac_key_id = 0;
    }
    if (action != Seg6LocalAction::kEndBpf) encap_.bpf_object.clear();
  }

  using K = Keyword<Seg6LocalParser>;
  static const std::array<K, 12> kKeywords;

  Cursor& cursor_;
  lookup::NexthopSpec& hop_;
  Seg6LocalEncap encap_;
  const Word* action_word_ = nullptr;
  unsigned seen_ = 0;
};

const std::array<Seg6LocalParser::K, 12> Seg6LocalParser::kKeywords{
    K{"action", &Seg6LocalParser::read_action, kWhole},
    K{"table", &Seg6LocalParser::read_table, kWhole},
    K{"vrftable", &Seg6LocalParser::read_vrftable, kWhole},
    K{"nh4", &Seg6LocalParser::read_nh4, kWhole},
    K{"nh6", &Seg6LocalParser::read_nh6, kWhole},
    K{"iif", &Seg6LocalParser::read_iif, kWhole},
    K{"oif", &Seg6LocalParser::read_oif, kWhole},
    K{"srh", &Seg6LocalParser::read_srh, kWhole},
    K{"segs", &Seg6LocalParser::read_srh_segments, kWhole},
    K{"endpoint", &Seg6LocalParser::read_endpoint, kWhole},
    K{"count", &Seg6LocalParser::read_count, kWhole},
    K{"flavors", &Seg6LocalParser::read_flavors, kWhole}};

}  // namespace

bool parse_encap(Cursor& cursor, lookup::NexthopSpec& hop) {
  if (cursor.family() == Family::kIpv4) {  // such a line is kept, whatever its encapsulation says
    cursor.skip_rest();
    return true;
  }
  if (cursor.take_if("seg6")) return parse_seg6(cursor, hop);
  if (cursor.take_if("seg6local")) return Seg6LocalParser(cursor, hop).run();
  return cursor.fail_next("'seg6' or 'seg6local', the encapsulations that are supported");
}

}  // namespace sidestep::config
