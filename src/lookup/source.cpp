// SPDX-License-Identifier: Apache-2.0
// Source address selection.
//
// Two candidates are compared rule by rule; the first rule that tells them apart decides, and an equal candidate does not
// displace the one that came earlier (lower device index, then the order of the device's address list). The order of the
// rules is the kernel's, which is RFC 6724's.
#include "lookup/source.hpp"

#include <algorithm>
#include <array>

#include <sidestep/net/prefix.hpp>

namespace sidestep::lookup {
namespace {

struct Label {
  const char* prefix;
  int label;
};

// The kernel's default policy table (/proc has no file of it; `ip addrlabel` prints it). RFC 6724 section 2.1, with the
// kernel's numbers for what the RFC leaves out.
constexpr std::array<Label, 10> kLabels{{
    {"::1/128", 0},
    {"::/96", 3},
    {"::ffff:0:0/96", 4},
    {"2001::/32", 6},
    {"2001:10::/28", 7},
    {"2002::/16", 2},
    {"3ffe::/16", 12},
    {"fec0::/10", 11},
    {"fc00::/7", 5},
    {"::/0", 1},
}};

struct LabelPrefix {
  net::Prefix prefix;
  int label = 0;
};

const std::array<LabelPrefix, kLabels.size()>& label_table() {
  static const auto table = [] {
    std::array<LabelPrefix, kLabels.size()> parsed;
    for (std::size_t i = 0; i < kLabels.size(); ++i) {
      parsed[i] = {*net::Prefix::parse(kLabels[i].prefix), kLabels[i].label};
    }
    // Longest first, so that the first that covers is the longest.
    std::ranges::stable_sort(parsed, [](const LabelPrefix& a, const LabelPrefix& b) {
      return a.prefix.length() > b.prefix.length();
    });
    return parsed;
  }();
  return table;
}

int label_of(const net::Ipv6Address& address) {
  for (const auto& entry : label_table()) {
    if (entry.prefix.covers(address)) return entry.label;
  }
  return 1;  // not reached: ::/0 covers everything
}

// RFC 4843.
bool is_orchid(const net::Ipv6Address& address) {
  return address.bytes[0] == 0x20 && address.bytes[1] == 0x01 && address.bytes[2] == 0x00 &&
         (address.bytes[3] & 0xf0) == 0x10;
}

// The unspecified address has no scope: less than any.
int scope_of(const net::Ipv6Address& address) {
  return address.is_unspecified() ? 0 : static_cast<int>(address.scope());
}

// Mapped, compatible and loopback addresses are never "deprecated".
bool always_preferred(const net::Ipv6Address& address) {
  const bool high_bits_zero = std::all_of(address.bytes.begin(), address.bytes.begin() + 12,
                                          [](std::uint8_t byte) { return byte == 0; });
  return address.is_v4_mapped() || high_bits_zero;
}

struct Target {
  net::Ipv6Address address;
  IfIndex device{};
  int scope = 0;
  int label = 0;
};

struct Candidate {
  const fib::Link* link = nullptr;
  const fib::InterfaceAddress* address = nullptr;
};

// In the order of RFC 6724 section 5. Larger is better, for every rule.
constexpr int kRuleCount = 8;

int evaluate(const Candidate& candidate, const Target& target, int rule) {
  const net::Ipv6Address& own = candidate.address->address;
  switch (rule) {
    case 0:
      return own == target.address ? 1 : 0;  // rule 1: same address
    case 1: {                                // rule 2: the smallest scope that is large enough
      const int scope = scope_of(own);
      return scope >= target.scope ? -scope : scope - 128;
    }
    case 2:
      return always_preferred(own) || !candidate.address->deprecated ? 1 : 0;  // rule 3
    case 3:
      return candidate.address->home ? 1 : 0;  // rule 4
    case 4:
      return !target.device || candidate.link->index == target.device
                 ? 1
                 : 0;  // rule 5: outgoing interface
    case 5:
      return label_of(own) == target.label ? 1 : 0;  // rule 6
    // Rule 7 (temporary addresses): there are none here.
    case 6:
      return is_orchid(own) == is_orchid(target.address) ? 1 : 0;
    default: {  // rule 8: longest match, within the address's own prefix
      const int shared = static_cast<int>(net::common_prefix_length(own, target.address));
      return std::min(shared, static_cast<int>(candidate.address->prefix_length));
    }
  }
}

bool is_better(const Candidate& challenger, const Candidate& best, const Target& target) {
  for (int rule = 0; rule < kRuleCount; ++rule) {
    const int ours = evaluate(challenger, target, rule);
    const int theirs = evaluate(best, target, rule);
    if (ours != theirs) return ours > theirs;
  }
  return false;
}

void consider_link(const fib::Link& link, const Target& target, Candidate& best) {
  for (const auto& address : link.addresses) {
    if (address.tentative) continue;
    const Candidate challenger{&link, &address};
    if (best.address == nullptr || is_better(challenger, best, target)) best = challenger;
  }
}

}  // namespace

std::optional<net::Ipv6Address> best_source(const fib::Links& links,
                                            const net::Ipv6Address& destination, IfIndex device) {
  const Target target{destination, device, scope_of(destination), label_of(destination)};
  const fib::Link* outgoing = device ? links.find(device) : nullptr;
  // A VRF is a router of its own: its packets come from its addresses.
  const fib::Link* vrf = links.vrf_of(device);
  // RFC 6724 section 4: what does not leave the link takes a source of the link.
  const bool this_link_only = destination.is_multicast() ||
                              target.scope <= static_cast<int>(net::Scope::kLinkLocal) ||
                              (outgoing != nullptr && outgoing->conf.use_oif_addrs_only);
  Candidate best;
  if (this_link_only) {
    if (outgoing != nullptr) consider_link(*outgoing, target, best);
  } else {
    for (const auto& [index, link] : links.all()) {
      if (links.vrf_of(index) == vrf) consider_link(link, target, best);
    }
  }
  if (best.address == nullptr) return std::nullopt;
  return best.address->address;
}

}  // namespace sidestep::lookup
