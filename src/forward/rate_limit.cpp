// SPDX-License-Identifier: Apache-2.0
#include "forward/rate_limit.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace sidestep::forward {
namespace {

std::size_t hash_of(const net::Ipv6Address& address) noexcept {
  std::uint64_t halves[2];
  std::memcpy(halves, address.bytes.data(), sizeof halves);
  std::uint64_t mixed = (halves[0] ^ (halves[1] << 1)) * 0x9e3779b97f4a7c15ULL;
  mixed ^= mixed >> 32;
  mixed = (mixed ^ halves[1]) * 0xd6e8feb86659fd93ULL;
  return static_cast<std::size_t>(mixed >> 32);
}

/// Time between two instants; packets of several captures may step back by a little, which counts as no time.
std::uint64_t elapsed_ns(TimeNs from, TimeNs to) noexcept {
  return to > from ? to.value - from.value : 0;
}

}  // namespace

PeerLimiter::PeerLimiter() : peers_(kSets * kWays) {}

PeerLimiter::Peer& PeerLimiter::find_or_replace(const net::Ipv6Address& host, TimeNs now) {
  Peer* const set = &peers_[(hash_of(host) % kSets) * kWays];
  Peer* victim = set;
  for (std::size_t way = 0; way < kWays; ++way) {
    Peer& peer = set[way];
    if (peer.used && peer.host == host) return peer;
    if (!victim->used) continue;
    if (!peer.used || peer.last < victim->last) victim = &peer;
  }
  // A host that is met for the first time counts as silent for a minute, so it has its burst.
  *victim = {host, true, 60 * kNsPerSecond, now};
  return *victim;
}

bool PeerLimiter::allow(const net::Ipv6Address& host, std::uint64_t interval_ns, TimeNs now) {
  Peer& peer = find_or_replace(host, now);
  const std::uint64_t earned = peer.tokens_ns + elapsed_ns(peer.last, now);
  std::uint64_t tokens = std::min(earned, kBurst * interval_ns);
  const bool allowed = tokens >= interval_ns;
  if (allowed) tokens -= interval_ns;
  peer.tokens_ns = tokens;
  peer.last = std::max(peer.last, now);
  return allowed;
}

bool GlobalLimiter::allow(std::uint32_t per_second, std::uint32_t burst, TimeNs now) {
  if (credit_ > 0) return true;
  const std::uint64_t passed = started_ ? elapsed_ns(stamp_, now) : kNsPerSecond;
  const std::uint64_t counted = std::min(passed, kNsPerSecond);
  if (counted < kNsPerSecond / 50) return false;  // the kernel refills at most every 20 ms
  const std::uint64_t earned = per_second * counted / kNsPerSecond;
  if (earned == 0) return false;
  credit_ = std::min<std::uint64_t>(earned, burst);
  stamp_ = now;
  started_ = true;
  return true;
}

void GlobalLimiter::consume() noexcept {
  if (credit_ > 0) --credit_;
}

std::bitset<256> parse_rate_mask(std::string_view text) {
  std::bitset<256> mask;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view range = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    unsigned first = 0;
    const char* const end = range.data() + range.size();
    const auto begin = std::from_chars(range.data(), end, first);
    if (begin.ec != std::errc{}) continue;
    unsigned last = first;
    if (begin.ptr != end && *begin.ptr == '-') {
      if (std::from_chars(begin.ptr + 1, end, last).ec != std::errc{}) continue;
    }
    for (unsigned type = first; type <= last && type < mask.size(); ++type) mask.set(type);
  }
  return mask;
}

}  // namespace sidestep::forward
