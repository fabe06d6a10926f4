// SPDX-License-Identifier: Apache-2.0
// Every way a packet can end without leaving: one reason per cause, one line of help, the kernel's counter if it has one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace sidestep::packet {

enum class DropReason : std::uint8_t {
  kNone,
  // Receive
  kNotIpv6,
  kOtherHost,
  kRecordTruncated,
  kDeviceUnknown,
  kDeviceDown,
  kIpv6Disabled,
  // Validation (ip6_rcv_core)
  kHeaderTruncated,
  kBadVersion,
  kLoopbackFromWire,
  kMulticastScope,
  kL2MulticastUnicast,
  kSourceMulticast,
  kPayloadTruncated,
  kHopByHopMalformed,
  kHopByHopUnknownOption,
  // Routing
  kNoRoute,
  kProhibited,
  kBlackhole,
  kRouteDied,
  // Forwarding
  kForwardingOff,
  kL2NotUnicast,
  kHopLimitExceeded,
  kSourceUnspecified,
  kSourceScope,
  kTooBig,
  kTooBigOutput,
  kEgressDown,
  kEgressIpv6Disabled,
  kNeighborUnresolved,
  kNeighborFailed,
  // Local delivery
  kMulticastNotJoined,
  kExtensionHeaderMalformed,
  kUnknownOption,
  kRoutingHeaderRefused,
  kUnknownProtocol,
  kChecksum,
  kEchoIgnored,
  kIcmpMalformed,
  // Segment routing
  kSeg6Disabled,
  kSrhMalformed,
  kSegmentsLeftInvalid,
  kSidNoSrh,
  kSidLocalNext,
  kHmac,
  kPspBlocked,
  kTunnelRecursion,
  kSidSegmentsLeft,
  kSidNoPayload,
  kEncapTooLong,
  kEncapNoSource,
  kEncapNoFrame,
  kFrameTooLong,
  // Ours
  kNotImplemented,
  kIcmpRateLimited,
  kIcmpNoRoute,
  kLookupLimit,
  kCount,
};

struct DropReasonText {
  DropReason reason = DropReason::kNone;
  std::string_view name;  ///< as printed and written into captures
  std::string_view help;  ///< one line
  std::string_view snmp;  ///< the kernel's counter, or empty
};

/// Text of a reason. Cost: an array load.
[[nodiscard]] const DropReasonText& text_of(DropReason reason) noexcept;
/// All reasons but kNone, in order of the enumeration.
[[nodiscard]] std::span<const DropReason> all_drop_reasons() noexcept;

}  // namespace sidestep::packet
