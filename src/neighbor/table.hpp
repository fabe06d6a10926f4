// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
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
  bool proxy =
      false;  ///< an address that this node answers for; lives beside a neighbor of the same key

  /// Packets may be sent with it: everything but none, incomplete and failed.
  [[nodiscard]] bool is_valid() const noexcept {
    return state != State::kNone && state != State::kIncomplete && state != State::kFailed;
  }
  bool operator==(const Neighbor&) const = default;
};

/// Neighbors by (device, address), and proxy entries beside them. One writer; readers inside a read section.
///
/// Lifetime: at its end no reader may be in a section that used it
class Table {
 public:
  Table();
  ~Table();
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  /// Borrowed until the caller's next quiescent state; nullptr when unknown. Never a proxy entry.
  /// Thread: registered reader, inside a section (asserted in debug builds). Cost: one hash probe.
  [[nodiscard]] const Neighbor* find(IfIndex device,
                                     const net::Ipv6Address& address) const noexcept;
  /// The same for proxy entries.
  [[nodiscard]] const Neighbor* find_proxy(IfIndex device,
                                           const net::Ipv6Address& address) const noexcept;
  /// Adds the entry, or puts it in the place of the one with its key. Errors: EEXIST when the entry is there and
  /// `replace` is false. Thread: writer.
  Result<void> insert(const Neighbor& neighbor, bool replace);
  /// Errors: ENOENT. Thread: writer.
  Result<void> erase(IfIndex device, const net::Ipv6Address& address, bool proxy = false);
  /// Removes a device's entries, the permanent ones and proxies too if `all`. Thread: writer.
  void flush(IfIndex device, bool all);
  /// All entries, by device, then address, proxy entries last. Writer or a quiet table.
  [[nodiscard]] std::vector<Neighbor> all() const;
  /// Writer or a quiet table.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  struct Node;
  struct Map;
  struct Key;
  [[nodiscard]] const Neighbor* lookup(const Key& key) const noexcept;
  void grow();

  std::atomic<Map*> map_;
  std::size_t size_ = 0;
};

}  // namespace sidestep::neighbor
