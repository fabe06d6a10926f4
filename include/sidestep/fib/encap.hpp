// SPDX-License-Identifier: Apache-2.0
// Encapsulations that a nexthop may carry, as configured. Plain data: module srv6 gives it meaning.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <sidestep/net/address.hpp>
#include <sidestep/net/ids.hpp>

namespace sidestep::fib {

/// Headend modes of a seg6 route (RFC 8986 §5), named as iproute2 names them.
enum class Seg6Mode : std::uint8_t { kInline, kEncap, kL2Encap, kEncapRed, kL2EncapRed };

/// `encap seg6 mode MODE segs A,B,C [hmac KEY]`.
struct Seg6Encap {
  Seg6Mode mode = Seg6Mode::kEncap;
  std::vector<net::Ipv6Address> segments{};  ///< in travel order: the first is visited first
  std::uint32_t hmac_key_id = 0;             ///< 0: no HMAC
  bool operator==(const Seg6Encap&) const = default;
};

/// Endpoint behaviors with the kernel's action numbers (SEG6_LOCAL_ACTION_*).
enum class Seg6LocalAction : std::uint8_t {
  kEnd = 1,
  kEndX = 2,
  kEndT = 3,
  kEndDX2 = 4,
  kEndDX6 = 5,
  kEndDX4 = 6,
  kEndDT6 = 7,
  kEndDT4 = 8,
  kEndB6 = 9,
  kEndB6Encaps = 10,
  kEndBpf = 15,
  kEndDT46 = 16,
};

/// Which of the router's SID counters a SID counts on; 0: none. It is given when the SID is made and is no part of what was
/// asked for, so all are equal.
struct SidCounterId {
  std::uint32_t value = 0;
  bool operator==(const SidCounterId&) const noexcept { return true; }
};

/// `encap seg6local action ACTION …`.
struct Seg6LocalEncap {
  Seg6LocalAction action = Seg6LocalAction::kEnd;
  std::optional<net::Ipv6Address> nh6{};
  std::optional<net::Ipv4Address> nh4{};
  std::optional<TableId> table{};
  std::optional<TableId> vrf_table{};
  IfIndex iif{};
  IfIndex oif{};
  std::vector<net::Ipv6Address> srh_segments{};  ///< End.B6*: in travel order
  std::uint32_t srh_hmac_key_id = 0;
  std::string bpf_object{};  ///< End.BPF: kept as written
  bool flavor_psp = false;
  bool flavor_usp = false;
  bool flavor_usd = false;
  bool flavor_next_csid = false;
  std::uint8_t lbl_bits = 32;   ///< NEXT-C-SID locator block length (`lblen`)
  std::uint8_t lnfl_bits = 16;  ///< NEXT-C-SID locator node + function length (`nflen`)
  bool count = false;
  SidCounterId counter{};  ///< with `count`
  bool operator==(const Seg6LocalEncap&) const = default;
};

using Encap = std::variant<std::monostate, Seg6Encap, Seg6LocalEncap>;

}  // namespace sidestep::fib
