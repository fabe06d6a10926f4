// SPDX-License-Identifier: Apache-2.0
// HMACs of segment routing headers: what is accepted, and what is sent. The digests were computed by another
// implementation of RFC 2104, with the secret "sidestep".
#include <string>

#include "golden/lab.hpp"

namespace sidestep::golden {
namespace {

constexpr std::string_view kSid = "2001:db8:5::1";
constexpr std::string_view kFirst = "2001:db8:b::9";
constexpr std::string_view kInside = "2001:db8:47::1";
constexpr std::uint8_t kFlag = 8;
constexpr std::string_view kKeys =
    "sr hmac set 5 sha256 sidestep\n"
    "sr hmac set 6 sha1 sidestep\n"
    "route add 2001:db8:5::1 encap seg6local action End count dev r-b\n"
    "sysctl -w net.ipv6.conf.all.seg6_enabled=1\n"
    "sysctl -w net.ipv6.conf.r-a.seg6_enabled=1\n";

constexpr std::string_view kEndSha256 =
    "bb1bb5a9394b81b020c95f5c52c9e295c5b4773313f80faefcd524404bd404ac";
constexpr std::string_view kEndSha1 = "54bf9c18282f1087bb80ba43b6acf8d10c07a81f";
constexpr std::string_view kLocalSha256 =
    "b22b704557f982b23bccbac1a7429a6f626615e8843591a2602ca8ca055a0861";

Bytes tlv(std::uint8_t key, std::string_view digest) {
  Bytes bytes{5, 38, 0, 0, 0, 0, 0, key};
  for (std::size_t i = 0; i < digest.size(); i += 2) {
    bytes.push_back(
        static_cast<std::uint8_t>(std::stoul(std::string(digest.substr(i, 2)), nullptr, 16)));
  }
  bytes.resize(40);
  return bytes;
}

Bytes to(std::string_view destination, const Bytes& tlvs, std::uint8_t flags = kFlag) {
  return ipv6(
      kA, destination, {.next_header = 43},
      join({srh(59, {.segments_left = 1, .flags = flags}, {kB, destination}, tlvs), filler(16)}));
}

Step passes(std::string words, const Bytes& packet) {
  return forwards_as(std::move(words), packet,
                     with_byte(with_hop_limit(with_destination(packet, kB), 63), 43, 0));
}
Step fails(std::string words, const Bytes& packet) {
  return drops(std::move(words), packet, "hmac",
               {{"Ip6InHdrErrors", 0}, {"Ip6OutForwDatagrams", 0}});
}

Bytes wrong(Bytes packet) { return with_byte(packet, packet.size() - 17, 0x77); }

Case verified() {
  const Bytes right = to(kSid, tlv(5, kEndSha256));
  return {"hmac-verified",
          "An HMAC that is present must be right: seg6_require_hmac 0.",
          lab_config(kKeys),
          {passes("SHA-256.", right), passes("SHA-1.", to(kSid, tlv(6, kEndSha1))),
           passes("None.", to(kSid, {}, 0)), fails("A wrong one.", wrong(right)),
           fails("Of another key.", to(kSid, tlv(6, kEndSha256))),
           fails("Of a key that nobody knows.", to(kSid, tlv(7, kEndSha256))),
           passes("A wrong one that is not the last TLV counts as none.",
                  to(kSid, join({tlv(5, kEndSha1), Bytes(8)}))),
           passes("So does one without the flag.", to(kSid, tlv(5, kEndSha1), 0)),
           passes("At an address of the router.", to(kRouterA, tlv(5, kLocalSha256))),
           fails("A wrong one there.", to(kRouterA, tlv(5, kEndSha256)))}};
}

Case required() {
  return {"hmac-required",
          "An HMAC must be present and right: seg6_require_hmac 1.",
          lab_config(std::string(kKeys) + "sysctl -w net.ipv6.conf.r-a.seg6_require_hmac=1\n"),
          {passes("A right one.", to(kSid, tlv(5, kEndSha256))), fails("None.", to(kSid, {}, 0)),
           fails("None at an address of the router.", to(kRouterA, {}, 0)),
           passes("A right one there.", to(kRouterA, tlv(5, kLocalSha256)))}};
}

Case ignored() {
  return {"hmac-ignored",
          "Nobody looks at HMACs: seg6_require_hmac -1.",
          lab_config(std::string(kKeys) + "sysctl -w net.ipv6.conf.r-a.seg6_require_hmac=-1\n"),
          {passes("A wrong one.", wrong(to(kSid, tlv(5, kEndSha256)))),
           passes("A wrong one at an address of the router.", to(kRouterA, tlv(5, kEndSha1)))}};
}

Case signed_paths() {
  const Bytes packet = ipv6(kA, kInside, {.next_header = 59, .hop_limit = 33}, filler(8));
  const Bytes body(packet.begin() + 40, packet.end());
  const auto to_prefix = [&](std::string_view destination) {
    return with_destination(packet, destination);
  };
  const auto outer = [](std::string_view source, std::string_view destination,
                        const Bytes& payload) {
    return ipv6(source, destination, {.next_header = 43, .hop_limit = 32}, payload);
  };
  const auto route = [](std::string_view prefix, std::string_view words) {
    return "route add " + std::string(prefix) + " encap seg6 mode " + std::string(words) +
           " dev r-b\n";
  };
  return {
      "hmac-signed",
      "Routes that encapsulate sign what they send.",
      lab_config(std::string(kKeys) +
                 "neigh add 2001:db8:b::9 lladdr 02:00:00:00:0b:02 dev r-b nud permanent\n" +
                 route("2001:db8:47::/64", "inline segs 2001:db8:b::9,2001:db8:b::2 hmac 5") +
                 route("2001:db8:48::/64", "encap segs 2001:db8:b::9,2001:db8:b::2 hmac 5") +
                 route("2001:db8:49::/64", "encap.red segs 2001:db8:b::2 hmac 6") +
                 route("2001:db8:4a::/64", "encap segs 2001:db8:b::2 hmac 7")),
      {forwards_as(
           "Inserted.", packet,
           outer(kA, kFirst,
                 join({srh(59, {.segments_left = 2, .flags = kFlag}, {kInside, kB, kFirst},
                           tlv(5,
                               "af0fad5b715a2928644d3bcc0f1856e1ac5226e1c5b00bd1ca67292c94c047d9")),
                       body}))),
       forwards_as(
           "Encapsulated.", to_prefix("2001:db8:48::1"),
           outer(kRouterB, kFirst,
                 join({srh(41, {.segments_left = 1, .flags = kFlag}, {kB, kFirst},
                           tlv(5,
                               "755e4eb8ddcd07c9d45caae4773a65231f424dfdacc672840e1ad59a25f5f49c")),
                       to_prefix("2001:db8:48::1")}))),
       forwards_as("One segment, reduced: the header stays for the HMAC.",
                   to_prefix("2001:db8:49::1"),
                   outer(kRouterB, kB,
                         join({srh(41, {.segments_left = 0, .flags = kFlag}, {kB},
                                   tlv(6, "e0d962ae18647d229a77e09ab7fcc97eda5b3b88")),
                               to_prefix("2001:db8:49::1")}))),
       fails("A key that nobody knows.", to_prefix("2001:db8:4a::1"))}};
}

}  // namespace

std::vector<Case> hmac_cases() { return {verified(), required(), ignored(), signed_paths()}; }

}  // namespace sidestep::golden
