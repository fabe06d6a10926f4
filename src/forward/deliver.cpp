// SPDX-License-Identifier: Apache-2.0
// Local delivery: the chain of extension headers as the destination works through
// it (RFC 8200 §4), one header at a time in the order they come.
//
// A hop-by-hop header was dealt with on reception, and one that is not directly behind the IPv6 header is a protocol
// nobody knows. What ends the chain is either answered here (ICMPv6 echo requests), handed to the local host, or
// unknown. Counters go where the kernel's go: malformed headers to the ingress device, deliveries to the device that
// owns the address.
#include "forward/deliver.hpp"

#include "forward/addresses.hpp"
#include "forward/fragment.hpp"
#include "forward/icmp.hpp"
#include "forward/icmp_input.hpp"
#include "forward/options.hpp"
#include "forward/output.hpp"
#include "forward/segment.hpp"

namespace sidestep::forward {
namespace {

using net::HeaderPosition;
using packet::DropReason;
using packet::Snmp;

constexpr std::uint8_t kProtocolPim = 103;

/// A delivery under way: how far the chain has been worked through.
struct Delivery {
  Pipeline& pipeline;
  Transit& transit;
  HeaderPosition position;
  IfIndex owner;  ///< device that the destination belongs to
  bool fragment_seen = false;
  Next next = Next::kDone;

  [[nodiscard]] std::span<const std::uint8_t> bytes() const {
    return std::as_const(*transit.packet).bytes();
  }
  /// The extension header here, if all of it is there.
  [[nodiscard]] std::optional<net::ExtensionHeader> header() const {
    return net::ExtensionHeaderWalk(bytes(), position).next();
  }
  void count(Snmp counter) { pipeline.counters.add(counter, transit.ingress->index); }
  void move_behind(const net::ExtensionHeader& header) {
    position = {header.next_header, header.offset + header.size, header.offset};
  }
};

// Each of the following treats one kind of header and tells whether to go on behind it.

bool drop_here(Delivery& delivery, DropReason reason) {
  drop(delivery.pipeline, delivery.transit, reason);
  return false;
}

bool drop_malformed(Delivery& delivery) {
  delivery.count(Snmp::kIp6InHdrErrors);
  return drop_here(delivery, DropReason::kExtensionHeaderMalformed);
}

bool answer_erroneous_field(Delivery& delivery, std::size_t pointer, DropReason reason) {
  delivery.count(Snmp::kIp6InHdrErrors);
  send_error(delivery.pipeline, delivery.transit,
             {net::kIcmpv6ParameterProblem, net::kParameterErroneousField,
              static_cast<std::uint32_t>(pointer)});
  return drop_here(delivery, reason);
}

// RFC 8200 §4.6.
bool read_destination_options(Delivery& delivery) {
  const auto header = delivery.header();
  if (!header) return drop_malformed(delivery);
  const fib::Sysctls& sysctls = delivery.pipeline.sysctls();
  if (std::cmp_greater(header->size, sysctls.max_dst_opts_length)) {
    return drop_here(delivery, DropReason::kExtensionHeaderMalformed);
  }
  const OptionsVerdict verdict = read_options(
      delivery.bytes(), *header, OptionsHeader::kDestination, sysctls.max_dst_opts_number);
  if (verdict.reason == DropReason::kNone) {
    delivery.move_behind(*header);
    return true;
  }
  delivery.count(Snmp::kIp6InHdrErrors);
  if (verdict.error) send_error(delivery.pipeline, delivery.transit, *verdict.error);
  return drop_here(delivery, verdict.reason);
}

bool follow_srh(Delivery& delivery, const net::ExtensionHeader& header) {
  const EndHostResult result = end_host_srh(delivery.pipeline, delivery.transit, header.offset);
  delivery.next = result.next;
  if (!result.continue_behind) return false;
  delivery.transit.packet->meta.routing_header_consumed = true;
  // The destination may be another address of ours by now.
  delivery.owner = charged_device(delivery.transit.packet->dst.get(), delivery.owner);
  delivery.move_behind(header);
  return true;
}

// RFC 8200 §4.4: a type that is not known is passed over when there is nothing left to visit. RPL source routes (type
// 3) are never wanted here.
bool read_routing_header(Delivery& delivery) {
  const auto header = delivery.header();
  if (!header) return drop_malformed(delivery);
  const packet::Packet& packet = *delivery.transit.packet;
  if (header_of(packet).destination().is_multicast() ||
      packet.meta.l2_class != packet::L2Class::kHost) {
    delivery.count(Snmp::kIp6InAddrErrors);
    return drop_here(delivery, DropReason::kRoutingHeaderRefused);
  }
  const auto routing = net::RoutingHeader::check(header->in(delivery.bytes()));
  if (!routing) return drop_malformed(delivery);
  if (routing->routing_type() == net::kRoutingTypeSegment) return follow_srh(delivery, *header);
  if (routing->routing_type() == net::kRoutingTypeRpl) {
    return drop_here(delivery, DropReason::kRoutingHeaderRefused);
  }
  constexpr std::size_t kRoutingTypeOffset = 2;
  if (routing->segments_left() != 0) {
    return answer_erroneous_field(delivery, header->offset + kRoutingTypeOffset,
                                  DropReason::kRoutingHeaderRefused);
  }
  delivery.transit.packet->meta.routing_header_consumed = true;
  delivery.move_behind(*header);
  return true;
}

// RFC 8200 §4.5.
bool read_fragment_header(Delivery& delivery) {
  if (delivery.fragment_seen) {
    return answer_erroneous_field(delivery, delivery.position.offset,
                                  DropReason::kExtensionHeaderMalformed);
  }
  delivery.pipeline.counters.add(Snmp::kIp6ReasmReqds, delivery.owner);
  const FragmentVerdict verdict = read_fragment(delivery.bytes(), delivery.position);
  if (!verdict.atomic) {
    if (verdict.error) {
      delivery.count(Snmp::kIp6InHdrErrors);
      send_error(delivery.pipeline, delivery.transit, *verdict.error);
    }
    return drop_here(delivery, verdict.reason);
  }
  delivery.pipeline.counters.add(Snmp::kIp6ReasmOKs, delivery.owner);
  delivery.fragment_seen = true;
  delivery.move_behind(*verdict.atomic);
  return true;
}

bool end_unknown(Delivery& delivery) {
  delivery.pipeline.counters.add(Snmp::kIp6InUnknownProtos, delivery.owner);
  send_error(delivery.pipeline, delivery.transit,
             {net::kIcmpv6ParameterProblem, net::kParameterUnknownNextHeader,
              static_cast<std::uint32_t>(delivery.position.next_header_offset)});
  return drop_here(delivery, DropReason::kUnknownProtocol);
}

bool end_with_icmp(Delivery& delivery) {
  delivery.pipeline.counters.add(Snmp::kIp6InDelivers, delivery.owner);
  receive_icmp(delivery.pipeline, delivery.transit, delivery.position.offset);
  return false;
}

bool end_at_host(Delivery& delivery) {
  delivery.pipeline.counters.add(Snmp::kIp6InDelivers, delivery.owner);
  delivery.transit.packet->meta.verdict = packet::Verdict::kDeliver;
  return false;
}

bool read_header(Delivery& delivery) {
  switch (delivery.position.type) {
    case net::kNextHeaderDestinationOptions:
      return read_destination_options(delivery);
    case net::kNextHeaderRouting:
      return read_routing_header(delivery);
    case net::kNextHeaderFragment:
      return read_fragment_header(delivery);
    case net::kNextHeaderIcmpv6:
      return end_with_icmp(delivery);
    case net::kNextHeaderTcp:
    case net::kNextHeaderUdp:
    case net::kNextHeaderUdpLite:
    case kProtocolPim:
    case net::kNextHeaderNone:
      return end_at_host(delivery);
    default:
      return end_unknown(delivery);
  }
}

/// The first header that is the destination's business.
HeaderPosition first_position(std::span<const std::uint8_t> bytes) {
  net::ExtensionHeaderWalk walk(bytes);
  if (walk.position().type == net::kNextHeaderHopByHop) static_cast<void>(walk.next());
  return walk.position();
}

}  // namespace

Next deliver(Pipeline& pipeline, Transit& transit) {
  const packet::Packet& packet = *transit.packet;
  Delivery delivery{pipeline, transit, first_position(packet.bytes()),
                    charged_device(packet.dst.get(), transit.ingress->index)};
  while (read_header(delivery)) {
  }
  return delivery.next;
}

Next deliver_multicast(Pipeline& pipeline, Transit& transit) {
  const packet::Packet& packet = *transit.packet;
  const IfIndex device = transit.ingress->index;
  pipeline.counters.add(Snmp::kIp6InMcastPkts, device);
  pipeline.counters.add(Snmp::kIp6InMcastOctets, device, packet.size());
  if (!has_joined(*transit.ingress, header_of(packet).destination())) {
    drop(pipeline, transit, DropReason::kMulticastNotJoined);
    return Next::kDone;
  }
  return deliver(pipeline, transit);
}

}  // namespace sidestep::forward
