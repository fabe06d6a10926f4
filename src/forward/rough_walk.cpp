// SPDX-License-Identifier: Apache-2.0
#include "forward/rough_walk.hpp"

#include <sidestep/net/protocol.hpp>
#include <sidestep/net/wire.hpp>

namespace sidestep::forward {
namespace {

bool is_extension_header(std::uint8_t type) noexcept {
  switch (type) {
    case net::kNextHeaderHopByHop:
    case net::kNextHeaderRouting:
    case net::kNextHeaderFragment:
    case net::kNextHeaderAuthentication:
    case net::kNextHeaderDestinationOptions:
      return true;
    default:
      return false;
  }
}

std::size_t size_of(std::uint8_t type, std::uint8_t length) noexcept {
  if (type == net::kNextHeaderFragment) return net::kFragmentHeaderSize;
  if (type == net::kNextHeaderAuthentication) return (std::size_t{length} + 2) * 4;
  return (std::size_t{length} + 1) * 8;
}

}  // namespace

std::optional<RoughUpperLayer> find_rough_upper_layer(
    std::span<const std::uint8_t> packet) noexcept {
  if (packet.size() < net::kIpv6HeaderSize) return std::nullopt;
  constexpr std::uint16_t kFragmentOffsetMask = 0xfff8;
  RoughUpperLayer found{packet[net::kIpv6NextHeaderOffset], net::kIpv6HeaderSize};
  while (is_extension_header(found.type)) {
    const std::size_t wanted = found.type == net::kNextHeaderFragment ? 4 : 2;
    if (found.offset + wanted > packet.size()) return std::nullopt;
    const std::uint8_t* const header = packet.data() + found.offset;
    const bool behind_first = found.type == net::kNextHeaderFragment &&
                              (net::load_be16(header + 2) & kFragmentOffsetMask) != 0;
    if (behind_first) return found;
    found.offset += size_of(found.type, header[1]);
    found.type = header[0];
  }
  if (found.type == net::kNextHeaderNone) return std::nullopt;
  return found;
}

}  // namespace sidestep::forward
