// SPDX-License-Identifier: Apache-2.0
// A packet: bytes with headroom, and what the pipeline knows of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <sidestep/fib/dst.hpp>
#include <sidestep/net/address.hpp>
#include <sidestep/net/ids.hpp>

#include "packet/drop_reason.hpp"

namespace sidestep::packet {

/// Where a packet goes when the pipeline is done with it.
enum class Verdict : std::uint8_t {
  kPending,   ///< still in the pipeline
  kTransmit,  ///< out of `egress`, to `destination_mac`
  kDeliver,   ///< to the local host
  kAnswered,  ///< consumed by the router itself, which sent an answer (echo reply)
  kDrop,      ///< see `drop_reason`
};

inline constexpr std::uint16_t kEtherTypeIpv6 = 0x86dd;

/// How the frame was addressed on the link (kernel: skb->pkt_type).
enum class L2Class : std::uint8_t { kHost, kBroadcast, kMulticast, kOtherHost };

/// What the pipeline knows of a packet beside its bytes.
struct PacketMeta {
  IfIndex ingress{};     ///< device it was received on; stays through decapsulation; 0: made here
  IfIndex egress{};      ///< kTransmit
  TimeNs received_at{};  ///< on the router's clock
  L2Class l2_class = L2Class::kHost;
  Verdict verdict = Verdict::kPending;
  DropReason drop_reason = DropReason::kNone;
  std::uint32_t mark = 0;
  std::uint32_t multipath_hash = 0;
  bool routing_header_consumed = false;  ///< by the end-host SRH code; suppresses redirects
  bool router_alert = false;
  std::uint8_t lookups = 0;      ///< lookups done for it on this node; bounded
  net::MacAddress source_mac{};  ///< received; on kTransmit: to be sent
  net::MacAddress destination_mac{};
  bool has_mac = false;  ///< false: the link type has no link-layer addresses
  /// kTransmit: what the bytes are, as Ethernet says it; not IPv6 only behind a decapsulated frame.
  std::uint16_t ether_type = kEtherTypeIpv6;
  std::uint64_t record = 0;  ///< caller's number for it (capture record), carried along
};

/// One packet. The bytes begin at the IPv6 header; room before them takes encapsulations.
///
/// Thread:   one at a time
/// Lifetime: owns its storage, which is reused by assign()
/// Cost:     no allocation after construction
class Packet {
 public:
  /// Bytes: an encapsulation by as many segments as an SRH can have, and more by usual ones.
  static constexpr std::size_t kHeadroom = 2560;
  static constexpr std::size_t kSizeMax =
      65'536 + 64;  ///< bytes; longer frames are refused by assign()

  Packet();
  Packet(Packet&&) noexcept = default;
  Packet& operator=(Packet&&) noexcept = default;

  /// Takes a copy of `bytes` behind the headroom and resets the metadata and the destination; false when too long.
  [[nodiscard]] bool assign(std::span<const std::uint8_t> bytes) noexcept;
  [[nodiscard]] std::span<std::uint8_t> bytes() noexcept {
    return {storage_.get() + begin_, size_};
  }
  [[nodiscard]] std::span<const std::uint8_t> bytes() const noexcept {
    return {storage_.get() + begin_, size_};
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Grows at the front by `count` bytes (contents undefined); nullptr when the headroom is used up.
  [[nodiscard]] std::uint8_t* prepend(std::size_t count) noexcept;
  /// Cuts `count` bytes from the front; asserted to be there.
  void remove_front(std::size_t count) noexcept;
  /// Shortens to `size` bytes; asserted not to grow.
  void truncate(std::size_t size) noexcept;
  /// Takes truncate() back: the bytes up to `size` are what they were. Asserted not to shrink, nor to reach beyond the storage.
  void untruncate(std::size_t size) noexcept;
  /// Sets the size to `size` bytes behind the headroom (contents undefined); for building a packet from nothing.
  [[nodiscard]] bool reset(std::size_t size) noexcept;

  void drop(DropReason reason) noexcept {
    meta.verdict = Verdict::kDrop;
    meta.drop_reason = reason;
  }

  PacketMeta meta;
  fib::PacketDst dst;

 private:
  std::unique_ptr<std::uint8_t[]> storage_;
  std::size_t begin_ = kHeadroom;
  std::size_t size_ = 0;
};

/// Up to 64 packets. Storage is kept between uses.
class Batch {
 public:
  static constexpr std::size_t kCapacity = 64;

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool full() const noexcept { return size_ == kCapacity; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  /// The next packet, with old contents; the caller assigns. Asserted not full.
  [[nodiscard]] Packet& add();
  void remove_last() noexcept { packets_[--size_].dst.reset(); }
  void clear() noexcept;
  [[nodiscard]] Packet& operator[](std::size_t index) noexcept { return packets_[index]; }
  [[nodiscard]] const Packet& operator[](std::size_t index) const noexcept {
    return packets_[index];
  }
  [[nodiscard]] auto begin() noexcept { return packets_.begin(); }
  [[nodiscard]] auto end() noexcept {
    return packets_.begin() + static_cast<std::ptrdiff_t>(size_);
  }

 private:
  std::vector<Packet> packets_;  // grows to kCapacity once
  std::size_t size_ = 0;
};

}  // namespace sidestep::packet
