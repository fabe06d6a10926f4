// SPDX-License-Identifier: Apache-2.0
// HMAC over the packet's source and what an SRH says that does not change on the way:
//
//     | source address (16) | last entry (1) | flags (1) | key id (4) | segment list (16 × (last entry + 1)) |
//
// Neither segments_left nor the destination is covered.
//
// HMAC(K, text) = H(K ⊕ opad | H(K ⊕ ipad | text)). What each hash makes of its first block depends on the secret alone, so
// both states are computed once, when the secret is configured, and a packet copies them. That is why the hash functions
// are called directly, which OpenSSL 3 advises against: its own HMAC contexts are written to by each use, and copying one
// allocates.
#include "srv6/hmac.hpp"

#include <algorithm>
#include <cstring>

#include <openssl/crypto.h>

#include <sidestep/assert.hpp>
#include <sidestep/net/wire.hpp>

namespace sidestep::srv6 {
namespace {

constexpr std::size_t kBlockSize = 64;  // of both hash functions
constexpr std::size_t kSegmentSize = 16;
constexpr std::size_t kFixedText = kSegmentSize + 6;

using Block = std::array<std::uint8_t, kBlockSize>;

Block padded(std::string_view secret, std::uint8_t padding) noexcept {
  Block block{};
  std::ranges::copy(secret, block.begin());
  for (std::uint8_t& byte : block) byte ^= padding;
  return block;
}

}  // namespace

HmacSecret::HmacSecret(HmacAlgorithm algorithm, std::string_view secret) noexcept
    : algorithm_(algorithm) {
  SIDESTEP_ASSERT(secret.size() <= kSecretMax);
  const Block inner = padded(secret, 0x36);
  const Block outer = padded(secret, 0x5c);
  SHA1_Init(&sha1_inner_);
  SHA1_Update(&sha1_inner_, inner.data(), inner.size());
  SHA1_Init(&sha1_outer_);
  SHA1_Update(&sha1_outer_, outer.data(), outer.size());
  SHA256_Init(&sha256_inner_);
  SHA256_Update(&sha256_inner_, inner.data(), inner.size());
  SHA256_Init(&sha256_outer_);
  SHA256_Update(&sha256_outer_, outer.data(), outer.size());
}

HmacSecret::Digest HmacSecret::sign(std::span<const std::uint8_t> text) const noexcept {
  Digest digest{};
  if (algorithm_ == HmacAlgorithm::kSha1) {
    std::array<std::uint8_t, SHA_DIGEST_LENGTH> within{};
    SHA_CTX hash = sha1_inner_;
    SHA1_Update(&hash, text.data(), text.size());
    SHA1_Final(within.data(), &hash);
    hash = sha1_outer_;
    SHA1_Update(&hash, within.data(), within.size());
    SHA1_Final(digest.data(), &hash);
    return digest;
  }
  std::array<std::uint8_t, SHA256_DIGEST_LENGTH> within{};
  SHA256_CTX hash = sha256_inner_;
  SHA256_Update(&hash, text.data(), text.size());
  SHA256_Final(within.data(), &hash);
  hash = sha256_outer_;
  SHA256_Update(&hash, within.data(), within.size());
  SHA256_Final(digest.data(), &hash);
  return digest;
}

HmacSecret::Digest sign_srh(std::span<const std::uint8_t> srh, const net::Ipv6Address& source,
                            std::uint32_t key_id, const HmacSecret& secret) noexcept {
  std::array<std::uint8_t, kFixedText + kHmacSegmentsMax * kSegmentSize> text{};
  const std::size_t list_size = (std::size_t{srh[4]} + 1) * kSegmentSize;
  SIDESTEP_ASSERT(kFixedText + list_size <= text.size() &&
                  net::RoutingHeader::kFixedSize + list_size <= srh.size());
  std::ranges::copy(source.bytes, text.begin());
  text[kSegmentSize] = srh[4];
  text[kSegmentSize + 1] = srh[5];
  net::store_be32(&text[kSegmentSize + 2], key_id);
  std::memcpy(&text[kFixedText], &srh[net::RoutingHeader::kFixedSize], list_size);
  return secret.sign(std::span(text).first(kFixedText + list_size));
}

bool verify_hmac(const net::RoutingHeader& srh, const net::Ipv6Address& source,
                 const HmacSecrets& secrets) noexcept {
  const auto bytes = srh.bytes();
  if (bytes[4] >= kHmacSegmentsMax) return false;
  const auto tlv = bytes.last(net::Srh::kHmacTlvSize);
  const std::uint32_t key_id = net::load_be32(&tlv[kHmacKeyIdOffset]);
  const auto found = secrets.find(key_id);
  if (found == secrets.end()) return false;
  const HmacSecret::Digest digest = sign_srh(bytes, source, key_id, found->second);
  return CRYPTO_memcmp(digest.data(), &tlv[kHmacDigestOffset], digest.size()) == 0;
}

}  // namespace sidestep::srv6
