// SPDX-License-Identifier: Apache-2.0
// The walk of one lookup, recorded for people.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sidestep/net/ids.hpp>
#include <sidestep/net/prefix.hpp>

namespace sidestep::lookup {

/// A prefix of a table that was tried, longest first.
struct PrefixStep {
  net::Prefix destination;
  net::Prefix source;
  std::string outcome;  ///< why it was used or passed over, one clause
};

/// What a table said.
struct TableStep {
  TableId table{};
  std::vector<PrefixStep> prefixes;
  std::string outcome;  ///< `route`, `nothing`, `throw`, `reject`, `no such table`, with the reason
};

/// A rule that was looked at.
struct RuleStep {
  std::uint32_t preference = 0;
  std::string
      rule;  ///< as iproute2 prints it, without the preference; empty when this module has no printer
  bool matched = false;
  std::string reason;  ///< which selector decided
  std::vector<TableStep> tables;
  std::string outcome;  ///< `continue: …`, `stop: …`, `suppressed: …`
};

struct Explanation {
  bool custom_rules = false;  ///< false: the kernel's hard-wired local-then-main
  std::vector<RuleStep> rules;
  std::string nexthop;    ///< why this nexthop was chosen
  std::string ownership;  ///< class of the destination and what holding it costs
};

}  // namespace sidestep::lookup
