// SPDX-License-Identifier: Apache-2.0
// The same configuration in Sidestep, answering the same questions as the kernel's side of a comparison.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include <sidestep/lookup/fib.hpp>

#include "kernel/kernel_router.hpp"
#include "kernel/route_query.hpp"
#include "neighbor/table.hpp"
#include "srv6/settings.hpp"

namespace sidestep::kernel {

/// What Sidestep answers, in the words of the kernel's answer, and which of the hops could have been chosen.
struct OurAnswer {
  QueryAnswer answer;
  std::vector<QueryHop> usable;  ///< members of a ring or group that have a share; else the one hop
};

/// A router of ours. The calling thread becomes a registered reader and is the writer too.
class OurRouter {
 public:
  OurRouter();
  OurRouter(const OurRouter&) = delete;
  OurRouter& operator=(const OurRouter&) = delete;

  /// Applies a configuration line by line and gives each command's outcome; error -1 with a printed reason when a line is refused by
  /// the language.
  std::vector<LineOutcome> apply(std::string_view text);
  /// Makes a change that no configuration line says.
  Result<void> change(const lookup::Change& change, TimeNs now = {}) {
    return fib_.apply(change, now);
  }
  /// @param multipath_hash  31 bits that choose among equal hops; 0: computed from the flow
  [[nodiscard]] OurAnswer ask(const Query& query, std::uint32_t multipath_hash = 0,
                              TimeNs now = {}) const;

  [[nodiscard]] const lookup::Fib& fib() const noexcept { return fib_; }
  [[nodiscard]] const neighbor::Table& neighbors() const noexcept { return neighbors_; }
  [[nodiscard]] const srv6::Settings& srv6() const noexcept { return srv6_; }

 private:
  neighbor::Table neighbors_;
  lookup::Fib fib_;
  srv6::Settings srv6_;
};

/// The flow that a question is about. Devices that do not exist become index 0xffffffff.
[[nodiscard]] lookup::Flow flow_of(const Query& query, const fib::Links& links);

}  // namespace sidestep::kernel
