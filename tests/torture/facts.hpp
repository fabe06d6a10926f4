// SPDX-License-Identifier: Apache-2.0
// What an answer says, copied while it is borrowed.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include <sidestep/lookup/answer.hpp>

namespace sidestep::torture {

/// What freed memory is filled with.
inline constexpr int kPoison = 0xdd;

struct Facts {
  fib::DstInput input{};
  IfIndex device{};
  bool has_gateway = false;
  net::Ipv6Address gateway{};
  std::uint32_t mtu = 0;

  bool operator==(const Facts&) const = default;

  [[nodiscard]] static Facts of(const fib::Dst& dst) {
    return {dst->input, dst->device, dst->has_gateway, dst->gateway, dst->mtu};
  }
  [[nodiscard]] bool is_poisoned() const {
    const auto poisoned = [](std::uint8_t byte) { return byte == kPoison; };
    return std::ranges::all_of(gateway.bytes, poisoned) || device.value == 0xdddd'dddd ||
           mtu == 0xdddd'dddd;
  }
  [[nodiscard]] std::string to_string() const {
    return fmt::format("input {} device {} via {} mtu {}{}", static_cast<int>(input), device.value,
                       has_gateway ? gateway.to_string() : "nothing", mtu,
                       is_poisoned() ? ", FREED MEMORY" : "");
  }
};

/// A gateway that names who made it: a subject, its version, and a number of its own.
///
///   fe80:: | 8 bits subject | 48 bits version | 8 bits member
struct Tag {
  std::uint8_t subject = 0;
  std::uint64_t version = 0;
  std::uint8_t member = 0;

  bool operator==(const Tag&) const = default;

  [[nodiscard]] net::Ipv6Address gateway() const {
    net::Ipv6Address address;
    address.bytes[0] = 0xfe;
    address.bytes[1] = 0x80;
    address.bytes[8] = subject;
    for (unsigned i = 0; i < 6; ++i)
      address.bytes[9 + i] = static_cast<std::uint8_t>(version >> (8 * (5 - i)));
    address.bytes[15] = member;
    return address;
  }
  [[nodiscard]] static Tag of(const net::Ipv6Address& gateway) {
    Tag tag{.subject = gateway.bytes[8], .member = gateway.bytes[15]};
    for (unsigned i = 0; i < 6; ++i) tag.version = tag.version << 8 | gateway.bytes[9 + i];
    return tag;
  }
};

}  // namespace sidestep::torture
