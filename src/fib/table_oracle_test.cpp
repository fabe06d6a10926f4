// SPDX-License-Identifier: Apache-2.0
// Random changes and lookups on a Table and on the flat list that is its oracle.
//
// A run's seed is printed; SIDESTEP_SEED=N repeats it.
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sidestep/fib/table.hpp>

#include "fib/flat_table.hpp"
#include "fib/trie.hpp"

namespace sidestep::fib {
namespace {

std::uint64_t seed() {
  static const std::uint64_t value = [] {
    const char* given = std::getenv("SIDESTEP_SEED");
    const std::uint64_t chosen =
        given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device{}();
    std::cout << "SIDESTEP_SEED=" << chosen << '\n';
    return chosen;
  }();
  return value;
}

// How a run draws its prefixes.
struct Mix {
  const char* name;
  int destinations;  // size of the pool
  int sources;
  int source_specific_percent;
  int steps;
};

class Drawer {
 public:
  Drawer(std::uint64_t from, const Mix& mix) : random_(from), mix_(mix) {
    for (int i = 0; i < mix.destinations; ++i) destinations_.push_back(related(destinations_));
    for (int i = 0; i < mix.sources; ++i) sources_.push_back(related(sources_));
    for (const std::uint32_t id : {7U, 8U}) {
      auto object = std::make_shared<NexthopObject>();
      object->id = NexthopId{id};
      object->hops.resize(1);
      objects_.push_back(object);
    }
    for (const auto last : {std::uint8_t{1}, std::uint8_t{2}}) {
      Seg6Encap encap;
      encap.segments.resize(1);
      encap.segments[0].bytes[15] = last;
      encaps_.push_back(std::make_shared<const Encap>(encap));
    }
  }

  std::uint32_t below(std::uint32_t limit) {
    return std::uniform_int_distribution<std::uint32_t>(0, limit - 1)(random_);
  }
  bool percent(int chance) { return below(100) < static_cast<std::uint32_t>(chance); }

  net::Prefix destination() {
    return destinations_[below(static_cast<std::uint32_t>(destinations_.size()))];
  }
  net::Prefix source() {
    if (!percent(mix_.source_specific_percent)) return {};
    return sources_[below(static_cast<std::uint32_t>(sources_.size()))];
  }
  // Inside a prefix of the pool, or just outside of it.
  net::Ipv6Address near(const net::Prefix& prefix) {
    net::Ipv6Address address = bytes();
    for (unsigned bit = 0; bit < prefix.length(); ++bit)
      set_bit(address, bit, prefix.address().bit(bit));
    if (percent(30)) {
      const unsigned bit = below(128);
      set_bit(address, bit, !address.bit(bit));
    }
    return address;
  }
  net::Ipv6Address destination_address() { return near(destination()); }
  net::Ipv6Address source_address() {
    if (percent(10)) return {};
    return sources_.empty() ? bytes()
                            : near(sources_[below(static_cast<std::uint32_t>(sources_.size()))]);
  }

  RouteFields fields() {
    RouteFields fields;
    fields.destination = destination();
    fields.source = source();
    fields.metric = 10 * (1 + below(3));
    fields.advmss = ++tag_;  // tells routes apart
    fields.protocol = static_cast<std::uint8_t>(3 + below(2));
    fields.hop.device = IfIndex{2 + below(3)};
    fields.hop.weight = static_cast<std::uint16_t>(1 + below(256));
    if (percent(50)) fields.hop.gateway = gateway();
    if (percent(15)) fields.hop.encap = encaps_[below(2)];
    if (percent(10)) fields.object = objects_[below(2)];
    if (percent(10)) fields.is_ra_learned = true;
    if (percent(10)) fields.expires_at = TimeNs{1 + below(100)};
    if (percent(10)) fields.mtu = 1280 + below(200);
    if (fields.object == nullptr && percent(10)) make_reject(fields);
    return fields;
  }
  InsertFlags flags() {
    switch (below(5)) {
      case 0:
        return {.create = true, .exclusive = true};
      case 1:
        return {.create = true, .replace = true};
      case 2:
        return {.create = false, .replace = true};
      case 3:
        return {.create = true, .linkdown = true};
      default:
        return {.create = true, .append = true};
    }
  }
  RouteMatch match() {
    RouteMatch match;
    if (percent(30)) match.metric = 10 * (1 + below(3));
    if (percent(20)) match.protocol = static_cast<std::uint8_t>(3 + below(2));
    if (percent(20)) match.device = IfIndex{1 + below(4)};
    if (percent(20)) match.gateway = percent(20) ? net::Ipv6Address{} : gateway();
    if (percent(10)) match.nexthop_id = NexthopId{7 + below(2)};
    if (percent(5)) match.type = RouteType::kBlackhole;
    match.single_hop = percent(20);
    return match;
  }

 private:
  static void set_bit(net::Ipv6Address& address, unsigned index, bool value) {
    const auto mask = static_cast<std::uint8_t>(0x80U >> (index % 8));
    std::uint8_t& byte = address.bytes[index / 8];
    byte = static_cast<std::uint8_t>(value ? byte | mask : byte & ~mask);
  }
  net::Ipv6Address bytes() {
    net::Ipv6Address address;
    for (auto& byte : address.bytes) byte = static_cast<std::uint8_t>(below(256));
    return address;
  }
  net::Ipv6Address gateway() {
    net::Ipv6Address address;
    address.bytes[0] = 0xfe;
    address.bytes[1] = 0x80;
    address.bytes[15] = static_cast<std::uint8_t>(1 + below(4));
    return address;
  }
  static void make_reject(RouteFields& fields) {
    fields.type = fields.advmss % 2 == 0 ? RouteType::kBlackhole : RouteType::kThrow;
    fields.hop.gateway.reset();
    fields.hop.encap.reset();
  }
  // Half of a pool branches off what is in it already, so that prefixes nest and share long stems. Every length may come.
  net::Prefix related(const std::vector<net::Prefix>& pool) {
    const auto length =
        static_cast<std::uint8_t>(percent(10) ? (percent(50) ? 0 : 128) : below(129));
    if (pool.empty() || percent(50))
      return {bytes(), length == 0 && &pool == &sources_ ? std::uint8_t{1} : length};
    const net::Prefix& parent = pool[below(static_cast<std::uint32_t>(pool.size()))];
    return {near(parent), length == 0 && &pool == &sources_ ? std::uint8_t{1} : length};
  }

  std::mt19937_64 random_;
  Mix mix_;
  std::uint32_t tag_ = 0;
  std::vector<net::Prefix> destinations_;
  std::vector<net::Prefix> sources_;
  std::vector<std::shared_ptr<const NexthopObject>> objects_;
  std::vector<std::shared_ptr<const Encap>> encaps_;
};

// What is compared of a set, and printed when it differs.
struct SlotView {
  std::uint32_t tag = 0;
  std::uint32_t metric = 0;
  std::uint32_t mtu = 0;
  std::uint64_t expires = 0;
  bool dead = false;
  bool linkdown = false;
  std::int32_t bound = 0;
  bool operator==(const SlotView&) const = default;
};
struct SetView {
  net::Prefix destination;
  net::Prefix source;
  std::vector<SlotView> slots;
  bool operator==(const SetView&) const = default;
};

void PrintTo(const SetView& set, std::ostream* out) {
  *out << "\n  " << set.destination.to_string() << " from " << set.source.to_string() << ':';
  for (const SlotView& s : set.slots) {
    *out << fmt::format(" [tag {} metric {} mtu {} expires {} dead {} linkdown {} bound {}]", s.tag,
                        s.metric, s.mtu, s.expires, s.dead, s.linkdown, s.bound);
  }
}

SlotView view(const RouteFields& f, bool dead, bool linkdown, std::int32_t bound) {
  return {f.advmss, f.metric, f.mtu, f.expires_at ? f.expires_at->value : 0, dead, linkdown, bound};
}

SetView view(const RouteSet& set) {
  const RouteFields& first = set.slots.front().route->fields();
  SetView result{first.destination, first.source, {}};
  for (const RouteSlot& slot : set.slots) {
    result.slots.push_back(view(slot.route->fields(), slot.dead, slot.linkdown, slot.upper_bound));
  }
  return result;
}

SetView view(const FlatTable& flat, const FlatTable::Pair& pair) {
  const auto set = flat.at(pair);
  SetView result{pair.first, pair.second, {}};
  for (const auto& entry : set) {
    result.slots.push_back(
        view(entry.fields, entry.dead, entry.linkdown, FlatTable::upper_bound(entry, set)));
  }
  return result;
}

class TableOracle : public ::testing::TestWithParam<Mix> {
 protected:
  void SetUp() override {
    rcu::barrier();
    routes_before_ = Route::live_count();
    nodes_before_ = trie_live_count();
    table_ = std::make_unique<Table>(kTableMain);
  }

  void change(Drawer& draw) {
    const auto kind = draw.below(100);
    if (kind < 60) {
      insert(draw);
    } else if (kind < 90) {
      erase(draw);
    } else {
      update(draw);
    }
  }

  void insert(Drawer& draw) {
    const RouteFields fields = draw.fields();
    const InsertFlags flags = draw.flags();
    const int expected = flat_.insert(fields, flags);
    const auto result = table_->insert(Route::create(fields), flags);
    ASSERT_EQ(result ? 0 : result.error().code, expected);
  }

  void erase(Drawer& draw) {
    const net::Prefix destination = draw.destination();
    const net::Prefix source = draw.source();
    const RouteMatch match = draw.match();
    const std::size_t expected = flat_.erase(destination, source, match);
    const auto result = table_->erase(destination, source, match);
    ASSERT_EQ(result.value_or(0), expected);
    if (!result) {
      ASSERT_EQ(result.error().code, ESRCH);
    }
  }

  // A device event: down, up, gone, or its routes rewritten.
  void update(Drawer& draw) {
    const IfIndex device{2 + draw.below(3)};
    const auto event = draw.below(10);
    const auto concerned = [&](const RouteFields& f) { return f.hop.device == device; };
    table_->update([&](RouteSlot& slot) {
      if (!concerned(slot.route->fields())) return SlotFate::kKeep;
      if (event == 0) return SlotFate::kRemove;
      if (event == 1) slot.route = rewritten(*slot.route);
      if (event > 1) slot.dead = event > 5;
      return SlotFate::kKeep;
    });
    if (event == 0)
      std::erase_if(flat_.entries(), [&](const auto& e) { return concerned(e.fields); });
    for (auto& entry : flat_.entries()) {
      if (!concerned(entry.fields)) continue;
      if (event == 1) entry.fields.mtu += 1;
      if (event > 1) entry.dead = event > 5;
    }
  }

  static const Route* rewritten(const Route& route) {
    RouteFields fields = route.fields();
    fields.mtu += 1;
    return Route::create(std::move(fields));
  }

  void compare_walk(Drawer& draw) {
    const net::Ipv6Address destination = draw.destination_address();
    const net::Ipv6Address source = draw.source_address();
    std::vector<SetView> expected;
    for (const auto& pair : flat_.walk(destination, source)) expected.push_back(view(flat_, pair));
    std::vector<SetView> tried;
    const rcu::ReadSection section;
    Table::Walk walk(*table_, destination, source);
    while (const RouteSet* set = walk.next()) tried.push_back(view(*set));
    ASSERT_EQ(walk.next(), nullptr);  // the end stays the end
    ASSERT_EQ(tried, expected) << "to " << destination.to_string() << " from "
                               << source.to_string();
  }

  void compare_dump() {
    std::vector<SetView> expected;
    for (const auto& pair : flat_.dump_order()) expected.push_back(view(flat_, pair));
    std::vector<SetView> dumped;
    table_->for_each([&](const RouteSet& set) { dumped.push_back(view(set)); });
    ASSERT_EQ(dumped, expected);
    ASSERT_EQ(table_->route_count(), flat_.entries().size());
    const auto specific = [](const auto& entry) { return entry.fields.source.length() != 0; };
    ASSERT_EQ(table_->has_source_specific(), std::ranges::any_of(flat_.entries(), specific));
  }

  void erase_everything(Drawer& draw) {
    while (!flat_.entries().empty()) {
      const auto count = static_cast<std::uint32_t>(flat_.entries().size());
      const RouteFields fields = flat_.entries()[draw.below(count)].fields;
      const RouteMatch match{.metric = fields.metric};
      ASSERT_EQ(table_->erase(fields.destination, fields.source, match).value_or(0),
                flat_.erase(fields.destination, fields.source, match));
    }
  }

  rcu::Reader reader_;
  std::unique_ptr<Table> table_;
  FlatTable flat_;
  std::uint64_t routes_before_ = 0;
  std::uint64_t nodes_before_ = 0;
};

TEST_P(TableOracle, RandomChangesAndLookupsAgree) {
  const std::uint64_t run_seed = seed();
  SCOPED_TRACE(fmt::format("SIDESTEP_SEED={}", run_seed));
  Drawer draw(run_seed, GetParam());
  for (int step = 0; step < GetParam().steps; ++step) {
    SCOPED_TRACE(fmt::format("step {}", step));
    ASSERT_NO_FATAL_FAILURE(change(draw));
    for (int i = 0; i < 4; ++i) ASSERT_NO_FATAL_FAILURE(compare_walk(draw));
    if (step % 64 != 0) continue;
    ASSERT_NO_FATAL_FAILURE(compare_dump());
  }
  ASSERT_NO_FATAL_FAILURE(compare_dump());
  rcu::barrier();
  EXPECT_EQ(Route::live_count() - routes_before_, flat_.entries().size());
  ASSERT_NO_FATAL_FAILURE(erase_everything(draw));
  rcu::barrier();
  EXPECT_EQ(Route::live_count(), routes_before_);
  EXPECT_EQ(trie_live_count(), nodes_before_ + 1) << "only the root stays";
  table_.reset();
  rcu::barrier();
  EXPECT_EQ(trie_live_count(), nodes_before_);
}

TEST_P(TableOracle, DestructionGivesEverythingBack) {
  SCOPED_TRACE(fmt::format("SIDESTEP_SEED={}", seed()));
  Drawer draw(seed() + 1, GetParam());
  for (int step = 0; step < GetParam().steps / 4; ++step) ASSERT_NO_FATAL_FAILURE(change(draw));
  table_.reset();
  rcu::barrier();
  EXPECT_EQ(Route::live_count(), routes_before_);
  EXPECT_EQ(trie_live_count(), nodes_before_);
}

const Mix kMixes[] = {
    {"crowded", 6, 3, 40, 3000},
    {"sourceless", 60, 0, 0, 3000},
    {"source_specific", 20, 12, 70, 3000},
    {"wide", 300, 20, 20, 3000},
};

INSTANTIATE_TEST_SUITE_P(Mixes, TableOracle, ::testing::ValuesIn(kMixes),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace sidestep::fib
