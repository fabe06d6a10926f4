// SPDX-License-Identifier: Apache-2.0
#include <sidestep/fib/link.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <sidestep/assert.hpp>

namespace sidestep::fib {
namespace {

constexpr std::uint32_t kLoopbackMtu = 65536;

InterfaceAddress loopback_address() {
  InterfaceAddress loopback;  // ::1/128
  loopback.address.bytes[15] = 1;
  return loopback;
}

}  // namespace

Links::Links() {
  Link& lo = add("lo");
  SIDESTEP_ASSERT(lo.index == kLoopbackIndex);
  lo.mtu = kLoopbackMtu;
  lo.up = true;
  lo.addresses.push_back(loopback_address());
}

const Link* Links::find(IfIndex index) const noexcept {
  const auto found = links_.find(index);
  return found == links_.end() ? nullptr : &found->second;
}

const Link* Links::find(std::string_view name) const noexcept {
  const auto found =
      std::ranges::find_if(links_, [&](const auto& entry) { return entry.second.name == name; });
  return found == links_.end() ? nullptr : &found->second;
}

Link* Links::find(IfIndex index) noexcept {
  return const_cast<Link*>(std::as_const(*this).find(index));
}

Link& Links::add(std::string name) {
  SIDESTEP_ASSERT(find(name) == nullptr);
  const IfIndex index{next_index_++};  // like the kernel's, an index is not used twice
  Link& link = links_[index];
  link.index = index;
  link.name = std::move(name);
  return link;
}

void Links::erase(IfIndex index) { links_.erase(index); }

std::string Links::name(IfIndex index) const {
  const Link* link = find(index);
  return link != nullptr ? link->name : fmt::format("if{}", index.value);
}

const Link* Links::vrf_of(IfIndex device) const noexcept {
  const Link* link = find(device);
  if (link == nullptr || link->vrf_table) return link;
  const Link* master = find(link->master);
  return master != nullptr && master->vrf_table ? master : nullptr;
}

const Link* Links::owner_of(const net::Ipv6Address& address) const noexcept {
  const auto has_address = [&](const auto& entry) {
    return std::ranges::any_of(entry.second.addresses, [&](const InterfaceAddress& mine) {
      return mine.address == address;
    });
  };
  const auto found = std::ranges::find_if(links_, has_address);
  return found == links_.end() ? nullptr : &found->second;
}

}  // namespace sidestep::fib
