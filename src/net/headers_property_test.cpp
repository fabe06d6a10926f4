// SPDX-License-Identifier: Apache-2.0
// Properties of the views over bytes that nobody vouches for: cut at every byte, and mutated. With a sanitizer these show
// that no view reads beyond its bytes; without one, that the walk tiles the packet and that the SRH test is the one that
// is written down a second time here, naively.
#include <array>
#include <numeric>
#include <span>

#include <gtest/gtest.h>

#include "net/mutation_for_test.hpp"

namespace sidestep::net {
namespace {

using namespace test;
using Span = std::span<const std::uint8_t>;

constexpr int kRounds = 100'000;

unsigned sum(Span bytes) { return std::accumulate(bytes.begin(), bytes.end(), 0U); }

unsigned read_options(Span packet, const ExtensionHeader& header) {
  unsigned read = 0;
  std::size_t at = header.offset + 2;
  OptionWalk walk(packet, header);
  while (const auto option = walk.next()) {
    EXPECT_EQ(option->offset, at);
    at += option->size;
    read += sum(option->data);
  }
  EXPECT_EQ(walk.offset(), at);
  EXPECT_NE(walk.is_malformed(), at == header.offset + header.size);
  return read;
}

unsigned read_routing(Span bytes) {
  const auto routing = RoutingHeader::check(bytes);
  EXPECT_TRUE(routing) << "a walked routing header is whole";
  unsigned read = sum(routing->bytes()) + (routing->has_hmac() ? 1 : 0);
  for (std::size_t i = 0; i < routing->address_count(); ++i) read += sum(routing->address(i).bytes);
  if (const auto srh = Srh::check(bytes, SrhForm::kReduced)) {
    for (std::size_t i = 0; i < srh->segment_count(); ++i) read += sum(srh->segment(i).bytes);
    std::size_t at = srh->tlv_offset();
    while (const auto tlv = srh->tlv_at(at)) {
      read += sum(tlv->data);
      at = tlv->offset + 2 + tlv->data.size();
    }
    EXPECT_EQ(at, srh->size()) << "TLVs of a valid SRH tile it";
  }
  return read;
}

/// Reads all that the views give, and checks what must hold of it.
unsigned read_all(Span packet) {
  unsigned read = 0;
  if (const auto header = Ipv6Header::check(packet)) {
    read += header->version() + header->payload_length() + sum(header->source().bytes) +
            sum(header->destination().bytes);
  }
  std::size_t at = kIpv6HeaderSize;
  ExtensionHeaderWalk walk(packet);
  while (const auto header = walk.next()) {
    EXPECT_EQ(header->offset, at);
    EXPECT_GE(header->size, 8U);
    EXPECT_LE(header->offset + header->size, packet.size());
    EXPECT_EQ(packet[header->next_header_offset], header->type);
    at += header->size;
    read += sum(header->in(packet));
    if (header->type == kNextHeaderHopByHop || header->type == kNextHeaderDestinationOptions) {
      read += read_options(packet, *header);
    }
    if (header->type == kNextHeaderRouting) read += read_routing(header->in(packet));
  }
  EXPECT_NE(walk.stop(), WalkStop::kRunning);

  const UpperLayer upper = find_upper_layer(packet);
  EXPECT_EQ(upper.stop, walk.stop());
  if (const auto ports = peek_ports(packet, upper)) read += ports->source;
  if (upper.stop == WalkStop::kUpperLayer && upper.header.offset <= packet.size()) {
    if (const auto icmp = Icmpv6Header::check(packet.subspan(upper.header.offset)))
      read += icmp->rest();
    read += ones_complement_sum(packet.subspan(upper.header.offset));
  }
  return read;
}

TEST(HeadersProperty, EveryPrefixOfEveryPacketIsSafe) {
  for (const Bytes& packet : corpus()) {
    for (std::size_t size = 0; size <= packet.size(); ++size) {
      const Bytes cut(packet.begin(), packet.begin() + static_cast<std::ptrdiff_t>(size));
      read_all(cut);
      for (const std::uint8_t stop :
           Bytes{0, 43, 44, 51, 60}) {  // started in the middle, at any offset, as any type
        ExtensionHeaderWalk walk(cut, HeaderPosition{stop, size / 2, 0});
        while (walk.next()) {
        }
      }
    }
  }
}

TEST(HeadersProperty, MutatedPacketsAreSafe) {
  Mutator mutator(1);
  std::array<int, 6> stops{};
  for (int i = 0; i < kRounds && !testing::Test::HasFailure(); ++i) {
    const Bytes packet = mutator.next();
    read_all(packet);
    ++stops[static_cast<std::size_t>(find_upper_layer(packet).stop)];
  }
  // The mutations reach every end of a walk.
  for (std::size_t stop = 1; stop < stops.size(); ++stop)
    EXPECT_GT(stops[stop], kRounds / 500) << stop;
}

/// The rule of the kernel in plain signed arithmetic, from the bytes.
bool is_valid_naively(const Bytes& bytes, bool reduced) {
  if (bytes.size() < 8) return false;
  const int length = static_cast<int>(bytes.size());
  const int hdr_ext_len = bytes[1];
  const int segments_left = bytes[3];
  const int last_entry = bytes[4];
  if (bytes[2] != 4 || (hdr_ext_len + 1) * 8 != length) return false;
  if (last_entry > hdr_ext_len / 2 - 1) return false;
  if (segments_left > last_entry + 1) return false;
  if (!reduced && segments_left > last_entry) return false;
  int at = 8 + (last_entry + 1) * 16;
  while (at < length) {
    if (length - at < 2) return false;
    at += 2 + bytes[static_cast<std::size_t>(at) + 1];
  }
  return at == length;
}

TEST(HeadersProperty, TheSrhTestIsTheOneWrittenNaively) {
  Mutator mutator(2);
  int valid = 0;
  int invalid = 0;
  for (int i = 0; i < kRounds; ++i) {
    const Bytes packet = mutator.next();
    ExtensionHeaderWalk walk(packet);
    while (const auto header = walk.next()) {
      if (header->type != kNextHeaderRouting) continue;
      const Span span = header->in(Span(packet));
      Bytes bytes(span.begin(), span.end());
      if (mutator.below(16) == 0) bytes.resize(mutator.below(bytes.size() + 9));
      const bool expected = is_valid_naively(bytes, true);
      ASSERT_EQ(Srh::check(bytes, SrhForm::kReduced).has_value(), expected)
          << testing::PrintToString(bytes);
      ASSERT_EQ(Srh::check(bytes, SrhForm::kFull).has_value(), is_valid_naively(bytes, false));
      ++(expected ? valid : invalid);
    }
  }
  EXPECT_GT(valid, kRounds / 20);
  EXPECT_GT(invalid, kRounds / 20);
}

}  // namespace
}  // namespace sidestep::net
