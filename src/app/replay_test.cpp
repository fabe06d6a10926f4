// SPDX-License-Identifier: Apache-2.0
// `replay` run as a user runs it, on captures made for the purpose: damaged ones, foreign ones, several at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <sidestep/net/address.hpp>
#include <sidestep/net/checksum.hpp>

#include "app/run_program.hpp"

namespace sidestep::app {
namespace {

using namespace app::testing;  // NOLINT
using namespace io::testing;   // NOLINT
using nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* kConfig = R"(
sysctl -w net.ipv6.conf.all.forwarding=1
link add west address 02:00:00:00:00:01 type veth
link add east address 02:00:00:00:00:02 type veth
link set west up
link set east up
address add 2001:db8:1::1/64 dev west nodad
address add 2001:db8:2::1/64 dev east nodad
neigh add 2001:db8:1::9 lladdr 02:00:00:00:00:0a dev west nud permanent
neigh add 2001:db8:2::2 lladdr 02:00:00:00:00:0b dev east nud permanent
route add 2001:db8:100::/48 via 2001:db8:2::2 dev east
route add blackhole 2001:db8:bad::/48
)";

Bytes address(const char* text) {
  const auto parsed = net::Ipv6Address::parse(text);
  return {parsed->bytes.begin(), parsed->bytes.end()};
}

Bytes operator+(Bytes left, const Bytes& right) {
  append(left, right);
  return left;
}

/// A packet that is forwarded to east; the hop limit tells packets apart.
Bytes good(std::uint8_t hop_limit = 64) {
  return ipv6_packet(address("2001:db8:1::9"), address("2001:db8:100::1"), hop_limit);
}

class ReplayTest : public ::testing::Test {
 protected:
  std::vector<std::string> command(const std::vector<std::pair<std::string, Bytes>>& inputs,
                                   const std::vector<std::string>& options = {}) {
    std::vector<std::string> words = {"replay", "-c", config_, "--out", directory_.path("out")};
    int number = 0;
    for (const auto& [device, bytes] : inputs) {
      const auto path = directory_.write("in" + std::to_string(number++), bytes);
      words.insert(words.end(), {"--in", device + "=" + path});
    }
    words.insert(words.end(), options.begin(), options.end());
    return words;
  }
  Ran replay(const Bytes& capture, const std::vector<std::string>& options = {}) {
    return run_program(command({{"west", capture}}, options));
  }
  /// Replays with --json; the outcomes must add up.
  json replay_json(const std::vector<std::pair<std::string, Bytes>>& inputs,
                   std::vector<std::string> options = {}) {
    options.emplace_back("--json");
    const auto ran = run_program(command(inputs, options));
    EXPECT_EQ(ran.status, 0) << ran.err;
    auto object = json::parse(ran.out, nullptr, false);
    if (object.is_discarded()) {
      ADD_FAILURE() << ran.out << ran.err;
      return {};
    }
    std::uint64_t total =
        object.at("delivered").get<std::uint64_t>() + object.at("answered").get<std::uint64_t>();
    for (const auto& [device, count] : object.at("forwarded").items())
      total += count.get<std::uint64_t>();
    for (const auto& [reason, count] : object.at("dropped").items())
      total += count.get<std::uint64_t>();
    EXPECT_EQ(object.at("received").get<std::uint64_t>(), total);
    return object;
  }
  std::string drops_text() {
    const auto bytes = read_file(out("drops.pcapng"));
    return {bytes.begin(), bytes.end()};
  }
  std::string out(const std::string& name) { return directory_.path("out/" + name); }

  ScratchDirectory directory_;
  std::string config_ = directory_.write("router.conf", std::string(kConfig));
};

TEST_F(ReplayTest, ForwardsAndWritesTheFrame) {
  const auto ran = replay(pcap_header() + pcap_record(ethernet(good())));
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  EXPECT_THAT(ran.out, HasSubstr("accounted for"));
  const auto frames = frames_of(out("east.pcap"));
  ASSERT_EQ(frames.size(), 1U);
  Bytes expected = ethernet(good(63), 0x86dd, {2, 0, 0, 0, 0, 0x0b});
  expected[11] = 2;  // from east's own address
  EXPECT_EQ(frames[0], expected);
  EXPECT_TRUE(frames_of(out("local.pcap")).empty());
  EXPECT_TRUE(std::filesystem::exists(out("local.pcap")));
  EXPECT_TRUE(std::filesystem::exists(out("drops.pcapng")));
}

TEST_F(ReplayTest, SaysWhatTheSidsCounted) {
  config_ = directory_.write(
      "sids.conf", std::string(kConfig) +
                       "route add 2001:db8:5::1 encap seg6local action End count dev east\n"
                       "route add 2001:db8:5::2 encap seg6local action End dev east\n"
                       "route add 2001:db8:5::3 encap seg6local action End count dev east\n");
  const auto to_sid = [](const char* sid, std::uint8_t segments_left) {
    Bytes srh = {59, 2, 4, segments_left, 0, 0, 0, 0};
    append(srh, address("2001:db8:100::1"));
    Bytes packet = ipv6_packet(address("2001:db8:1::9"), address(sid), 64);
    packet.resize(40);
    append(packet, srh);
    packet[4] = 0;
    packet[5] = static_cast<std::uint8_t>(srh.size());
    packet[6] = 43;
    return pcap_record(ethernet(packet));
  };
  const Bytes capture = pcap_header() + to_sid("2001:db8:5::1", 1) + to_sid("2001:db8:5::1", 1) +
                        to_sid("2001:db8:5::1", 0) + to_sid("2001:db8:5::2", 1);
  const auto object = replay_json({{"west", capture}});
  EXPECT_EQ(object.at("forwarded").at("east"), 3);
  const json first = {
      {"prefix", "2001:db8:5::1/128"}, {"packets", 2}, {"bytes", 128}, {"errors", 1}};
  const json third = {{"prefix", "2001:db8:5::3/128"}, {"packets", 0}, {"bytes", 0}, {"errors", 0}};
  EXPECT_EQ(object.at("sids"), (json{first, third}));
  const auto table = replay(capture);
  EXPECT_THAT(table.out, HasSubstr("SIDs that count\n"
                                   "  2001:db8:5::1/128            packets 2 bytes 128 errors 1\n"
                                   "  2001:db8:5::3/128            packets 0 bytes 0 errors 0\n"));
  config_ = directory_.write("router.conf", std::string(kConfig));
  EXPECT_THAT(replay(capture).out, ::testing::Not(HasSubstr("SIDs that count")));
}

TEST_F(ReplayTest, CutsOffTheTrailerOfAnEthernetFrame) {
  const auto object =
      replay_json({{"west", pcap_header() + pcap_record(ethernet(good() + Bytes(4, 0xee)))}});
  EXPECT_EQ(object.at("forwarded").at("east"), 1);
  EXPECT_EQ(frames_of(out("east.pcap")).at(0).size(), 14U + good().size());
}

TEST_F(ReplayTest, NeverForwardsADamagedRecord) {
  const Bytes frame = ethernet(good());
  const auto size = static_cast<std::uint32_t>(frame.size());
  const Bytes capture = pcap_header() + pcap_record(frame) +
                        pcap_lying_record(frame, size, size + 100) +
                        pcap_lying_record(frame, size, size - 10) + pcap_lying_record({}, 0, 0) +
                        pcap_record(Bytes(frame.begin(), frame.begin() + 13)) + pcap_record(frame);
  const auto object = replay_json({{"west", capture}});
  EXPECT_EQ(object.at("received"), 6);
  EXPECT_EQ(object.at("forwarded").at("east"), 2);
  EXPECT_EQ(object.at("dropped"), (json{{"record_truncated", 4}}));
  EXPECT_EQ(object.at("oddities"),
            (json{{"truncated", 1}, {"overlong", 1}, {"empty", 1}, {"link_header_short", 1}}));
  EXPECT_EQ(frames_of(out("drops.pcapng")).size(), 4U);
  EXPECT_THAT(drops_text(), HasSubstr("record_truncated: "));
  EXPECT_THAT(drops_text(), HasSubstr("[packet 2 of west]"));
  const auto table = replay(capture);
  for (const char* words : {"fewer bytes captured", "more bytes captured", "without a byte",
                            "inside the link-layer header"}) {
    EXPECT_THAT(table.out, HasSubstr(words));
  }
}

TEST_F(ReplayTest, NotesThatACaptureIsCutOff) {
  Bytes capture = pcap_header() + pcap_record(ethernet(good())) + pcap_record(ethernet(good()));
  capture.resize(capture.size() - 1);
  const auto ran = replay(capture);
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.err, HasSubstr("warning"));
  EXPECT_THAT(ran.err, HasSubstr("cut off"));
  EXPECT_THAT(ran.out, HasSubstr("cut_off"));
  EXPECT_EQ(frames_of(out("east.pcap")).size(), 1U);
  const auto object = replay_json({{"west", capture}});
  EXPECT_THAT(object.at("inputs").at(0).at("cut_off").get<std::string>(), HasSubstr("truncated"));
}

TEST_F(ReplayTest, FailsWhenNothingWholeCouldBeRead) {
  Bytes capture = pcap_header() + pcap_record(ethernet(good()));
  capture.resize(capture.size() - 1);
  const auto ran = replay(capture);
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("error"));
}

TEST_F(ReplayTest, FailsOnABrokenCaptureAfterReplayingWhatIsWhole) {
  const auto ran = replay(pcap_header() + pcap_record(ethernet(good())) +
                          pcap_lying_record(Bytes(20), 0x7fffffff, 1));
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("cannot be read to its end"));
  EXPECT_EQ(frames_of(out("east.pcap")).size(), 1U);
}

TEST_F(ReplayTest, RefusesWhatIsNoCapture) {
  const auto empty = replay({});
  EXPECT_EQ(empty.status, 1);
  EXPECT_THAT(empty.err, HasSubstr("the file is empty"));
  const auto text = replay(Bytes(200, 'x'));
  EXPECT_EQ(text.status, 1);
  EXPECT_THAT(text.err, HasSubstr("not a capture"));
  const auto wifi = replay(pcap_header(105) + pcap_record(Bytes(60)));
  EXPECT_EQ(wifi.status, 1);
  EXPECT_THAT(wifi.err, HasSubstr("IEEE802_11 (105)"));
  EXPECT_THAT(wifi.err, HasSubstr("EN10MB (1)"));
  const auto several = replay(pcapng_section() + pcapng_interface(1) + pcapng_interface(101) +
                              pcapng_packet(ethernet(good())));
  EXPECT_EQ(several.status, 1);
  EXPECT_THAT(several.err, HasSubstr("different from the type of the first interface"));
}

TEST_F(ReplayTest, TakesACaptureWithoutRecords) {
  const auto object = replay_json({{"west", pcap_header()}});
  EXPECT_EQ(object.at("received"), 0);
}

TEST_F(ReplayTest, NamesTheDevicesWhenOneIsUnknown) {
  const auto ran = run_program(command({{"nosuch", pcap_header()}}));
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("no device nosuch"));
  EXPECT_THAT(ran.err, HasSubstr("lo, west, east"));
}

TEST_F(ReplayTest, DropsWhatIsNoIpv6) {
  const Bytes capture = pcap_header() + pcap_record(ethernet(Bytes(28), 0x0806)) +
                        pcap_record(ethernet(Bytes{0, 7, 0x86, 0xdd} + good(), 0x8100)) +
                        pcap_record(ethernet(Bytes(20, 0x45), 0x0800)) +
                        pcap_record(ethernet(good()));
  const auto object = replay_json({{"west", capture}});
  EXPECT_EQ(object.at("dropped"), (json{{"not_ipv6", 2}, {"not_implemented", 1}}));
  EXPECT_EQ(object.at("snmp6").at("Ip6InReceives"), 1) << "the others never reached IPv6";
  EXPECT_THAT(drops_text(), HasSubstr("EtherType 0x0806 (ARP)"));
  EXPECT_THAT(drops_text(), HasSubstr("VLAN 7"));
  EXPECT_THAT(drops_text(), HasSubstr("an IPv4 packet"));
}

TEST_F(ReplayTest, ReadsEveryLinkType) {
  const Bytes sll = Bytes{0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 9, 0, 0, 0x86, 0xdd};
  const Bytes sll2 = Bytes{0x86, 0xdd, 0, 0, 0, 0, 0, 3, 0, 1, 0, 6, 2, 0, 0, 0, 0, 9, 0, 0};
  for (const auto& [type, header] :
       std::vector<std::pair<std::uint32_t, Bytes>>{{0, {30, 0, 0, 0}},
                                                    {0, {0, 0, 0, 10}},
                                                    {12, {}},
                                                    {101, {}},
                                                    {108, {0, 0, 0, 24}},
                                                    {113, sll},
                                                    {229, {}},
                                                    {276, sll2}}) {
    const auto object = replay_json({{"west", pcap_header(type) + pcap_record(header + good())}});
    EXPECT_EQ(object.at("forwarded").at("east"), 1) << type;
  }
}

TEST_F(ReplayTest, ReadsPcapng) {
  const auto object = replay_json(
      {{"west", pcapng_section() + pcapng_interface(1) + pcapng_packet(ethernet(good()))}});
  EXPECT_EQ(object.at("forwarded").at("east"), 1);
}

TEST_F(ReplayTest, DropsWhatTheCapturingHostSent) {
  const Bytes sent = Bytes{0, 4, 0, 1, 0, 6, 2, 0, 0, 0, 0, 9, 0, 0, 0x86, 0xdd};
  const auto object = replay_json({{"west", pcap_header(113) + pcap_record(sent + good())}});
  EXPECT_EQ(object.at("dropped"), (json{{"other_host", 1}}));
  EXPECT_THAT(drops_text(), HasSubstr("the capturing host sent it"));
}

TEST_F(ReplayTest, ChecksTheMacWhenAsked) {
  const Bytes capture = pcap_header() + pcap_record(ethernet(good())) +
                        pcap_record(ethernet(good(), 0x86dd, {2, 0, 0, 0, 0, 0x77}));
  EXPECT_EQ(replay_json({{"west", capture}}).at("forwarded").at("east"), 2);
  const auto object = replay_json({{"west", capture}}, {"--check-mac"});
  EXPECT_EQ(object.at("forwarded").at("east"), 1);
  EXPECT_EQ(object.at("dropped"), (json{{"other_host", 1}}));
}

TEST_F(ReplayTest, MergesInputsByTime) {
  const Bytes first =
      pcap_header() + pcap_record(ethernet(good(11)), 1) + pcap_record(ethernet(good(13)), 3);
  const Bytes second =
      pcap_header() + pcap_record(ethernet(good(12)), 2) + pcap_record(ethernet(good(14)), 3);
  const auto object = replay_json({{"west", first}, {"west", second}});
  EXPECT_EQ(object.at("forwarded").at("east"), 4);
  std::vector<int> hop_limits;
  for (const auto& frame : frames_of(out("east.pcap"))) hop_limits.push_back(frame.at(14 + 7));
  EXPECT_EQ(hop_limits, (std::vector<int>{10, 11, 12, 13}));
}

TEST_F(ReplayTest, TakesItsTimeFromTheCapture) {
  const auto object =
      replay_json({{"west", pcap_header() + pcap_record(ethernet(good()), 100, 7)}});
  auto reader = io::CaptureReader::open(out("east.pcap"));
  io::Record record;
  ASSERT_EQ(reader->next(record), io::ReadOutcome::kRecord);
  EXPECT_EQ(record.time_ns, 100'000'007'000U);
}

/// An ICMPv6 message from the neighbor on west to the router's address there, of a type, with what follows its first 8 bytes.
Bytes icmp_to_router(std::uint8_t type, std::uint32_t rest, const Bytes& body) {
  Bytes packet = ipv6_packet(address("2001:db8:1::9"), address("2001:db8:1::1"), 64, 58,
                             static_cast<std::uint16_t>(8 + body.size()));
  packet.resize(48);
  append(packet, body);
  packet[40] = type;
  std::fill(packet.begin() + 41, packet.begin() + 48, std::uint8_t{0});
  packet[46] = static_cast<std::uint8_t>(rest >> 8);
  packet[47] = static_cast<std::uint8_t>(rest);
  const auto checksum = net::upper_layer_checksum(
      *net::Ipv6Address::parse("2001:db8:1::9"), *net::Ipv6Address::parse("2001:db8:1::1"), 58,
      std::span<const std::uint8_t>(packet).subspan(40));
  packet[42] = static_cast<std::uint8_t>(checksum >> 8);
  packet[43] = static_cast<std::uint8_t>(checksum);
  return packet;
}

TEST_F(ReplayTest, WhatAPacketTeachesHoldsForTheNextRecord) {
  const Bytes about = ipv6_packet(address("2001:db8:1::1"), address("2001:db8:100::1"), 64, 58, 8);
  const auto large = [](const char* destination) {
    return pcap_record(
        ethernet(ipv6_packet(address("2001:db8:1::9"), address(destination), 64, 59, 1400 - 40)));
  };
  Bytes capture = pcap_header();
  append(capture, large("2001:db8:100::1"));
  append(capture, pcap_record(ethernet(icmp_to_router(2, 1300, about))));
  append(capture, large("2001:db8:100::1"));
  append(capture, large("2001:db8:100::2"));
  const auto object = replay_json({{"west", capture}});
  EXPECT_EQ(object.at("delivered"), 1);
  EXPECT_EQ(object.at("forwarded"), (json{{"east", 2}}));
  EXPECT_EQ(object.at("dropped"), (json{{"too_big_output", 1}}));
}

TEST_F(ReplayTest, AnswersAndDeliversAndCountsWhatItMakes) {
  const Bytes echo = icmp_to_router(128, 0, {});
  const Bytes udp = ipv6_packet(address("2001:db8:1::9"), address("2001:db8:1::1"), 64, 17, 8);
  const Bytes lost = ipv6_packet(address("2001:db8:1::9"), address("2001:db8:999::1"));
  const Bytes spent = good(1);
  const Bytes bad = ipv6_packet(address("2001:db8:1::9"), address("2001:db8:bad::1"));
  Bytes capture = pcap_header();
  for (const auto& packet : {echo, udp, lost, spent, bad})
    append(capture, pcap_record(ethernet(packet)));
  const auto object = replay_json({{"west", capture}});
  EXPECT_EQ(object.at("dropped"),
            (json{{"blackhole", 1}, {"hop_limit_exceeded", 1}, {"no_route", 1}}));
  EXPECT_EQ(object.at("answered"), 1);
  EXPECT_EQ(object.at("delivered"), 1);
  EXPECT_EQ(frames_of(out("local.pcap")).at(0), udp);
  EXPECT_EQ(object.at("generated_kinds").at("echo_reply"), 1);
  EXPECT_EQ(object.at("generated_kinds").at("destination_unreachable"), 1);
  EXPECT_EQ(object.at("generated_kinds").at("time_exceeded"), 1);
  EXPECT_EQ(object.at("snmp6").at("Ip6InNoRoutes"), 1);
  EXPECT_EQ(object.at("devices").at("west").at("Ip6InNoRoutes"), 1);
  EXPECT_EQ(frames_of(out("west.pcap")).size(),
            object.at("generated").at("west").get<std::size_t>());
  EXPECT_EQ(frames_of(out("drops.pcapng")).size(), 3U);
  EXPECT_THAT(drops_text(), HasSubstr("blackhole: "));
}

TEST_F(ReplayTest, RefusesToOverwriteWhatItReads) {
  std::filesystem::create_directory(directory_.path("out"));
  const auto path =
      directory_.write("out/east.pcap", pcap_header() + pcap_record(ethernet(good())));
  const auto before = read_file(path);
  const auto ran = run_program(
      {"replay", "-c", config_, "--in", "west=" + path, "--out", directory_.path("out")});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("would be overwritten"));
  EXPECT_EQ(read_file(path), before);
}

TEST_F(ReplayTest, ReplacesTheFilesOfAnEarlierRun) {
  EXPECT_EQ(replay(pcap_header() + pcap_record(ethernet(good()))).status, 0);
  EXPECT_TRUE(std::filesystem::exists(out("east.pcap")));
  EXPECT_EQ(replay(pcap_header()).status, 0);
  EXPECT_FALSE(std::filesystem::exists(out("east.pcap"))) << "nothing was sent this time";
}

TEST_F(ReplayTest, SaysWhenItCannotWrite) {
  directory_.write("file", std::string("x"));
  auto words = command({{"west", pcap_header()}});
  words[4] = directory_.path("file/out");
  const auto ran = run_program(words);
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("file"));
}

TEST_F(ReplayTest, ExplainsAPacketInWords) {
  const Bytes capture =
      pcap_header() + pcap_record(ethernet(good())) + pcap_record(ethernet(Bytes(28), 0x0806)) +
      pcap_record(ethernet(ipv6_packet(address("2001:db8:1::9"), address("2001:db8:999::1"))));
  const auto forwarded = replay(capture, {"--explain-packet", "1"});
  EXPECT_EQ(forwarded.status, 0);
  for (const char* words :
       {"packet 1 of west", "2001:db8:1::9 > 2001:db8:100::1", "2001:db8:100::/48",
        "sent out of east to 02:00:00:00:00:0b", "hop limit 64 -> 63"}) {
    EXPECT_THAT(forwarded.out, HasSubstr(words));
  }
  EXPECT_THAT(replay(capture, {"--explain-packet", "west:2"}).out,
              HasSubstr("dropped as not_ipv6"));
  const auto lost = replay(capture, {"--explain-packet", "3"});
  EXPECT_THAT(lost.out, HasSubstr("dropped as no_route"));
  EXPECT_THAT(lost.out, HasSubstr("destination_unreachable"));
  const auto missing = replay(capture, {"--explain-packet", "4"});
  EXPECT_EQ(missing.status, 1);
  EXPECT_THAT(missing.err, HasSubstr("no packet 4"));
}

TEST_F(ReplayTest, KeepsOrderAndMemoryOverManyBatches) {
  Bytes capture = pcap_header();
  for (std::uint32_t i = 0; i < 1000; ++i) {
    append(capture, i % 7 == 3
                        ? pcap_record(ethernet(Bytes(28), 0x0806), i)
                        : pcap_record(ethernet(good(static_cast<std::uint8_t>(2 + i % 200))), i));
  }
  const auto object = replay_json({{"west", capture}});
  std::size_t at = 0;
  const auto frames = frames_of(out("east.pcap"));
  for (std::uint32_t i = 0; i < 1000; ++i) {
    if (i % 7 == 3) continue;
    EXPECT_EQ(frames.at(at++).at(14 + 7), 1 + i % 200);
  }
  EXPECT_EQ(at, frames.size());
}

}  // namespace
}  // namespace sidestep::app
