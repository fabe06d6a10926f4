// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <sidestep/net/address.hpp>
#include <sidestep/net/ids.hpp>
#include <sidestep/result.hpp>

namespace sidestep::neighbor {

/// Neighbor states, numbered as NUD_* of linux/neighbour.h.
enum class State : std::uint8_t {
  kNone = 0x00,
  kIncomplete = 0x01,
  kReachable = 0x02,
  kStale = 0x04,
  kDelay = 0x08,
  kProbe = 0x10,
  kFailed = 0x20,
  kNoArp = 0x40,
  kPermanent = 0x80,
};

/// An entry of the neighbor table.
struct Neighbor {
  IfIndex device{};
  net::Ipv6Address address{};
  net::MacAddress mac{};
  bool has_mac = false;
  State state = State::kPermanent;
  bool router = false;
  bool proxy = false;

  /// Packets may be sent with it: everything but none, incomplete and failed.
  [[nodiscard]] bool is_valid() const noexcept {
    return state != State::kNone && state != State::kIncomplete && state != State::kFailed;
  }
};

/// Neighbors by (device, address). One writer; readers inside a read section.
class Table {
 public:
  Table();
  ~Table();
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  /// Borrowed until the caller's next quiescent state; nullptr when unknown. Cost: one hash probe.
  [[nodiscard]] const Neighbor* find(IfIndex device, const net::Ipv6Address& address) const noexcept;
  /// Errors: EEXIST when the entry is there and `replace` is false.
  Result<void> insert(const Neighbor& neighbor, bool replace);
  /// Errors: ENOENT.
  Result<void> erase(IfIndex device, const net::Ipv6Address& address);
  /// All entries, by device, then address. Writer or a quiet table.
  [[nodiscard]] std::vector<Neighbor> all() const;

 private:
  struct Map;
  std::atomic<const Map*> map_;
};

}  // namespace sidestep::neighbor
