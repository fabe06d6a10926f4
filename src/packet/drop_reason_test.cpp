// SPDX-License-Identifier: Apache-2.0
#include "packet/drop_reason.hpp"

#include <cctype>
#include <set>

#include <gtest/gtest.h>

#include "packet/counters.hpp"

namespace sidestep::packet {
namespace {

TEST(DropReason, EachIsListedOnce) {
  const auto all = all_drop_reasons();
  const std::set<DropReason> distinct(all.begin(), all.end());
  EXPECT_EQ(all.size(), kDropReasonCount - 1);
  EXPECT_EQ(distinct.size(), all.size());
  EXPECT_FALSE(distinct.contains(DropReason::kNone));
  EXPECT_FALSE(distinct.contains(DropReason::kCount));
}

TEST(DropReason, NamesAreSnakeCaseAndHelpIsOneLine) {
  for (const DropReason reason : all_drop_reasons()) {
    const DropReasonText& text = text_of(reason);
    EXPECT_EQ(text.reason, reason);
    for (const char c : text.name) {
      EXPECT_TRUE((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_') << text.name;
    }
    EXPECT_EQ(text.help.find('\n'), std::string_view::npos) << text.name;
    EXPECT_NE(text.help.back(), '.') << text.name;
    EXPECT_LE(text.help.size(), 100U) << text.name;
  }
}

TEST(DropReason, TextsBelongToTheirReason) {
  EXPECT_EQ(text_of(DropReason::kHopLimitExceeded).name, "hop_limit_exceeded");
  EXPECT_EQ(text_of(DropReason::kHopLimitExceeded).snmp, "Ip6InHdrErrors");
  EXPECT_EQ(text_of(DropReason::kNotImplemented).name, "not_implemented");
  EXPECT_EQ(text_of(DropReason::kPayloadTruncated).snmp, "Ip6InTruncatedPkts");
  EXPECT_EQ(text_of(DropReason::kBlackhole).snmp, "");
  EXPECT_EQ(text_of(DropReason::kNone).name, "none");
}

}  // namespace
}  // namespace sidestep::packet
