// SPDX-License-Identifier: Apache-2.0
// Policy routing inside another program: a route in a table of its own, a rule that leads to it, a lookup, and an answer
// that is kept. Prints where the packet would go.
#include <cstdio>

#include <sidestep/lookup/fib.hpp>

using namespace sidestep;

namespace {

net::Ipv6Address address(const char* text) { return net::Ipv6Address::parse(text).value(); }
net::Prefix prefix(const char* text) { return net::Prefix::parse(text).value(); }

int route_one_packet() {
  rcu::Reader reader;  // this thread looks up
  lookup::Fib fib;
  const lookup::Change changes[] = {
      lookup::LinkChange{.name = "east", .create = true, .up = true},
      lookup::RouteChange{.destination = prefix("2001:db8:b::/48"),
                          .table = TableId{100},
                          .hops = {{.device = "east", .gateway = address("fe80::3")}}},
      lookup::RuleChange{
          .rule = {.preference = 500, .from = prefix("2001:db8:a::/48"), .table = TableId{100}},
          .preference_given = true,
          .table_given = true}};
  for (const auto& change : changes) {
    if (const auto applied = fib.apply(change); !applied) return applied.error().code;
  }

  fib::OwnedDst kept;
  {
    const rcu::ReadSection section;  // what a lookup answers is borrowed until here ends
    const auto answer = fib.output({.destination = address("2001:db8:b::1"),
                                    .source = address("2001:db8:a::1"),
                                    .iif = kLoopbackIndex});
    std::printf("to %s, found in table %u\n", answer.neighbor_key.to_string().c_str(),
                answer.table.value);
    kept = fib::OwnedDst::try_promote(answer.dst);  // longer: a reference, if the route lives
  }
  return kept ? 0 : 1;
}

}  // namespace

int main() { return route_one_packet(); }
