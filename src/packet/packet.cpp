// SPDX-License-Identifier: Apache-2.0
// Packets and batches.
//
// A packet owns one block for life, laid out as
//
//     | headroom (2560)      | IPv6 header … payload | free |
//     0                      begin_                  begin_ + size_
//
// assign() puts the bytes behind the full headroom again, so headers that were prepended or removed by the packet before
// leave no trace. Encapsulation moves begin_ to the left, decapsulation to the right; bytes are never moved for either.
// The block is not cleared: only bytes() is ever read.
//
// Invariants: begin_ + size_ never exceeds the block; nothing here allocates but the constructor of a packet and the
// growth of a batch to its 64 packets, once.
#include "packet/packet.hpp"

#include <cstring>

#include <sidestep/assert.hpp>

namespace sidestep::packet {

Packet::Packet() : storage_(std::make_unique_for_overwrite<std::uint8_t[]>(kHeadroom + kSizeMax)) {}

bool Packet::assign(std::span<const std::uint8_t> bytes) noexcept {
  if (!reset(bytes.size())) return false;
  if (!bytes.empty()) std::memcpy(storage_.get() + begin_, bytes.data(), bytes.size());
  return true;
}

bool Packet::reset(std::size_t size) noexcept {
  if (size > kSizeMax) return false;
  begin_ = kHeadroom;
  size_ = size;
  meta = {};
  dst.reset();
  return true;
}

std::uint8_t* Packet::prepend(std::size_t count) noexcept {
  if (count > begin_) return nullptr;
  begin_ -= count;
  size_ += count;
  return storage_.get() + begin_;
}

void Packet::remove_front(std::size_t count) noexcept {
  SIDESTEP_ASSERT(count <= size_);
  begin_ += count;
  size_ -= count;
}

void Packet::truncate(std::size_t size) noexcept {
  SIDESTEP_ASSERT(size <= size_);
  size_ = size;
}

void Packet::untruncate(std::size_t size) noexcept {
  SIDESTEP_ASSERT(size >= size_ && begin_ + size <= kHeadroom + kSizeMax);
  size_ = size;
}

Packet& Batch::add() {
  SIDESTEP_ASSERT(!full());
  if (packets_.capacity() == 0) packets_.reserve(kCapacity);
  if (size_ == packets_.size()) packets_.emplace_back();
  return packets_[size_++];
}

void Batch::clear() noexcept {
  // A borrow must not outlive its section in a packet that waits for its next use.
  for (std::size_t i = 0; i < size_; ++i) packets_[i].dst.reset();
  size_ = 0;
}

}  // namespace sidestep::packet
