// SPDX-License-Identifier: Apache-2.0
#include "forward/options.hpp"

#include <algorithm>
#include <cstdlib>

#include <sidestep/net/wire.hpp>

namespace sidestep::forward {
namespace {

using net::Option;
using packet::DropReason;

constexpr std::uint8_t kOptionCalipso = 0x07;  // RFC 5570
constexpr std::uint8_t kOptionIoam = 0x31;     // RFC 9486
// Padding is there to align to 8 octets, so more than 7 in a row has another purpose (RFC 4942 §2.1.9.5).
constexpr std::size_t kPaddingMax = 7;

/// What the walk over one header needs to know of the packet and the router.
struct Reading {
  std::span<const std::uint8_t> packet;
  OptionsHeader kind;
  bool refuse_unknown;

  [[nodiscard]] OptionsVerdict malformed() const {
    return {.reason = kind == OptionsHeader::kHopByHop ? DropReason::kHopByHopMalformed
                                                       : DropReason::kExtensionHeaderMalformed};
  }
  [[nodiscard]] OptionsVerdict unknown(std::optional<IcmpError> error) const {
    return {.reason = kind == OptionsHeader::kHopByHop ? DropReason::kHopByHopUnknownOption
                                                       : DropReason::kUnknownOption,
            .error = error};
  }
  [[nodiscard]] OptionsVerdict malformed_at(std::size_t offset) const {
    OptionsVerdict verdict = malformed();
    verdict.error = IcmpError{net::kIcmpv6ParameterProblem, net::kParameterErroneousField,
                              static_cast<std::uint32_t>(offset)};
    return verdict;
  }
};

// RFC 8200 §4.2: the two high bits of the type say what to do with an option that is not known.
OptionsVerdict read_unknown(const Reading& reading, const Option& option) {
  if (reading.refuse_unknown) return reading.unknown(std::nullopt);
  const bool multicast = reading.packet[net::kIpv6DestinationOffset] == 0xff;
  switch (option.unknown_action()) {
    case 0:
      return {};
    case 1:
      return reading.unknown(std::nullopt);
    case 3:
      if (multicast) return reading.unknown(std::nullopt);
      [[fallthrough]];
    default:
      return reading.unknown(IcmpError{net::kIcmpv6ParameterProblem, net::kParameterUnknownOption,
                                       static_cast<std::uint32_t>(option.offset)});
  }
}

// RFC 2711: the value does not matter here, nobody listens for it.
OptionsVerdict read_router_alert(const Reading& reading, const Option& option) {
  if (option.data.size() != 2) return reading.malformed();
  return {.router_alert = true};
}

// RFC 2675 §2 and §3. A jumbogram does not fit into a packet here, so a right one is always longer than what arrived.
OptionsVerdict read_jumbo_payload(const Reading& reading, const Option& option) {
  constexpr std::uint32_t kPayloadLengthMax = 65'535;
  if (option.data.size() != 4 || option.offset % 4 != 2) return reading.malformed();
  const std::uint32_t length = net::load_be32(option.data.data());
  if (length <= kPayloadLengthMax) return reading.malformed_at(option.offset + 2);
  if (net::load_be16(reading.packet.data() + net::kIpv6PayloadLengthOffset) != 0) {
    return reading.malformed_at(option.offset);
  }
  if (length > reading.packet.size() - net::kIpv6HeaderSize) return reading.malformed();
  return {};
}

OptionsVerdict read_hop_by_hop_option(const Reading& reading, const Option& option) {
  switch (option.type) {
    case net::kOptionRouterAlert:
      return read_router_alert(reading, option);
    case net::kOptionJumboPayload:
      return read_jumbo_payload(reading, option);
    // RFC 9486 §4: aligned to 4n; otherwise not looked at, since no device here takes part in IOAM.
    case kOptionIoam:
      return option.offset % 4 == 0 ? OptionsVerdict{} : reading.malformed();
    // The kernel drops labels of a domain of interpretation that is not configured, and here none is.
    case kOptionCalipso:
      return reading.unknown(std::nullopt);
    default:
      return read_unknown(reading, option);
  }
}

bool is_zero(std::span<const std::uint8_t> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

}  // namespace

OptionsVerdict read_options(std::span<const std::uint8_t> packet,
                            const net::ExtensionHeader& header, OptionsHeader kind,
                            std::int32_t max_count) {
  const Reading reading{packet, kind, max_count < 0};
  const std::int64_t count_max = std::abs(std::int64_t{max_count});
  net::OptionWalk walk(packet, header);
  std::int64_t count = 0;
  std::size_t padding = 0;
  bool router_alert = false;
  while (const auto option = walk.next()) {
    if (option->is_padding()) {
      padding += option->size;
      if (padding > kPaddingMax || !is_zero(option->data)) return reading.malformed();
      continue;
    }
    padding = 0;
    if (++count > count_max) return reading.malformed();
    const OptionsVerdict verdict = kind == OptionsHeader::kHopByHop
                                       ? read_hop_by_hop_option(reading, *option)
                                       : read_unknown(reading, *option);
    if (verdict.reason != DropReason::kNone) return verdict;
    router_alert |= verdict.router_alert;
  }
  if (walk.is_malformed()) return reading.malformed();
  return {.router_alert = router_alert};
}

}  // namespace sidestep::forward
