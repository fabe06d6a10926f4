// SPDX-License-Identifier: Apache-2.0
// What was learned about single destinations beyond a hop: smaller path MTUs and better gateways (kernel: rt6_exception).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

#include <sidestep/net/address.hpp>

namespace sidestep::fib {

class Route;

/// Exceptions of one hop, by destination (and source where the route is source-specific). Each is a route to one address, with a
/// destination of its own that overrides the hop's. Its source prefix says what it is found by: nothing (::/0), the source
/// prefix of its route, or the source of one flow (/128).
///
/// One writer; readers inside a read section. A bucket holds at least kDepthLeast exceptions, and fewer than twice as many: how
/// many exactly depends on the seed, so that a stranger cannot learn from evictions what else is in it.
class HopExceptions {
 public:
  static constexpr std::size_t kBucketCount = 1024;
  static constexpr std::size_t kDepthLeast = 5;

  explicit HopExceptions(std::uint64_t seed) noexcept : seed_(seed) {}
  ~HopExceptions();  ///< retires what is left; no reader may find it any more
  HopExceptions(const HopExceptions&) = delete;
  HopExceptions& operator=(const HopExceptions&) = delete;

  /// The exception of exactly this pair, expired or not; nullptr when there is none.
  /// @param source  address of the exception's source prefix; unspecified where the route is not source-specific
  /// Thread: registered reader inside a section, or the writer. Cost: one hash, one bucket.
  [[nodiscard]] const Route* find(const net::Ipv6Address& destination,
                                  const net::Ipv6Address& source) const noexcept;

  /// Takes the exception over, in the place of the one of its pair, which is retired. The oldest of a bucket that is too
  /// full goes. Thread: writer.
  void insert(Route* exception);
  /// Removes and retires those that `doomed` says. Thread: writer.
  void erase_if(const std::function<bool(const Route&)>& doomed);
  /// Thread: writer.
  void for_each(const std::function<void(const Route&)>& visit) const;
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  struct Bucket;
  [[nodiscard]] std::uint64_t hash(const net::Ipv6Address& destination,
                                   const net::Ipv6Address& source) const noexcept;
  void publish(std::size_t index, Bucket* next, const Bucket* old) noexcept;

  std::uint64_t seed_;
  std::size_t size_ = 0;
  std::array<std::atomic<const Bucket*>, kBucketCount> buckets_{};
};

}  // namespace sidestep::fib
