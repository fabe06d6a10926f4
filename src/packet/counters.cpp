// SPDX-License-Identifier: Apache-2.0
// The kernel counts most events twice, for the network namespace and for the device; so does add(). Counters that exist
// for the namespace only are added with device 0.
#include "packet/counters.hpp"

namespace sidestep::packet {
namespace {

void add_set(SnmpSet& sum, const SnmpSet& set) noexcept {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += set[i];
}

}  // namespace

void Counters::add(Snmp counter, IfIndex device, std::uint64_t amount) {
  const auto index = static_cast<std::size_t>(counter);
  host_[index] += amount;
  if (device) devices_[device][index] += amount;
}

void Counters::add(const Counters& other) {
  add_set(host_, other.host_);
  for (const auto& [device, set] : other.devices_) add_set(devices_[device], set);
  for (std::size_t i = 0; i < drops_.size(); ++i) drops_[i] += other.drops_[i];
}

std::uint64_t Counters::device(IfIndex index, Snmp counter) const noexcept {
  const auto found = devices_.find(index);
  return found == devices_.end() ? 0 : found->second[static_cast<std::size_t>(counter)];
}

}  // namespace sidestep::packet
