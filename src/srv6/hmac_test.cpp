// SPDX-License-Identifier: Apache-2.0
#include "srv6/hmac.hpp"

#include <string>

#include <gtest/gtest.h>

#include "net/bytes_for_test.hpp"

namespace sidestep::srv6 {
namespace {

using namespace net::test;

Bytes bytes_of(std::string_view hex) {
  Bytes bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes.push_back(
        static_cast<std::uint8_t>(std::stoul(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}
Bytes text_of(std::string_view text) { return {text.begin(), text.end()}; }

void expect_digest(HmacAlgorithm algorithm, std::string_view secret, const Bytes& text,
                   std::string_view hex) {
  const auto digest = HmacSecret(algorithm, secret).sign(text);
  Bytes expected = bytes_of(hex);
  expected.resize(HmacSecret::kDigestSize);
  EXPECT_EQ(Bytes(digest.begin(), digest.end()), expected);
}

// Test cases 1, 2 and 3 of RFC 2202 and RFC 4231.
TEST(HmacSecret, SignsAsTheRfcsSay) {
  const std::string_view question = "what do ya want for nothing?";
  expect_digest(HmacAlgorithm::kSha1, std::string(20, '\x0b'), text_of("Hi There"),
                "b617318655057264e28bc0b6fb378c8ef146be00");
  expect_digest(HmacAlgorithm::kSha1, "Jefe", text_of(question),
                "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79");
  expect_digest(HmacAlgorithm::kSha256, std::string(20, '\x0b'), text_of("Hi There"),
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  expect_digest(HmacAlgorithm::kSha256, "Jefe", text_of(question),
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  expect_digest(HmacAlgorithm::kSha256, std::string(20, '\xaa'), Bytes(50, 0xdd),
                "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
}

// The same secret any number of times: no use leaves a trace.
TEST(HmacSecret, SignsTheSameAgain) {
  const HmacSecret secret(HmacAlgorithm::kSha256, "sidestep");
  const auto first = secret.sign(text_of("one"));
  static_cast<void>(secret.sign(text_of("two")));
  EXPECT_EQ(secret.sign(text_of("one")), first);
}

TEST(VerifyHmac, CoversWhatDoesNotChangeOnTheWay) {
  constexpr std::size_t kTlvAt = 8 + 32;
  HmacSecrets secrets;
  secrets.emplace(5, HmacSecret(HmacAlgorithm::kSha256, "sidestep"));
  const net::Ipv6Address source = addr("2001:db8:a::2");
  Bytes header = srh({.segments_left = 1,
                      .segments = {"2001:db8:b::2", "2001:db8:5::1"},
                      .tlvs = concat(Bytes{5, 38, 0, 0, 0, 0, 0, 5}, zeros(32)),
                      .flags = 8});
  const auto digest = sign_srh(header, source, 5, secrets.at(5));
  std::copy(digest.begin(), digest.end(), header.begin() + kTlvAt + 8);
  const auto verify = [&](const Bytes& bytes, const net::Ipv6Address& from) {
    return verify_hmac(*net::RoutingHeader::check(bytes), from, secrets);
  };
  EXPECT_TRUE(verify(header, source));
  EXPECT_FALSE(verify(header, addr("2001:db8:a::3")));
  for (const std::size_t covered : {5U, 8U, 39U, 47U, 48U, 79U}) {
    Bytes changed = header;
    changed[covered] ^= 0x10;
    EXPECT_FALSE(verify(changed, source)) << covered;
  }
  for (const std::size_t free : {0U, 3U, 6U, 42U}) {  // next header, segments left, tag, reserved
    Bytes changed = header;
    changed[free] ^= 1;
    EXPECT_TRUE(verify(changed, source)) << free;
  }
}

TEST(VerifyHmac, FifteenSegmentsAreTooMany) {
  HmacSecrets secrets;
  secrets.emplace(5, HmacSecret(HmacAlgorithm::kSha1, "sidestep"));
  for (const std::size_t count : {14U, 15U}) {
    Bytes header = srh({.segments = std::vector<std::string_view>(count, "fc00::1"),
                        .tlvs = concat(Bytes{5, 38, 0, 0, 0, 0, 0, 5}, zeros(32)),
                        .flags = 8});
    if (count <= kHmacSegmentsMax) {
      const auto digest = sign_srh(header, addr("::1"), 5, secrets.at(5));
      std::copy(digest.begin(), digest.end(), header.end() - 32);
    }
    EXPECT_EQ(verify_hmac(*net::RoutingHeader::check(header), addr("::1"), secrets), count == 14);
  }
}

}  // namespace
}  // namespace sidestep::srv6
