// SPDX-License-Identifier: Apache-2.0
#include "lookup/multipath_hash.hpp"

#include "fib/mixer.hpp"

namespace sidestep::lookup {
namespace {

// Bits of net.ipv6.fib_multipath_hash_fields (FIB_MULTIPATH_HASH_FIELD_*). Those of the inner packet follow in
// the same order.
constexpr std::uint32_t kFieldSource = 1;
constexpr std::uint32_t kFieldDestination = 2;
constexpr std::uint32_t kFieldProtocol = 4;
constexpr std::uint32_t kFieldFlowLabel = 8;
constexpr std::uint32_t kFieldSourcePort = 16;
constexpr std::uint32_t kFieldDestinationPort = 32;
constexpr unsigned kInnerFieldsShift = 6;

constexpr std::uint32_t kFieldsL3 =
    kFieldSource | kFieldDestination | kFieldProtocol | kFieldFlowLabel;
constexpr std::uint32_t kFieldsL4 =
    kFieldSource | kFieldDestination | kFieldProtocol | kFieldSourcePort | kFieldDestinationPort;

std::uint32_t fields_of_policy(const fib::Sysctls& sysctls) noexcept {
  switch (sysctls.fib_multipath_hash_policy) {
    case 1:
      return kFieldsL4;
    case 3:
      return sysctls.fib_multipath_hash_fields;
    // Policy 2 hashes an encapsulated packet's inner header; a flow has none, and then it is policy 0.
    default:
      return kFieldsL3;
  }
}

void add_fields(fib::Mixer& mixer, const Flow& flow, std::uint32_t fields) noexcept {
  if ((fields & kFieldSource) != 0) mixer.add(flow.source);
  if ((fields & kFieldDestination) != 0) mixer.add(flow.destination);
  const std::uint64_t label = (fields & kFieldFlowLabel) != 0 ? flow.flow_label : 0;
  const std::uint64_t protocol = (fields & kFieldProtocol) != 0 ? flow.protocol : 0;
  const std::uint64_t source_port = (fields & kFieldSourcePort) != 0 ? flow.source_port : 0;
  const std::uint64_t destination_port =
      (fields & kFieldDestinationPort) != 0 ? flow.destination_port : 0;
  mixer.add(label << 8 | protocol);
  mixer.add(source_port << 16 | destination_port);
}

}  // namespace

std::uint32_t multipath_hash(const Snapshot& state, const Flow& flow, const Flow* inner) noexcept {
  const std::uint32_t fields = fields_of_policy(*state.sysctls);
  fib::Mixer mixer(state.multipath_seed);
  add_fields(mixer, flow, fields);
  const std::uint32_t inner_fields = fields >> kInnerFieldsShift;
  if (inner != nullptr && inner_fields != 0) add_fields(mixer, *inner, inner_fields);
  // 31 bits, because shares are bounds of signed 32-bit values. 0 means "not computed" to callers.
  const auto hash =
      static_cast<std::uint32_t>(fib::fold_multiply(mixer.state(), 0xe703'7ed1'a0b4'28db) >> 33);
  return hash == 0 ? 1 : hash;
}

}  // namespace sidestep::lookup
