// SPDX-License-Identifier: Apache-2.0
// Policy routing inside another program: a table, a rule that leads to it, a batch of lookups, one answer kept.
#include <cstdio>
#include <sidestep/lookup/fib.hpp>
using namespace sidestep;

int main() {
  const auto address = [](const char* text) { return net::Ipv6Address::parse(text).value(); };
  const auto prefix = [](const char* text) { return net::Prefix::parse(text).value(); };
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
  const lookup::Flow flows[] = {
      {.destination = address("2001:db8:b::1"), .source = address("2001:db8:a::1")},
      {.destination = address("2001:db8:b::1"), .source = address("2001:db8:c::1")}};
  fib::OwnedDst kept;
  {
    const rcu::ReadSection section;  // what a lookup answers is borrowed until here ends
    lookup::Answer answers[2];
    fib.input(flows, answers);
    for (const auto& answer : answers)
      std::printf("to %s, table %u, error %d\n", answer.neighbor_key.to_string().c_str(),
                  answer.table.value, answer.error());
    kept = fib::OwnedDst::try_promote(answers[0].dst);  // longer: a reference, if the route lives
  }
  return kept ? 0 : 1;
}
