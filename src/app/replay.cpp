// SPDX-License-Identifier: Apache-2.0
//
// `sidestep replay`: captures in, captures out.
//
// The records of all inputs are merged by time (io::CaptureMerge). Each is judged before it is a packet: damaged records
// and what is no IPv6 end here, with the same drop reasons as the router's own, and never reach it. The others go through
// the router in batches of at most 64 records, in order; a record that may teach the router a path MTU or a redirect is
// the last of its batch, so that what it teaches holds for the next one. The router's clock starts at 0 with the first record and is the
// capture's clock ever after, so rate limits and lifetimes come out the same each time.
//
// After each batch the records are filed in order: what the router made because of a packet (ICMPv6 errors, redirects,
// echo replies) before the packet itself, as the kernel sends them. Times in DEV.pcap and local.pcap are the merged
// clock's, those in drops.pcapng are the records' own.
//
// Memory is one batch, whatever the captures' size. Every record is counted once by its outcome, and at the end the
// outcomes must add up to what was received; the forwarder's own drop counters must agree.
#include "app/replay.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include <sidestep/assert.hpp>

#include "app/exit_code.hpp"
#include "app/explain_packet.hpp"
#include "app/replay_outputs.hpp"
#include "app/replay_record.hpp"
#include "app/replay_report.hpp"
#include "app/router.hpp"
#include "forward/counting_sids.hpp"
#include "forward/forwarder.hpp"
#include "io/capture_merge.hpp"

namespace sidestep::app {
namespace {

using packet::DropReason;
using packet::Packet;
using packet::Verdict;

/// One replay from opened captures to a report.
class Replay {
 public:
  Replay(const ReplayOptions& options, Router& router, io::CaptureMerge merge,
         ReplayOutputs outputs);

  Result<void> run();
  [[nodiscard]] const ReplayReport& report() const noexcept { return report_; }
  [[nodiscard]] const std::string& explanation() const noexcept { return explanation_; }
  [[nodiscard]] const packet::Counters& counters() const noexcept { return forwarder_.counters(); }

 private:
  static constexpr std::size_t kRecordsMax = packet::Batch::kCapacity;

  void take(const io::CaptureMerge::Next& next);
  Result<void> flush();
  Result<void> file_generated(Packet& packet);
  Result<void> file_received(const ReplayRecord& record, const Packet& packet);
  void file_drop(const ReplayRecord& record, DropReason reason);
  void explain_if_chosen(const ReplayRecord& record, const Packet* packet);
  void summarize_inputs();
  [[nodiscard]] std::string comment_of(const ReplayRecord& record, DropReason reason) const;
  [[nodiscard]] const fib::Link& device_of(const ReplayRecord& record) const {
    return *devices_[record.input];
  }
  [[nodiscard]] ReplayRecord& record_of(const Packet& packet) {
    return records_[packet.meta.record - records_first_];
  }

  const ReplayOptions& options_;
  Router& router_;
  io::CaptureMerge merge_;
  ReplayOutputs outputs_;
  forward::Forwarder forwarder_;
  std::vector<const fib::Link*> devices_;                // by input
  std::map<std::string, std::uint64_t> device_records_;  // numbers the records of a device
  std::array<ReplayRecord, kRecordsMax> records_;        // of the batch, early drops included
  std::size_t record_count_ = 0;
  bool last_may_teach_ = false;      // the newest record may change the way of the next one
  std::uint64_t records_first_ = 0;  // running number of records_[0]
  packet::Batch batch_;
  std::vector<Packet> generated_;
  std::uint64_t start_ns_ = 0;
  ReplayReport report_;
  ReplayReport::Drops early_drops_{};
  std::string explanation_;
};

Replay::Replay(const ReplayOptions& options, Router& router, io::CaptureMerge merge,
               ReplayOutputs outputs)
    : options_(options),
      router_(router),
      merge_(std::move(merge)),
      outputs_(std::move(outputs)),
      forwarder_(forward::Context{router.fib(), router.neighbors(), router.srv6()}) {
  for (const auto& input : options.inputs)
    devices_.push_back(router.links().find(std::string_view(input.device)));
  generated_.reserve(2 * kRecordsMax);
}

Result<void> Replay::run() {
  io::CaptureMerge::Next next;
  while (merge_.next(next)) {
    if (report_.received == 0) start_ns_ = next.clock_ns;
    take(next);
    if (record_count_ == kRecordsMax || last_may_teach_) {
      if (auto filed = flush(); !filed) return filed;
    }
  }
  if (auto filed = flush(); !filed) return filed;
  summarize_inputs();
  auto files = outputs_.finish();
  if (!files) return std::unexpected(files.error());
  report_.files = std::move(*files);
  for (const auto& sid : forward::counting_sids(router_.fib()))
    report_.sids.push_back({sid.prefix.to_string(), forwarder_.sid_counts(sid.id)});
  SIDESTEP_ASSERT(report_.accounted() == report_.received);
  for (const auto reason : packet::all_drop_reasons()) {
    const auto index = static_cast<std::size_t>(reason);
    SIDESTEP_ASSERT(report_.dropped[index] == early_drops_[index] + counters().drops(reason));
  }
  return {};
}

void Replay::take(const io::CaptureMerge::Next& next) {
  last_may_teach_ = false;
  ReplayRecord& record = records_[record_count_++];
  record.take(next, merge_.reader(next.input).link_type());
  record.number = ++device_records_[options_.inputs[next.input].device];
  ++report_.received;
  ++report_.oddities[static_cast<std::size_t>(record.oddity)];
  if (record.early_drop != DropReason::kNone) return;
  Packet& packet = batch_.add();
  if (!packet.assign(record.packet_bytes())) {
    batch_.remove_last();
    record.early_drop = DropReason::kNotImplemented;
    record.detail = fmt::format("a packet of {} bytes; the most is {}",
                                record.packet_bytes().size(), Packet::kSizeMax);
    return;
  }
  last_may_teach_ = forward::may_teach(record.packet_bytes());
  const fib::Link& device = device_of(record);
  auto& meta = packet.meta;
  meta.ingress = device.index;
  meta.received_at = TimeNs{record.clock_ns - start_ns_};
  meta.l2_class = record.l2_class(device, options_.check_mac);
  meta.source_mac = record.link.source_mac;
  meta.destination_mac = record.link.destination_mac;
  meta.has_mac = record.link.has_mac;
  meta.record = records_first_ + record_count_ - 1;
}

Result<void> Replay::flush() {
  generated_.clear();
  forwarder_.process(batch_, generated_);
  std::stable_sort(generated_.begin(), generated_.end(),
                   [](const Packet& a, const Packet& b) { return a.meta.record < b.meta.record; });
  auto packet = batch_.begin();
  auto made = generated_.begin();
  for (std::size_t i = 0; i < record_count_; ++i) {
    const ReplayRecord& record = records_[i];
    const std::uint64_t number = records_first_ + i;
    const bool early = record.early_drop != DropReason::kNone;
    explain_if_chosen(record, early ? nullptr : &*packet);
    for (; made != generated_.end() && made->meta.record == number; ++made) {
      if (auto filed = file_generated(*made); !filed) return filed;
    }
    if (early) {
      ++early_drops_[static_cast<std::size_t>(record.early_drop)];
      ++report_.dropped[static_cast<std::size_t>(record.early_drop)];
      file_drop(record, record.early_drop);
      continue;
    }
    SIDESTEP_ASSERT(packet->meta.record == number);
    if (auto filed = file_received(record, *packet++); !filed) return filed;
  }
  SIDESTEP_ASSERT(made == generated_.end() && packet == batch_.end());
  records_first_ += record_count_;
  record_count_ = 0;
  batch_.clear();
  router_.learn(forwarder_);
  return {};
}

Result<void> Replay::file_generated(Packet& packet) {
  const ReplayRecord& cause = record_of(packet);
  const std::string egress = router_.links().name(packet.meta.egress);
  report_.count_generated(packet, egress);
  switch (packet.meta.verdict) {
    case Verdict::kTransmit:
      return outputs_.transmitted(packet, egress, cause.clock_ns);
    case Verdict::kDrop: {
      const auto comment =
          comment_of(cause, packet.meta.drop_reason) + ", made by the router because of it";
      outputs_.dropped_generated(packet, cause, comment);
      return {};
    }
    default:
      outputs_.delivered(packet, cause.clock_ns);
      return {};
  }
}

Result<void> Replay::file_received(const ReplayRecord& record, const Packet& packet) {
  const std::string egress = router_.links().name(packet.meta.egress);
  report_.count(packet, egress);
  switch (packet.meta.verdict) {
    case Verdict::kTransmit:
      return outputs_.transmitted(packet, egress, record.clock_ns);
    case Verdict::kDeliver:
      outputs_.delivered(packet, record.clock_ns);
      break;
    case Verdict::kDrop:
      file_drop(record, packet.meta.drop_reason);
      break;
    case Verdict::kAnswered:
    case Verdict::kPending:
      break;
  }
  return {};
}

std::string Replay::comment_of(const ReplayRecord& record, DropReason reason) const {
  const auto& text = packet::text_of(reason);
  return fmt::format("{}: {}{} [packet {} of {}]", text.name, text.help,
                     record.detail.empty() ? "" : fmt::format(" ({})", record.detail),
                     record.number, device_of(record).name);
}

void Replay::file_drop(const ReplayRecord& record, DropReason reason) {
  outputs_.dropped(record, comment_of(record, reason));
}

void Replay::explain_if_chosen(const ReplayRecord& record, const Packet* packet) {
  if (!options_.explained || record.number != options_.explained->number) return;
  const std::string& wanted = options_.explained->device;
  if (!wanted.empty() && wanted != device_of(record).name) return;
  PacketFate fate{record, device_of(record), start_ns_, packet, {}};
  for (const auto& made : generated_) {
    if (&records_[made.meta.record - records_first_] == &record) fate.generated.push_back(&made);
  }
  explanation_ = explain_packet(router_, fate);
}

void Replay::summarize_inputs() {
  for (std::size_t i = 0; i < merge_.input_count(); ++i) {
    const auto& end = merge_.end_of(i);
    const auto& reader = merge_.reader(i);
    InputSummary summary{
        options_.inputs[i].device, reader.path(), end.record_count, end.time_backwards, {}, {}};
    if (end.outcome == io::ReadOutcome::kCutOff) summary.cut_off = reader.message();
    if (end.outcome == io::ReadOutcome::kBroken) summary.broken = reader.message();
    report_.inputs.push_back(std::move(summary));
  }
}

Result<std::vector<io::CaptureReader>> open_inputs(const ReplayOptions& options) {
  std::vector<io::CaptureReader> readers;
  for (const auto& input : options.inputs) {
    auto reader = io::CaptureReader::open(input.path);
    if (!reader) return std::unexpected(reader.error());
    readers.push_back(std::move(*reader));
  }
  return readers;
}

/// Whether every `--in` names a device; says which does not.
bool devices_exist(const ReplayOptions& options, const Router& router) {
  for (const auto& input : options.inputs) {
    if (router.links().find(std::string_view(input.device)) != nullptr) continue;
    fail(fmt::format("--in {}={}: the configuration has no device {}; it has {}", input.device,
                     input.path, input.device, router.device_names()));
    return false;
  }
  return true;
}

/// Says how damaged inputs ended. A file that ends inside a record is what an interrupted capture leaves behind: whole
/// records were replayed, and a note is enough. It is a failure when there was no whole record, or when what followed the
/// whole ones is no capture.
bool inputs_are_good(const ReplayReport& report) {
  bool good = true;
  for (const auto& input : report.inputs) {
    const std::string& words = input.cut_off.empty() ? input.broken : input.cut_off;
    if (words.empty()) continue;
    const bool failed = !input.broken.empty() || input.record_count == 0;
    fmt::print(stderr, "sidestep: {}: {}{} after {} whole record{}\n", failed ? "error" : "warning",
               input.path,
               input.cut_off.empty() ? fmt::format(" cannot be read to its end: {}", words)
                                     : fmt::format(" is cut off: {}", words),
               input.record_count, input.record_count == 1 ? "" : "s");
    good = good && !failed;
  }
  return good;
}

void print_report(const ReplayOptions& options, const Router& router, const Replay& replay) {
  if (!options.json) {
    fmt::print("{}", replay.report().text());
    if (!replay.explanation().empty()) fmt::print("\n{}", replay.explanation());
    return;
  }
  using nlohmann::ordered_json;
  auto object = replay.report().json(replay.counters(), router.links());
  if (!replay.explanation().empty()) object["explanation"] = replay.explanation();
  fmt::print("{}\n", object.dump(2, ' ', false, ordered_json::error_handler_t::replace));
}

}  // namespace

int replay(const ReplayOptions& options) {
  Router router;
  if (!router.load(options.config)) return kExitFailed;
  if (!devices_exist(options, router)) return kExitFailed;
  auto readers = open_inputs(options);
  if (!readers) return fail(readers.error().message);

  std::vector<io::PcapngInterface> interfaces;
  std::vector<std::string> read_files{options.config};
  for (std::size_t i = 0; i < readers->size(); ++i) {
    interfaces.push_back({options.inputs[i].device, (*readers)[i].link_type()});
    read_files.push_back(options.inputs[i].path);
  }
  auto outputs =
      ReplayOutputs::create(options.out, router.links(), std::move(interfaces), read_files);
  if (!outputs) return fail(outputs.error().message);

  Replay replay(options, router, io::CaptureMerge(std::move(*readers)), std::move(*outputs));
  if (auto done = replay.run(); !done) return fail(done.error().message);
  print_report(options, router, replay);
  bool good = inputs_are_good(replay.report());
  if (options.explained && replay.explanation().empty()) {
    fail(fmt::format("there is no packet {}{}{} to explain", options.explained->number,
                     options.explained->device.empty() ? "" : " of ", options.explained->device));
    good = false;
  }
  return good ? kExitOk : kExitFailed;
}

}  // namespace sidestep::app
