// SPDX-License-Identifier: Apache-2.0
// Protocol numbers, by the names that the RFCs and IANA give them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sidestep::net {

// Next header values (IANA "Protocol Numbers").
inline constexpr std::uint8_t kNextHeaderHopByHop = 0;
inline constexpr std::uint8_t kNextHeaderIpv4 = 4;
inline constexpr std::uint8_t kNextHeaderTcp = 6;
inline constexpr std::uint8_t kNextHeaderUdp = 17;
inline constexpr std::uint8_t kNextHeaderDccp = 33;
inline constexpr std::uint8_t kNextHeaderIpv6 = 41;
inline constexpr std::uint8_t kNextHeaderRouting = 43;
inline constexpr std::uint8_t kNextHeaderFragment = 44;
inline constexpr std::uint8_t kNextHeaderEsp = 50;
inline constexpr std::uint8_t kNextHeaderAuthentication = 51;
inline constexpr std::uint8_t kNextHeaderIcmpv6 = 58;
inline constexpr std::uint8_t kNextHeaderNone = 59;
inline constexpr std::uint8_t kNextHeaderDestinationOptions = 60;
inline constexpr std::uint8_t kNextHeaderSctp = 132;
inline constexpr std::uint8_t kNextHeaderMobility = 135;
inline constexpr std::uint8_t kNextHeaderUdpLite = 136;
inline constexpr std::uint8_t kNextHeaderEthernet = 143;

// Routing types (IANA "IPv6 Parameters", Routing Types).
inline constexpr std::uint8_t kRoutingTypeSourceRoute = 0;  ///< deprecated by RFC 5095
inline constexpr std::uint8_t kRoutingTypeMobility = 2;
inline constexpr std::uint8_t kRoutingTypeRpl = 3;
inline constexpr std::uint8_t kRoutingTypeSegment = 4;  ///< RFC 8754

// Option types of hop-by-hop and destination options, all eight bits.
inline constexpr std::uint8_t kOptionPad1 = 0x00;
inline constexpr std::uint8_t kOptionPadN = 0x01;
inline constexpr std::uint8_t kOptionRouterAlert = 0x05;
inline constexpr std::uint8_t kOptionJumboPayload = 0xc2;
inline constexpr std::uint8_t kOptionHomeAddress = 0xc9;

// ICMPv6 types (RFC 4443, RFC 4861).
inline constexpr std::uint8_t kIcmpv6DestinationUnreachable = 1;
inline constexpr std::uint8_t kIcmpv6PacketTooBig = 2;
inline constexpr std::uint8_t kIcmpv6TimeExceeded = 3;
inline constexpr std::uint8_t kIcmpv6ParameterProblem = 4;
inline constexpr std::uint8_t kIcmpv6EchoRequest = 128;
inline constexpr std::uint8_t kIcmpv6EchoReply = 129;
inline constexpr std::uint8_t kIcmpv6RouterSolicitation = 133;
inline constexpr std::uint8_t kIcmpv6RouterAdvertisement = 134;
inline constexpr std::uint8_t kIcmpv6NeighborSolicitation = 135;
inline constexpr std::uint8_t kIcmpv6NeighborAdvertisement = 136;
inline constexpr std::uint8_t kIcmpv6Redirect = 137;
inline constexpr std::uint8_t kIcmpv6InformationalFirst =
    128;  ///< smaller types are errors (RFC 4443 §2.1)

// Codes of destination unreachable (RFC 4443 §3.1).
inline constexpr std::uint8_t kUnreachableNoRoute = 0;
inline constexpr std::uint8_t kUnreachableProhibited = 1;
inline constexpr std::uint8_t kUnreachableBeyondScope = 2;
inline constexpr std::uint8_t kUnreachableAddress = 3;
inline constexpr std::uint8_t kUnreachablePort = 4;

// Codes of time exceeded (RFC 4443 §3.3).
inline constexpr std::uint8_t kTimeExceededHopLimit = 0;
inline constexpr std::uint8_t kTimeExceededReassembly = 1;

// Codes of parameter problem (RFC 4443 §3.4).
inline constexpr std::uint8_t kParameterErroneousField = 0;
inline constexpr std::uint8_t kParameterUnknownNextHeader = 1;
inline constexpr std::uint8_t kParameterUnknownOption = 2;

// Sizes in bytes.
inline constexpr std::size_t kEthernetHeaderSize = 14;
inline constexpr std::size_t kIpv6HeaderSize = 40;
inline constexpr std::size_t kFragmentHeaderSize = 8;
inline constexpr std::size_t kIcmpv6HeaderSize = 8;
inline constexpr std::size_t kIpv6MtuMin = 1280;  ///< RFC 8200 §5

// Offsets in the IPv6 header that ICMPv6 pointers and rewriting name.
inline constexpr std::size_t kIpv6PayloadLengthOffset = 4;
inline constexpr std::size_t kIpv6NextHeaderOffset = 6;
inline constexpr std::size_t kIpv6HopLimitOffset = 7;
inline constexpr std::size_t kIpv6SourceOffset = 8;
inline constexpr std::size_t kIpv6DestinationOffset = 24;

}  // namespace sidestep::net
