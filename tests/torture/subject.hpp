// SPDX-License-Identifier: Apache-2.0
// Subjects: parts of a router that the writer changes over and over, each in its own way.
//
// A subject has versions. The writer says which one it has begun and which one is done; a reader notes `done` before a lookup and
// `begun` after it. Every version between the two existed at some time in between, wholly or in part, and no other did: the
// answer has to be one that some of these versions allows. Answers name their version, mostly by their gateway, so that an old
// one is recognized, and a mixture is as well.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <sidestep/lookup/fib.hpp>

#include "torture/facts.hpp"

namespace sidestep::torture {

using Random = std::mt19937_64;

/// The router, as the writer sees it.
class World {
 public:
  World();
  /// Applies a change that must succeed; ends the program otherwise.
  void must(const lookup::Change& change);
  /// Time goes on.
  void pass(std::uint64_t seconds);

  [[nodiscard]] lookup::Fib& fib() noexcept { return fib_; }
  [[nodiscard]] const lookup::Fib& fib() const noexcept { return fib_; }
  /// Acquire: pairs with the release in pass(). A reader that sees a time sees that the version was begun in which it came.
  [[nodiscard]] TimeNs now() const noexcept { return TimeNs{now_.load(std::memory_order_acquire)}; }
  [[nodiscard]] std::uint64_t changes() const noexcept { return changes_; }
  [[nodiscard]] IfIndex device(const char* name) const { return fib_.links().find(name)->index; }

 private:
  lookup::Fib fib_;
  std::atomic<std::uint64_t> now_{0};
  std::uint64_t changes_ = 0;
};

class Subject {
 public:
  Subject(std::uint8_t number, std::vector<lookup::Flow> flows)
      : number_(number), flows_(std::move(flows)) {}
  virtual ~Subject() = default;
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;

  /// Writer: on to the next version.
  void advance(World& world);
  /// Reader: one of the flows whose answers depend on the version.
  [[nodiscard]] lookup::Flow flow(Random& random) const;
  [[nodiscard]] std::span<const lookup::Flow> flows() const noexcept { return flows_; }
  /// Reader: the newest version in [first, last] that allows the answer; none: the answer is wrong.
  [[nodiscard]] std::optional<std::uint64_t> find(const Facts& facts, std::uint64_t first,
                                                  std::uint64_t last) const;

  /// Both acquire: they pair with the releases in advance().
  [[nodiscard]] std::uint64_t done() const noexcept {
    return done_.load(std::memory_order_acquire);
  }
  [[nodiscard]] std::uint64_t begun() const noexcept {
    return begun_.load(std::memory_order_acquire);
  }
  [[nodiscard]] virtual std::string name() const = 0;

 protected:
  [[nodiscard]] net::Ipv6Address tag(std::uint64_t version, std::uint8_t member = 0) const {
    return Tag{number_, version, member}.gateway();
  }
  [[nodiscard]] bool is_tagged(const Facts& facts, std::uint64_t version) const {
    return facts.has_gateway && facts.gateway == tag(version);
  }
  [[nodiscard]] std::uint8_t number() const noexcept { return number_; }

 private:
  virtual void make(World& world, std::uint64_t version) = 0;
  [[nodiscard]] virtual bool allows(std::uint64_t version, const Facts& facts) const = 0;

  std::uint8_t number_;
  std::vector<lookup::Flow> flows_;
  std::atomic<std::uint64_t> begun_{0};
  std::atomic<std::uint64_t> done_{0};
};

struct Subjects {
  std::vector<std::unique_ptr<Subject>> all;
  std::vector<std::size_t> turns;     ///< indexes of `all`, each as often as it is to be advanced
  const Subject* switched = nullptr;  ///< the one whose flows must all show one version
};

/// Devices, what is always there, and every subject in its version 0.
[[nodiscard]] Subjects make_subjects(World& world);

}  // namespace sidestep::torture
