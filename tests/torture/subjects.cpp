// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include <fmt/format.h>

#include <sidestep/rcu/rcu.hpp>

#include "torture/subject.hpp"

namespace sidestep::torture {
namespace {

using lookup::NexthopVerb;
using lookup::RouteVerb;

constexpr std::uint8_t kCoverNumber = 0xc0;
constexpr const char* kDevice = "t-a";
constexpr const char* kFlappingDevice = "t-d";
constexpr std::uint32_t kDeviceMtu = 9000;
const IfIndex kDeviceIndex{2};  // the first that is made

net::Ipv6Address address(const std::string& text) { return net::Ipv6Address::parse(text).value(); }
net::Prefix prefix(const std::string& text) { return net::Prefix::parse(text).value(); }

lookup::RouteChange route(RouteVerb verb, const net::Prefix& destination,
                          std::optional<net::Ipv6Address> gateway = {},
                          const char* device = kDevice) {
  lookup::RouteChange change;
  change.verb = verb;
  change.destination = destination;
  if (gateway) change.hops.push_back({.device = device, .gateway = gateway});
  return change;
}

/// What answers where a subject has nothing: a route for everything.
net::Ipv6Address cover_gateway() { return Tag{kCoverNumber, 1, 0}.gateway(); }
bool is_cover(const Facts& facts) {
  return facts.input == fib::DstInput::kForward && facts.gateway == cover_gateway() &&
         facts.mtu == 0;
}

lookup::Flow received(const net::Ipv6Address& destination,
                      const char* source = "2001:db8:bbbb::1") {
  lookup::Flow flow;
  flow.destination = destination;
  flow.source = address(source);
  flow.iif = kDeviceIndex;
  return flow;
}
/// Flows to as many addresses, counted in the last group.
std::vector<lookup::Flow> received_by(const std::string& network, std::size_t count,
                                      const char* source = "2001:db8:bbbb::1") {
  std::vector<lookup::Flow> flows;
  for (std::size_t i = 0; i < count; ++i)
    flows.push_back(received(address(fmt::format("{}{:x}", network, i + 1)), source));
  return flows;
}

/// A prefix whose routes come and go: one, two of equal cost, one in their place, none.
class Routes : public Subject {
 public:
  Routes(std::uint8_t number, net::Prefix destination, std::optional<net::Prefix> source)
      : Subject(number, {received(one_of(destination))}),
        destination_(destination),
        source_(source) {}
  [[nodiscard]] std::string name() const override {
    return "routes of " + destination_.to_string() +
           (source_ ? " from " + source_->to_string() : "");
  }

 private:
  static net::Ipv6Address one_of(const net::Prefix& prefix) {
    net::Ipv6Address inside = prefix.address();
    inside.bytes[15] |= 1;
    return inside;
  }
  void make(World& world, std::uint64_t version) override {
    constexpr RouteVerb kVerbs[] = {RouteVerb::kDelete, RouteVerb::kAdd, RouteVerb::kAppend,
                                    RouteVerb::kReplace};
    const RouteVerb verb = kVerbs[version % 4];
    lookup::RouteChange change = route(verb, destination_, tag(version));
    if (verb == RouteVerb::kDelete) change.hops.clear();
    change.source = source_;
    world.must(change);
  }
  [[nodiscard]] bool allows(std::uint64_t version, const Facts& facts) const override {
    if (version % 4 == 0) return is_cover(facts);
    return is_tagged(facts, version) || (version % 4 == 2 && is_tagged(facts, version - 1));
  }

  net::Prefix destination_;
  std::optional<net::Prefix> source_;
};

/// A rule sends a source to one of two tables; what is in the other one is replaced before the rule changes.
class Switch : public Subject {
 public:
  explicit Switch(std::uint8_t number)
      : Subject(number, received_by("2001:db8:50::", kPrefixes, "2001:db8:aaaa::1")) {}
  static lookup::RuleChange rule(bool second) {
    lookup::RuleChange change;
    change.preference_given = change.table_given = true;
    change.rule.preference = second ? 99 : 100;
    change.rule.from = prefix("2001:db8:aaaa::/48");
    change.rule.table = table(second);
    return change;
  }
  [[nodiscard]] std::string name() const override { return "rule and its table"; }

 private:
  static constexpr std::size_t kPrefixes = 8;
  static TableId table(bool second) { return TableId{second ? 102U : 101U}; }
  void make(World& world, std::uint64_t version) override {
    const bool second = version % 2 == 1;
    rcu::synchronize();  // whoever was still looking into this table has left it
    for (const lookup::Flow& flow : flows()) {
      auto change = route(RouteVerb::kReplace, {flow.destination, 128}, tag(version));
      change.table = table(second);
      world.must(change);
    }
    lookup::RuleChange change = rule(true);
    change.remove = !second;
    world.must(change);
  }
  [[nodiscard]] bool allows(std::uint64_t version, const Facts& facts) const override {
    return version == 0 ? is_cover(facts) : is_tagged(facts, version);
  }
};

/// A nexthop group of 16 that is replaced by 16 others, after each of those was given another gateway.
class Group : public Subject {
 public:
  Group(World& world, std::uint8_t number, bool resilient)
      : Subject(number, received_by(fmt::format("2001:db8:9{:03x}::", number), 1)),
        resilient_(resilient) {
    set_members(world, 0, NexthopVerb::kAdd);
    world.must(group(0, NexthopVerb::kAdd));
    auto change = route(RouteVerb::kAdd, {flows().front().destination, 48});
    change.nexthop_id = id(0);
    world.must(change);
    set_members(world, 1, NexthopVerb::kAdd);
  }
  [[nodiscard]] std::string name() const override {
    return resilient_ ? "resilient nexthop group" : "nexthop group";
  }

 private:
  static constexpr std::uint8_t kMembers = 16;
  /// 0: the group; 1…16 and 17…32: its two sets of members.
  [[nodiscard]] NexthopId id(std::uint32_t which) const {
    return NexthopId{number() * 100U + which};
  }
  [[nodiscard]] NexthopId member(std::uint64_t version, std::uint8_t i) const {
    return id(1U + (version % 2 == 1 ? kMembers : 0U) + i);
  }
  void set_members(World& world, std::uint64_t version, NexthopVerb verb) const {
    for (std::uint8_t i = 0; i < kMembers; ++i) {
      lookup::NexthopChange change{.verb = verb, .id = member(version, i)};
      change.hop = {.device = kDevice, .gateway = tag(version, i)};
      world.must(change);
    }
  }
  [[nodiscard]] lookup::NexthopChange group(std::uint64_t version, NexthopVerb verb) const {
    lookup::NexthopChange change{.verb = verb, .id = id(0)};
    for (std::uint8_t i = 0; i < kMembers; ++i) {
      const auto weight = static_cast<std::uint16_t>(1 + (version + i) % 3);
      change.group.push_back({member(version, i), weight});
    }
    change.resilient = resilient_;
    if (resilient_) change.buckets = 128;
    return change;
  }
  void make(World& world, std::uint64_t version) override {
    set_members(world, version, NexthopVerb::kReplace);
    world.must(group(version, NexthopVerb::kReplace));
  }
  [[nodiscard]] bool allows(std::uint64_t version, const Facts& facts) const override {
    const Tag shown = Tag::of(facts.gateway);
    return facts.has_gateway && shown.subject == number() && shown.version == version &&
           shown.member < kMembers;
  }

  bool resilient_;
};

/// Hosts that get a path MTU, lose it by age, are redirected, and are not any more.
class Exceptions : public Subject {
 public:
  Exceptions(World& world, std::uint8_t number)
      : Subject(number, received_by("2001:db8:e0::", kHosts)) {
    world.must(route(RouteVerb::kAdd, prefix("2001:db8:e0::/48"), router()));
  }
  [[nodiscard]] std::string name() const override { return "exceptions"; }

 private:
  static constexpr std::size_t kHosts = 32;
  static constexpr std::uint64_t kMtus = 4096;  // all below kDeviceMtu
  static constexpr std::uint64_t kLongerThanAnyLifetime = 700;
  static std::uint32_t mtu(std::uint64_t version) {
    return static_cast<std::uint32_t>(1300 + version / 4 % kMtus);
  }
  [[nodiscard]] net::Ipv6Address router() const { return tag(0, 1); }

  void make(World& world, std::uint64_t version) override {
    lookup::ExceptionChange change;
    change.flow.oif = kDeviceIndex;
    switch (version % 4) {
      case 1:
      case 3:
        change.verb =
            version % 4 == 1 ? lookup::ExceptionVerb::kPathMtu : lookup::ExceptionVerb::kRedirect;
        change.mtu = mtu(version);
        change.router = router();
        change.gateway = tag(version);
        for (const lookup::Flow& flow : flows()) {
          change.flow.destination = flow.destination;
          world.must(change);
        }
        return;
      case 2:
        world.pass(kLongerThanAnyLifetime);
        world.must(lookup::CollectChange{});
        return;
      default:
        change.verb = lookup::ExceptionVerb::kGatewayFailed;
        change.gateway = tag(version - 1);
        world.must(change);
    }
  }
  [[nodiscard]] bool allows(std::uint64_t version, const Facts& facts) const override {
    const bool direct = facts.gateway == router();
    if (version % 4 == 1) return direct && facts.mtu == mtu(version);
    if (version % 4 == 3) return is_tagged(facts, version) && facts.mtu == 0;
    return direct && facts.mtu == 0;
  }
};

/// A device that goes up with a new route over it, loses carrier, has it again, and goes down.
class Device : public Subject {
 public:
  Device(World& world, std::uint8_t number) : Subject(number, received_by("2001:db8:dd::", 1)) {
    world.must(lookup::LinkChange{.name = kFlappingDevice, .create = true});
    world.must(lookup::SysctlChange{
        fmt::format("net.ipv6.conf.{}.ignore_routes_with_linkdown", kFlappingDevice), "1"});
  }
  [[nodiscard]] std::string name() const override { return "device"; }

 private:
  void make(World& world, std::uint64_t version) override {
    switch (version % 4) {
      case 1:
        world.must(lookup::LinkChange{.name = kFlappingDevice, .up = true});
        world.must(
            route(RouteVerb::kAdd, prefix("2001:db8:dd::/48"), tag(version), kFlappingDevice));
        return;
      case 2:
      case 3:
        world.must(lookup::LinkChange{.name = kFlappingDevice, .carrier = version % 4 == 3});
        return;
      default:
        world.must(lookup::LinkChange{.name = kFlappingDevice, .up = false});
    }
  }
  [[nodiscard]] bool allows(std::uint64_t version, const Facts& facts) const override {
    if (version % 2 == 0) return is_cover(facts);
    return is_tagged(facts, version % 4 == 1 ? version : version - 2);
  }
};

/// A rule that forbids a mark, or does not.
class Prohibition : public Subject {
 public:
  explicit Prohibition(std::uint8_t number)
      : Subject(number, marked(received_by("2001:db8:77::", 1))) {}
  [[nodiscard]] std::string name() const override { return "rule"; }

 private:
  static constexpr std::uint32_t kMark = 77;
  static std::vector<lookup::Flow> marked(std::vector<lookup::Flow> flows) {
    for (lookup::Flow& flow : flows) flow.mark = kMark;
    return flows;
  }
  void make(World& world, std::uint64_t version) override {
    lookup::RuleChange change;
    change.remove = version % 2 == 0;
    change.preference_given = change.action_given = true;
    change.rule.preference = 60;
    change.rule.fwmark = kMark;
    change.rule.fwmask = 0xffff'ffff;
    change.rule.action = rules::Action::kProhibit;
    world.must(change);
  }
  [[nodiscard]] bool allows(std::uint64_t version, const Facts& facts) const override {
    return version % 2 == 1 ? facts.input == fib::DstInput::kProhibit : is_cover(facts);
  }
};

void add(Subjects& subjects, std::unique_ptr<Subject> subject, std::size_t weight) {
  subjects.turns.insert(subjects.turns.end(), weight, subjects.all.size());
  subjects.all.push_back(std::move(subject));
}

void add_routes(Subjects& subjects, std::uint8_t& number) {
  constexpr unsigned kPrefixes = 64;
  for (unsigned i = 0; i < kPrefixes; ++i) {
    const auto length = static_cast<std::uint8_t>(48 + i);  // to /111
    const net::Prefix destination(address(fmt::format("2001:db8:1{:02x}:1:1:1:1:1", i)), length);
    std::optional<net::Prefix> source;
    if (i % 8 == 7) source = prefix("2001:db8:bbbb::/48");
    add(subjects, std::make_unique<Routes>(++number, destination, source), 6);
  }
}

}  // namespace

World::World() {
  must(lookup::SysctlChange{"net.ipv6.conf.all.forwarding", "1"});
  must(lookup::LinkChange{.name = kDevice, .create = true, .mtu = kDeviceMtu, .up = true});
  must(route(RouteVerb::kAdd, prefix("2001:db8::/32"), cover_gateway()));
  must(Switch::rule(false));
}

void World::must(const lookup::Change& change) {
  const auto applied = fib_.apply(change, now());
  ++changes_;
  if (applied) return;
  fmt::print("a change was refused: {}\n", applied.error().message);
  std::exit(2);
}

void World::pass(std::uint64_t seconds) {
  // Release: pairs with the acquire in now(). Only the writer stores.
  now_.store(now().value + seconds * kNsPerSecond, std::memory_order_release);
}

void Subject::advance(World& world) {
  const std::uint64_t version =
      begun_.load(std::memory_order_relaxed) + 1;  // only the writer stores
  // Release: pairs with the acquire in begun(); whoever sees what comes now sees this too, by way of what it published.
  begun_.store(version, std::memory_order_release);
  make(world, version);
  done_.store(version, std::memory_order_release);  // pairs with the acquire in done()
}

std::optional<std::uint64_t> Subject::find(const Facts& facts, std::uint64_t first,
                                           std::uint64_t last) const {
  for (std::uint64_t version = last;; --version) {
    if (allows(version, facts)) return version;
    if (version == first) return std::nullopt;
  }
}

lookup::Flow Subject::flow(Random& random) const {
  lookup::Flow flow = flows_[random() % flows_.size()];
  flow.flow_label = static_cast<std::uint32_t>(random() & 0xfffff);
  return flow;
}

Subjects make_subjects(World& world) {
  Subjects subjects;
  std::uint8_t number = 0;
  add_routes(subjects, number);
  auto switched = std::make_unique<Switch>(++number);
  subjects.switched = switched.get();
  add(subjects, std::move(switched), 2);
  add(subjects, std::make_unique<Group>(world, ++number, false), 2);
  add(subjects, std::make_unique<Group>(world, ++number, true), 2);
  add(subjects, std::make_unique<Exceptions>(world, ++number), 12);
  add(subjects, std::make_unique<Device>(world, ++number), 8);
  add(subjects, std::make_unique<Prohibition>(++number), 8);
  return subjects;
}

}  // namespace sidestep::torture
