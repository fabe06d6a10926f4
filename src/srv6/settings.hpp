// SPDX-License-Identifier: Apache-2.0
// What `ip sr` configures for the whole router.
#pragma once

#include <cstdint>
#include <string>

#include <sidestep/net/address.hpp>

#include "srv6/hmac.hpp"

namespace sidestep::srv6 {

/// A shared secret (`sr hmac set KEYID ALGO`). iproute2 asks for the secret on the terminal; ours takes it as the next word.
struct HmacKey {
  std::uint32_t id = 0;
  HmacAlgorithm algorithm = HmacAlgorithm::kSha256;
  std::string secret;
};

struct Settings {
  net::Ipv6Address tunnel_source{};  ///< `sr tunsrc set`; `::`: unset
  HmacSecrets hmac_secrets{};
};

}  // namespace sidestep::srv6
