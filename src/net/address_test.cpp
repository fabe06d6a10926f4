// SPDX-License-Identifier: Apache-2.0
#include <sidestep/net/address.hpp>
#include <sidestep/net/prefix.hpp>

#include <gtest/gtest.h>

namespace sidestep::net {
namespace {

Ipv6Address address(std::string_view text) {
  const auto parsed = Ipv6Address::parse(text);
  EXPECT_TRUE(parsed) << text;
  return parsed.value_or(Ipv6Address{});
}

TEST(Ipv6Address, PrintsWhatItReads) {
  for (const auto* text :
       {"::", "::1", "2001:db8::1", "fe80::ff:fe00:1", "::ffff:192.0.2.1", "ff02::1:ff00:1"}) {
    EXPECT_EQ(address(text).to_string(), text);
  }
}

TEST(Ipv6Address, RefusesWhatIsNoAddress) {
  for (const auto* text :
       {"", "1", "2001:db8::1::", "2001:db8::1/64", "fe80::1%eth0", "12345::", ":1"}) {
    EXPECT_FALSE(Ipv6Address::parse(text)) << text;
  }
}

TEST(Ipv6Address, KnowsItsScope) {
  EXPECT_EQ(address("fe80::1").scope(), Scope::kLinkLocal);
  EXPECT_EQ(address("2001:db8::1").scope(), Scope::kGlobal);
  EXPECT_EQ(address("ff05::2").scope(), Scope::kSiteLocal);
  EXPECT_EQ(address("febf::1").is_link_local(), true);
  EXPECT_EQ(address("fec0::1").is_link_local(), false);
}

TEST(Ipv6Address, MakesItsSolicitedNodeAddress) {
  EXPECT_EQ(address("2001:db8::12:3456").solicited_node(), address("ff02::1:ff12:3456"));
}

TEST(CommonPrefixLength, CountsBitsOnBothSidesOfAByte) {
  EXPECT_EQ(common_prefix_length(address("::"), address("8000::")), 0U);
  EXPECT_EQ(common_prefix_length(address("2001:db8::"), address("2001:db9::")), 31U);
  EXPECT_EQ(common_prefix_length(address("::1"), address("::1")), 128U);
}

TEST(MacAddress, ReadsAndPrints) {
  const auto mac = MacAddress::parse("02:0:00:00:aB:01");
  ASSERT_TRUE(mac);
  EXPECT_EQ(mac->to_string(), "02:00:00:00:ab:01");
  EXPECT_EQ(mac->link_local(), address("fe80::ff:fe00:ab01"));
  for (const auto* text :
       {"", "02:00:00:00:00", "02:00:00:00:00:00:00", "020:00:00:00:00:1", "0g:00:00:00:00:00"}) {
    EXPECT_FALSE(MacAddress::parse(text)) << text;
  }
}

TEST(Prefix, BareAddressIsTheWholeAddress) {
  EXPECT_EQ(Prefix::parse("2001:db8::2")->length(), 128);
  EXPECT_EQ(Prefix::parse("2001:db8::2/0")->to_string(), "::/0");
}

TEST(Prefix, RefusesImpossibleLengths) {
  for (const auto* text : {"::/129", "::/", "::/-1", "::/+1", "::/ 1", "::/1a", "::/256", "/64"}) {
    EXPECT_FALSE(Prefix::parse(text)) << text;
  }
}

TEST(Prefix, ClearsHostBitsAndCoversExactlyItsRange) {
  for (unsigned length = 0; length <= 128; ++length) {
    const Prefix prefix(address("ff82:8280:8182:ffff:8000:1:ffff:fffe"),
                        static_cast<std::uint8_t>(length));
    EXPECT_TRUE(prefix.covers(address("ff82:8280:8182:ffff:8000:1:ffff:fffe")));
    if (length == 0) continue;
    auto outside = prefix.address();
    outside.bytes[(length - 1) / 8] ^= static_cast<std::uint8_t>(0x80 >> ((length - 1) % 8));
    EXPECT_FALSE(prefix.covers(outside)) << length;
    for (unsigned bit = length; bit < 128; ++bit) EXPECT_FALSE(prefix.address().bit(bit));
  }
}

}  // namespace
}  // namespace sidestep::net
