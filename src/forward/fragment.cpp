// SPDX-License-Identifier: Apache-2.0
#include "forward/fragment.hpp"

#include "forward/rough_walk.hpp"

namespace sidestep::forward {
namespace {

using packet::DropReason;

constexpr std::uint8_t kParameterIncompleteChain = 3;  // RFC 7112 §5
constexpr std::size_t kPayloadLengthMax = 65'535;

FragmentVerdict refuse(std::uint8_t code, std::size_t pointer) {
  return {
      .reason = DropReason::kExtensionHeaderMalformed,
      .error = IcmpError{net::kIcmpv6ParameterProblem, code, static_cast<std::uint32_t>(pointer)}};
}

/// What a first fragment must hold of its upper layer.
std::size_t upper_layer_size(std::uint8_t protocol) {
  switch (protocol) {
    case net::kNextHeaderTcp:
      return 20;
    case net::kNextHeaderUdp:
    case net::kNextHeaderIcmpv6:
      return 8;
    default:
      return 1;
  }
}

// RFC 7112: the first fragment holds all headers up to the upper layer's. A chain that is broken before that is
// nobody's business yet.
bool is_chain_incomplete(std::span<const std::uint8_t> packet) {
  const auto upper = find_rough_upper_layer(packet);
  if (!upper || upper->type == net::kNextHeaderFragment) return false;
  return upper->offset + upper_layer_size(upper->type) > packet.size();
}

}  // namespace

FragmentVerdict read_fragment(std::span<const std::uint8_t> packet,
                              const net::HeaderPosition& position) {
  const auto ipv6 = net::Ipv6Header::check(packet);
  net::ExtensionHeaderWalk walk(packet, position);
  const auto header = walk.next();
  const bool jumbo = !ipv6 || ipv6->payload_length() == 0;  // RFC 2675 §4: never fragmented
  if (jumbo || !header) return refuse(net::kParameterErroneousField, position.offset);
  if (walk.fragment_offset() == 0 && !walk.more_fragments()) return {.atomic = header};
  if (is_chain_incomplete(packet)) return refuse(kParameterIncompleteChain, 0);

  const std::size_t before = header->offset + header->size - net::kIpv6HeaderSize;
  const std::size_t data_size = ipv6->payload_length() - before;
  const std::size_t end = walk.fragment_offset() + data_size;
  if (end > kPayloadLengthMax) return refuse(net::kParameterErroneousField, header->offset + 2);
  if (walk.more_fragments() && end % 8 != 0) {
    return refuse(net::kParameterErroneousField, net::kIpv6PayloadLengthOffset);
  }
  return {.reason = DropReason::kNotImplemented};
}

}  // namespace sidestep::forward
