// SPDX-License-Identifier: Apache-2.0
#include "app/replay_report.hpp"

#include <numeric>

#include <fmt/format.h>

#include "app/explain_packet.hpp"

namespace sidestep::app {
namespace {

using nlohmann::ordered_json;
using packet::Verdict;

struct OddityText {
  const char* key;
  const char* words;
};
constexpr std::array<OddityText, kRecordOddityCount> kOddities = {
    {{"none", ""},
     {"truncated", "records with fewer bytes captured than were on the wire"},
     {"overlong", "records with more bytes captured than were on the wire"},
     {"empty", "records without a byte"},
     {"link_header_short", "records that end inside the link-layer header"}}};

std::uint64_t sum(const ReplayReport::Drops& drops) {
  return std::accumulate(drops.begin(), drops.end(), std::uint64_t{0});
}

std::uint64_t sum(const std::map<std::string, std::uint64_t>& counts) {
  std::uint64_t total = 0;
  for (const auto& [name, count] : counts) total += count;
  return total;
}

std::string row(std::string_view name, std::uint64_t count, std::string_view words = "") {
  return fmt::format("{:<30} {:>10}{}{}\n", name, count, words.empty() ? "" : "  ", words);
}

std::string sub_row(std::string_view name, std::uint64_t count, std::string_view words = "") {
  return row(fmt::format("  {}", name), count, words);
}

std::string drop_rows(const ReplayReport::Drops& drops) {
  std::string text;
  for (const auto reason : packet::all_drop_reasons()) {
    const auto count = drops[static_cast<std::size_t>(reason)];
    if (count != 0)
      text += sub_row(packet::text_of(reason).name, count, packet::text_of(reason).help);
  }
  return text;
}

std::string rows(const std::map<std::string, std::uint64_t>& counts, std::string_view words = "") {
  std::string text;
  for (const auto& [name, count] : counts) text += sub_row(name, count, words);
  return text;
}

ordered_json drops_json(const ReplayReport::Drops& drops) {
  auto object = ordered_json::object();
  for (const auto reason : packet::all_drop_reasons()) {
    const auto count = drops[static_cast<std::size_t>(reason)];
    if (count != 0) object[std::string(packet::text_of(reason).name)] = count;
  }
  return object;
}

ordered_json snmp_json(const packet::SnmpSet& counters) {
  auto object = ordered_json::object();
  for (std::size_t i = 0; i < counters.size(); ++i) {
    object[std::string(packet::name_of(static_cast<packet::Snmp>(i)))] = counters[i];
  }
  return object;
}

}  // namespace

void ReplayReport::count(const packet::Packet& packet, const std::string& egress) {
  switch (packet.meta.verdict) {
    case Verdict::kTransmit:
      ++forwarded[egress];
      break;
    case Verdict::kDeliver:
      ++delivered;
      break;
    case Verdict::kAnswered:
      ++answered;
      break;
    case Verdict::kDrop:
      ++dropped[static_cast<std::size_t>(packet.meta.drop_reason)];
      break;
    case Verdict::kPending:
      break;  // shows in accounted()
  }
}

void ReplayReport::count_generated(const packet::Packet& packet, const std::string& egress) {
  ++generated_kind[kind_of(packet.bytes())];
  switch (packet.meta.verdict) {
    case Verdict::kTransmit:
      ++generated[egress];
      break;
    case Verdict::kDrop:
      ++generated_dropped[static_cast<std::size_t>(packet.meta.drop_reason)];
      break;
    default:
      ++generated["local"];
      break;
  }
}

std::uint64_t ReplayReport::accounted() const noexcept {
  return sum(forwarded) + delivered + answered + sum(dropped);
}

std::string ReplayReport::text() const {
  std::string text = row("received", received);
  for (const auto& input : inputs) text += sub_row(input.device, input.record_count, input.path);
  text += row("forwarded", sum(forwarded));
  text += rows(forwarded);
  text += row("delivered", delivered, delivered == 0 ? "" : "to this router, see local.pcap");
  text += row("answered", answered, answered == 0 ? "" : "by this router itself");
  text += row("dropped", sum(dropped));
  text += drop_rows(dropped);
  text += row("accounted for", accounted(),
              accounted() == received ? "every packet" : "NOT EVERY PACKET");

  const std::uint64_t made = sum(generated_kind);
  if (made != 0) {
    text += "\n" + row("made by this router", made) + rows(generated_kind);
    for (const auto& [device, count] : generated)
      text += sub_row(fmt::format("sent to {}", device), count);
    if (sum(generated_dropped) != 0)
      text += row("  dropped", sum(generated_dropped)) + drop_rows(generated_dropped);
  }

  if (!sids.empty()) text += "\nSIDs that count\n";
  for (const auto& sid : sids) {
    text += fmt::format("  {:<28} packets {} bytes {} errors {}\n", sid.prefix, sid.counts.packets,
                        sid.counts.bytes, sid.counts.errors);
  }

  std::string strange;
  for (std::size_t i = 1; i < oddities.size(); ++i) {
    if (oddities[i] != 0) strange += sub_row(kOddities[i].key, oddities[i], kOddities[i].words);
  }
  for (const auto& input : inputs) {
    if (input.time_backwards != 0) {
      strange += sub_row(
          "time_backwards", input.time_backwards,
          fmt::format("records of {} older than their predecessor: taken at its time", input.path));
    }
    if (!input.cut_off.empty())
      strange += sub_row("cut_off", 1, fmt::format("{}: {}", input.path, input.cut_off));
    if (!input.broken.empty())
      strange += sub_row("broken", 1, fmt::format("{}: {}", input.path, input.broken));
  }
  if (!strange.empty()) text += "\noddities of the captures\n" + strange;

  text += "\nfiles\n";
  for (const auto& file : files) {
    text += fmt::format("  {} ({} packet{})\n", file.path, file.packet_count,
                        file.packet_count == 1 ? "" : "s");
  }
  return text;
}

ordered_json ReplayReport::json(const packet::Counters& counters, const fib::Links& links) const {
  ordered_json object;
  object["received"] = received;
  object["forwarded"] = forwarded;
  object["delivered"] = delivered;
  object["answered"] = answered;
  object["dropped"] = drops_json(dropped);
  object["generated"] = generated;
  object["generated_kinds"] = generated_kind;
  object["generated_dropped"] = drops_json(generated_dropped);
  auto& odd = object["oddities"] = ordered_json::object();
  for (std::size_t i = 1; i < oddities.size(); ++i) odd[kOddities[i].key] = oddities[i];
  auto& input_list = object["inputs"] = ordered_json::array();
  for (const auto& input : inputs) {
    ordered_json one = {{"device", input.device},
                        {"path", input.path},
                        {"records", input.record_count},
                        {"time_backwards", input.time_backwards}};
    if (!input.cut_off.empty()) one["cut_off"] = input.cut_off;
    if (!input.broken.empty()) one["broken"] = input.broken;
    input_list.push_back(std::move(one));
  }
  object["snmp6"] = snmp_json(counters.host());
  auto& devices = object["devices"] = ordered_json::object();
  for (const auto& [index, set] : counters.devices()) devices[links.name(index)] = snmp_json(set);
  auto& sid_list = object["sids"] = ordered_json::array();
  for (const auto& sid : sids) {
    sid_list.push_back({{"prefix", sid.prefix},
                        {"packets", sid.counts.packets},
                        {"bytes", sid.counts.bytes},
                        {"errors", sid.counts.errors}});
  }
  auto& file_list = object["files"] = ordered_json::array();
  for (const auto& file : files) file_list.push_back(file.path);
  return object;
}

}  // namespace sidestep::app
