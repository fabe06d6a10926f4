// SPDX-License-Identifier: Apache-2.0
// The FIB: control plane and lookups.
//
// Two sides meet at one pointer. The writer's side (State) holds devices, sysctls, rules, nexthop objects and tables, and
// edits them in place. The readers' side (Snapshot) is an immutable copy of all that but the tables, published whole by one
// pointer store and retired through a grace period. Tables are not copied: a table lives as long as the FIB (the kernel
// never removes one either) and publishes its own changes prefix by prefix, so a snapshot only points at them. Routing a
// million prefixes thus costs a snapshot nothing, and adding a route publishes one pointer in one table.
//
// apply() takes one change and makes it or refuses it. Changes are sorted by noun into the files apply_*.cpp; what
// several of them need is in kernel_routes.cpp (the routes that addresses make), device_events.cpp (up, down, carrier) and
// route_builder.cpp (from words to a checked route). A change may consist of several publications: a device that goes
// down first takes its routes along, then its addresses. Readers may see the steps in between, as they do in the kernel.
//
// Lookups (walk.hpp, select.cpp) are the reference: they do what the kernel does, in its order, and nothing clever. They
// borrow: on the way through rules and tables no counter is touched, neither of what they end with nor of what they
// pass over. The three static destinations stand for every failure; "nothing in this table", "throw", "reject" and
// "route" are four different outcomes, told apart by type and identity and never by an errno alone.
//
// Explanations run the same templates with an observer that writes down what it sees.
#include <sidestep/lookup/fib.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <sidestep/assert.hpp>

#include "lookup/apply.hpp"
#include "lookup/kernel_routes.hpp"
#include "lookup/multipath_hash.hpp"
#include "lookup/plan.hpp"
#include "lookup/recorder.hpp"
#include "lookup/source.hpp"
#include "lookup/state.hpp"
#include "lookup/walk.hpp"

namespace sidestep::lookup {
namespace {

Strictness input_strictness(const Snapshot& state, const Flow& flow) {
  return {.interface = needs_strict_interface(flow.destination),
          .reachable = !state.sysctls->all.forwarding};
}

// `iif lo` means locally generated.
Flow as_generated(const Flow& given) {
  Flow flow = given;
  flow.iif = kLoopbackIndex;
  return flow;
}

template <typename Observer>
Answer walk_input(const Snapshot& state, const Flow& flow, Observer& observer) {
  return walk_rules(Query{state, flow, flow.iif, input_strictness(state, flow)}, observer);
}

template <typename Observer>
Answer walk_output(const Snapshot& state, const Flow& flow, Observer& observer) {
  return make_answer(find_output(state, flow, observer), flow);
}

}  // namespace

struct Fib::Impl {
  Impl(NeighborOracle neighbors, std::uint64_t seed) : state(neighbors, seed) {}
  State state;
};

Fib::Fib(NeighborOracle neighbors, std::uint64_t multipath_seed)
    : impl_(std::make_unique<Impl>(neighbors, multipath_seed)) {
  State& state = impl_->state;
  const fib::Link& lo = *state.links().find(kLoopbackIndex);
  for (const auto& address : lo.addresses) add_local_route(state, lo, address.address);
}

Fib::~Fib() = default;

Result<void> Fib::apply(const Change& change, TimeNs now) {
  State& state = impl_->state;
  collect_if_due(state, now);
  auto result = std::visit([&](const auto& one) { return apply_change(state, one, now); }, change);
  state.exceptions.drop_orphans(state);
  state.publish();
  return result;
}

Answer Fib::input(const Flow& flow) const {
  const Snapshot& state = impl_->state.current();
  const fib::Dst* dst = run_plan(state, flow, flow.iif, input_strictness(state, flow));
  if (dst != nullptr) return make_answer(*dst, flow);
  Silent silent;
  return walk_input(state, flow, silent);
}

Answer Fib::output(const Flow& given) const {
  const Snapshot& state = impl_->state.current();
  const Flow flow = as_generated(given);
  const fib::Dst* dst =
      run_plan(state, flow, output_interface(state, flow), output_strictness(state, flow));
  if (dst != nullptr) return make_answer(*dst, flow);
  Silent silent;
  return walk_output(state, flow, silent);
}

void Fib::input(std::span<const Flow> flows, std::span<Answer> answers) const {
  SIDESTEP_ASSERT(flows.size() == answers.size());
  const Snapshot& state = impl_->state.current();
  const Strictness strictness{.reachable = !state.sysctls->all.forwarding};
  Silent silent;
  for (std::size_t done = 0; done < flows.size(); done += kPlanBatch) {
    const auto block = flows.subspan(done, std::min(kPlanBatch, flows.size() - done));
    std::array<const fib::Dst*, kPlanBatch> outcomes;
    run_input_plan(state, block, strictness, std::span(outcomes).first(block.size()));
    for (std::size_t i = 0; i < block.size(); ++i) {
      answers[done + i] = outcomes[i] != nullptr ? make_answer(*outcomes[i], block[i])
                                                 : walk_input(state, block[i], silent);
    }
  }
}

Answer Fib::input_by_walk(const Flow& flow) const {
  Silent silent;
  return walk_input(impl_->state.current(), flow, silent);
}

Answer Fib::output_by_walk(const Flow& flow) const {
  Silent silent;
  return walk_output(impl_->state.current(), as_generated(flow), silent);
}

Answer Fib::table(TableId id, const Flow& flow) const {
  const Snapshot& state = impl_->state.current();
  const fib::Table* table = state.find_table(id);
  if (table == nullptr) return make_answer(fib::blackhole_dst(), flow);
  Silent silent;
  const Strictness strictness{.reachable = !state.sysctls->all.forwarding};
  const TableResult result =
      lookup_table(Query{state, flow, IfIndex{}, strictness}, *table, silent);
  return result.found() ? make_answer(result, flow) : make_answer(fib::null_dst(), flow);
}

Answer Fib::input_explained(const Flow& flow, Explanation& explanation) const {
  const Snapshot& state = impl_->state.current();
  Recorder recorder(state, explanation);
  Answer answer = walk_input(state, flow, recorder);
  recorder.finish(answer.dst.get());
  return answer;
}

Answer Fib::output_explained(const Flow& flow, Explanation& explanation) const {
  const Snapshot& state = impl_->state.current();
  Recorder recorder(state, explanation);
  Answer answer = walk_output(state, as_generated(flow), recorder);
  recorder.finish(answer.dst.get());
  return answer;
}

std::optional<net::Ipv6Address> Fib::select_source(const net::Ipv6Address& destination,
                                                   IfIndex device) const {
  return best_source(*impl_->state.current().links, destination, device);
}

std::uint32_t Fib::multipath_hash(const Flow& flow, const Flow* inner) const {
  return lookup::multipath_hash(impl_->state.current(), flow, inner);
}

const fib::Links& Fib::links() const { return *impl_->state.current().links; }
const fib::Sysctls& Fib::sysctls() const { return *impl_->state.current().sysctls; }
std::span<const rules::Rule> Fib::rules() const { return impl_->state.current().rules->plain(); }
bool Fib::needs_ports() const { return impl_->state.current().rules->needs_ports(); }

std::uint32_t Fib::sid_counter_count() const {
  // No order is needed: whoever meets a larger number makes room for it.
  return impl_->state.sid_counter_count.load(std::memory_order_relaxed);
}

std::vector<TableId> Fib::table_ids() const {
  std::vector<TableId> ids;
  for (const fib::Table* table : impl_->state.current().tables) ids.push_back(table->id());
  return ids;
}

const fib::Table* Fib::find_table(TableId table) const {
  return impl_->state.current().find_table(table);
}

std::vector<std::shared_ptr<const fib::NexthopObject>> Fib::nexthops() const {
  return *impl_->state.current().nexthops;
}

}  // namespace sidestep::lookup
