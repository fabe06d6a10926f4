// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <sidestep/lookup/fib.hpp>
#include <sidestep/rcu/rcu.hpp>

#include "forward/forwarder.hpp"
#include "neighbor/table.hpp"
#include "srv6/settings.hpp"

namespace sidestep::app {

/// A router as a configuration file describes it, for the thread that makes it, which becomes a reader.
class Router {
 public:
  Router();
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;

  /// Applies a file to the fresh router. Mistakes go to stderr, one a line; with any the router must not be used.
  [[nodiscard]] bool load(const std::string& path);

  /// Applies what packets taught, and clears it.
  void learn(forward::Forwarder& forwarder);

  [[nodiscard]] const lookup::Fib& fib() const noexcept { return fib_; }
  [[nodiscard]] const fib::Links& links() const { return fib_.links(); }
  [[nodiscard]] const neighbor::Table& neighbors() const noexcept { return neighbors_; }
  [[nodiscard]] const srv6::Settings& srv6() const noexcept { return srv6_; }
  /// `lo, west, east`: for messages about a name that is none of these.
  [[nodiscard]] std::string device_names() const;

 private:
  /// Waits at the end for what was retired, so that nothing is left when the program is done.
  struct Drain {
    ~Drain() { rcu::barrier(); }
  };

  rcu::Reader reader_;
  [[no_unique_address]] Drain drain_;  // after everything below is gone
  neighbor::Table neighbors_;
  srv6::Settings srv6_;
  lookup::Fib fib_;
};

}  // namespace sidestep::app
