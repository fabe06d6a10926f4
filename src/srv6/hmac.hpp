// SPDX-License-Identifier: Apache-2.0
// The HMAC of a segment routing header (RFC 8754 §2.1.2).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>

#include <openssl/sha.h>

#include <sidestep/net/address.hpp>
#include <sidestep/net/srh.hpp>

namespace sidestep::srv6 {

enum class HmacAlgorithm : std::uint8_t { kSha1 = 1, kSha256 = 2 };

/// A shared secret, ready for use: the hash functions have taken in both of its paddings.
///
/// Thread: any number of readers
class HmacSecret {
 public:
  static constexpr std::size_t kDigestSize =
      32;  ///< bytes in the TLV; a shorter digest is followed by zeros
  static constexpr std::size_t kSecretMax = 64;  ///< bytes
  using Digest = std::array<std::uint8_t, kDigestSize>;

  /// @param secret  at most kSecretMax bytes, asserted
  HmacSecret(HmacAlgorithm algorithm, std::string_view secret) noexcept;

  /// RFC 2104. Cost: no allocation.
  [[nodiscard]] Digest sign(std::span<const std::uint8_t> text) const noexcept;

 private:
  HmacAlgorithm algorithm_;
  SHA_CTX sha1_inner_{};
  SHA_CTX sha1_outer_{};
  SHA256_CTX sha256_inner_{};
  SHA256_CTX sha256_outer_{};
};

/// By key id.
using HmacSecrets = std::map<std::uint32_t, HmacSecret>;

// Within the HMAC TLV (RFC 8754 §2.1.2).
inline constexpr std::size_t kHmacKeyIdOffset = 4;
inline constexpr std::size_t kHmacDigestOffset = 8;

/// More segments than this are not signed (the kernel's text has at most 255 bytes).
inline constexpr std::size_t kHmacSegmentsMax = 14;

/// Whether an SRH that has an HMAC has the right one.
[[nodiscard]] bool verify_hmac(const net::RoutingHeader& srh, const net::Ipv6Address& source,
                               const HmacSecrets& secrets) noexcept;

/// The digest of an SRH of at most kHmacSegmentsMax segments.
[[nodiscard]] HmacSecret::Digest sign_srh(std::span<const std::uint8_t> srh,
                                          const net::Ipv6Address& source, std::uint32_t key_id,
                                          const HmacSecret& secret) noexcept;

}  // namespace sidestep::srv6
