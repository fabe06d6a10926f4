// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sidestep/rules/flow.hpp>

namespace sidestep::lookup {

using rules::Flow;

/// How a table lookup treats interfaces and neighbors (RT6_LOOKUP_F_*).
struct Strictness {
  bool interface = false;         ///< the interface argument must match
  bool ignore_linkstate = false;  ///< routes without carrier are fine
  bool reachable =
      false;  ///< routes over failed neighbors are avoided first (host mode: all.forwarding 0)
};

}  // namespace sidestep::lookup
