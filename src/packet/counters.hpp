// SPDX-License-Identifier: Apache-2.0
// Counters under the kernel's SNMP names (/proc/net/snmp6 and /proc/net/dev_snmp6/DEVICE).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>

#include <sidestep/net/ids.hpp>

#include "packet/drop_reason.hpp"

namespace sidestep::packet {

/// The counters that a forwarding plane moves; names by name_of().
enum class Snmp : std::uint8_t {
  kIp6InReceives,
  kIp6InHdrErrors,
  kIp6InTooBigErrors,
  kIp6InNoRoutes,
  kIp6InAddrErrors,
  kIp6InUnknownProtos,
  kIp6InTruncatedPkts,
  kIp6InDiscards,
  kIp6InDelivers,
  kIp6OutForwDatagrams,
  kIp6OutRequests,
  kIp6OutDiscards,
  kIp6OutNoRoutes,
  kIp6ReasmReqds,
  kIp6ReasmOKs,
  kIp6FragFails,
  kIp6InMcastPkts,
  kIp6OutMcastPkts,
  kIp6InOctets,
  kIp6OutOctets,
  kIp6InMcastOctets,
  kIp6OutMcastOctets,
  kIp6InNoECTPkts,
  kIp6InECT1Pkts,
  kIp6InECT0Pkts,
  kIp6InCEPkts,
  kIp6OutTransmits,
  kIcmp6InMsgs,
  kIcmp6InErrors,
  kIcmp6OutMsgs,
  kIcmp6OutErrors,
  kIcmp6InCsumErrors,
  kIcmp6OutRateLimitHost,
  kIcmp6InDestUnreachs,
  kIcmp6InPktTooBigs,
  kIcmp6InTimeExcds,
  kIcmp6InParmProblems,
  kIcmp6InEchos,
  kIcmp6InEchoReplies,
  kIcmp6OutDestUnreachs,
  kIcmp6OutPktTooBigs,
  kIcmp6OutTimeExcds,
  kIcmp6OutParmProblems,
  kIcmp6OutEchos,
  kIcmp6OutEchoReplies,
  kIcmp6OutRedirects,
  kCount,
};

/// Names in order of the enumeration, as /proc/net/snmp6 spells them.
inline constexpr std::array<std::string_view, static_cast<std::size_t>(Snmp::kCount)> kSnmpNames{
    "Ip6InReceives",         "Ip6InHdrErrors",      "Ip6InTooBigErrors",    "Ip6InNoRoutes",
    "Ip6InAddrErrors",       "Ip6InUnknownProtos",  "Ip6InTruncatedPkts",   "Ip6InDiscards",
    "Ip6InDelivers",         "Ip6OutForwDatagrams", "Ip6OutRequests",       "Ip6OutDiscards",
    "Ip6OutNoRoutes",        "Ip6ReasmReqds",       "Ip6ReasmOKs",          "Ip6FragFails",
    "Ip6InMcastPkts",        "Ip6OutMcastPkts",     "Ip6InOctets",          "Ip6OutOctets",
    "Ip6InMcastOctets",      "Ip6OutMcastOctets",   "Ip6InNoECTPkts",       "Ip6InECT1Pkts",
    "Ip6InECT0Pkts",         "Ip6InCEPkts",         "Ip6OutTransmits",      "Icmp6InMsgs",
    "Icmp6InErrors",         "Icmp6OutMsgs",        "Icmp6OutErrors",       "Icmp6InCsumErrors",
    "Icmp6OutRateLimitHost", "Icmp6InDestUnreachs", "Icmp6InPktTooBigs",    "Icmp6InTimeExcds",
    "Icmp6InParmProblems",   "Icmp6InEchos",        "Icmp6InEchoReplies",   "Icmp6OutDestUnreachs",
    "Icmp6OutPktTooBigs",    "Icmp6OutTimeExcds",   "Icmp6OutParmProblems", "Icmp6OutEchos",
    "Icmp6OutEchoReplies",   "Icmp6OutRedirects",
};
static_assert(!kSnmpNames.back().empty());

[[nodiscard]] constexpr std::string_view name_of(Snmp counter) noexcept {
  return kSnmpNames[static_cast<std::size_t>(counter)];
}

inline constexpr std::size_t kSnmpCount = static_cast<std::size_t>(Snmp::kCount);
inline constexpr std::size_t kDropReasonCount = static_cast<std::size_t>(DropReason::kCount);

/// One set of SNMP counters.
using SnmpSet = std::array<std::uint64_t, kSnmpCount>;

/// Counters of one worker: the host's, each device's, and drops by reason. Single-threaded; workers' sets are added up.
class Counters {
 public:
  /// Adds to the host's counter and, when `device` is not 0, to the device's. Allocates at the first sight of a device only.
  void add(Snmp counter, IfIndex device, std::uint64_t amount = 1);
  void add_drop(DropReason reason) noexcept { ++drops_[static_cast<std::size_t>(reason)]; }
  /// Adds up, for counters of several workers.
  void add(const Counters& other);
  [[nodiscard]] std::uint64_t host(Snmp counter) const noexcept {
    return host_[static_cast<std::size_t>(counter)];
  }
  /// 0 for a device that never counted anything.
  [[nodiscard]] std::uint64_t device(IfIndex index, Snmp counter) const noexcept;
  [[nodiscard]] const SnmpSet& host() const noexcept { return host_; }
  [[nodiscard]] const std::map<IfIndex, SnmpSet>& devices() const noexcept { return devices_; }
  [[nodiscard]] std::uint64_t drops(DropReason reason) const noexcept {
    return drops_[static_cast<std::size_t>(reason)];
  }

 private:
  SnmpSet host_{};
  std::map<IfIndex, SnmpSet> devices_;
  std::array<std::uint64_t, kDropReasonCount> drops_{};
};

}  // namespace sidestep::packet
