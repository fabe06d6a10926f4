// SPDX-License-Identifier: Apache-2.0
// What a replay counted, and how it is told.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <sidestep/fib/link.hpp>

#include "app/replay_outputs.hpp"
#include "app/replay_record.hpp"
#include "forward/sid_counters.hpp"
#include "packet/counters.hpp"
#include "packet/packet.hpp"

namespace sidestep::app {

/// How one input file ended.
struct InputSummary {
  std::string device;
  std::string path;
  std::uint64_t record_count = 0;
  std::uint64_t time_backwards = 0;
  std::string cut_off;  ///< libpcap's words when it ends inside a record
  std::string broken;   ///< libpcap's words when it cannot be read to its end
};

/// What one SID with `count` counted.
struct SidSummary {
  std::string prefix;
  forward::SidCounts counts{};
};

/// Everything that is printed at the end. Received packets and packets that the router made are counted apart.
struct ReplayReport {
  using Drops = std::array<std::uint64_t, packet::kDropReasonCount>;

  std::uint64_t received = 0;
  std::map<std::string, std::uint64_t> forwarded;  ///< by device
  std::uint64_t delivered = 0;
  std::uint64_t answered = 0;
  Drops dropped{};

  std::map<std::string, std::uint64_t>
      generated;  ///< sent, by device; `local`: to the router itself
  std::map<std::string, std::uint64_t> generated_kind;  ///< by kind, dropped ones included
  Drops generated_dropped{};

  std::array<std::uint64_t, kRecordOddityCount> oddities{};
  std::vector<InputSummary> inputs;
  std::vector<WrittenFile> files;
  std::vector<SidSummary> sids;

  void count(const packet::Packet& packet, const std::string& egress);
  void count_generated(const packet::Packet& packet, const std::string& egress);
  /// Sum of all outcomes of received packets; equals `received`, or there is a bug.
  [[nodiscard]] std::uint64_t accounted() const noexcept;

  [[nodiscard]] std::string text() const;
  [[nodiscard]] nlohmann::ordered_json json(const packet::Counters& counters,
                                            const fib::Links& links) const;
};

}  // namespace sidestep::app
