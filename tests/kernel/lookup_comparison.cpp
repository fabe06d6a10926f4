// SPDX-License-Identifier: Apache-2.0
// What must be equal: which lines of a configuration fail and with which errno, and for each flow the errno, or the route (table,
// prefix, source prefix, type, protocol, metric, nexthop object), all its hops, and the hop chosen. The kernel's multipath hash is
// seeded at random, so a choice among several hops is equal when each side chose one that has a share on the other side.
#include "kernel/lookup_comparison.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <ranges>
#include <set>

#include <fmt/format.h>

#include <sidestep/fib/table.hpp>

#include "kernel/kernel_router.hpp"
#include "kernel/our_router.hpp"

namespace sidestep::kernel {
namespace {

std::string outcome_text(int error) {
  if (error == 0) return "done";
  if (error < 0) return "refused by the language";
  return fmt::format("error {} ({})", error, std::strerror(error));
}

bool contains(const std::vector<QueryHop>& hops, const QueryHop& chosen) {
  return std::any_of(hops.begin(), hops.end(), [&](const QueryHop& hop) {
    return hop.device == chosen.device && hop.gateway == chosen.gateway;
  });
}

/// Hops as a set: rings have no first member that matters.
std::vector<QueryHop> sorted(std::vector<QueryHop> hops) {
  std::sort(hops.begin(), hops.end(), [](const QueryHop& a, const QueryHop& b) {
    return std::tie(a.device, a.gateway, a.weight) < std::tie(b.device, b.gateway, b.weight);
  });
  return hops;
}

bool same_route(const QueryAnswer& a, const QueryAnswer& b) {
  return a.table == b.table && a.destination == b.destination && a.source == b.source &&
         a.type == b.type && a.protocol == b.protocol && a.metric == b.metric &&
         a.nexthop_id == b.nexthop_id;
}

bool same(const QueryAnswer& kernel, const OurAnswer& ours) {
  if (kernel.error != 0 || ours.answer.error != 0) return kernel.error == ours.answer.error;
  if (!same_route(kernel, ours.answer)) return false;
  if (sorted(kernel.hops) != sorted(ours.answer.hops)) return false;
  if (kernel.mtu != ours.answer.mtu) return false;
  // A flow that names the device of the first hop gets it without a hash, even when it has no share.
  if (kernel.chosen.device == ours.answer.chosen.device &&
      kernel.chosen.gateway == ours.answer.chosen.gateway)
    return true;
  return kernel.hops.size() > 1 && contains(ours.usable, kernel.chosen) &&
         contains(kernel.hops, ours.answer.chosen);
}

/// Which hop a flow gets may decide more than the hop: a suppressor looks at its device. So any choice of ours that gives the kernel's
/// answer will do.
bool same_for_another_hash(const QueryAnswer& kernel, const OurRouter& ours, const Query& query) {
  constexpr std::uint32_t kChoices = 64;
  for (std::uint32_t i = 0; i < kChoices; ++i) {
    if (same(kernel, ours.ask(query, (0x7fffffffU / kChoices) * i + 1))) return true;
  }
  return false;
}

// Explained differences: each with the heading of docs/kernel-differences.md that says why.

constexpr std::string_view kSharedObject = "Routes that share a nexthop object";

/// The kernel answers with any of the routes that share a nexthop object: the one for which the object's per-CPU route was made.
/// So its answer must be a route of ours too, over an object that shares the hop chosen.
bool shares_nexthop_object(const QueryAnswer& kernel, const QueryAnswer& ours,
                           const lookup::Fib& fib) {
  if (kernel.error != 0 || ours.error != 0 || kernel.nexthop_id == 0 || ours.nexthop_id == 0)
    return false;
  if (!contains(kernel.hops, ours.chosen) && !contains(ours.hops, kernel.chosen)) return false;
  const fib::Table* table = fib.find_table(TableId{kernel.table});
  const fib::RouteSet* set =
      table == nullptr ? nullptr : table->get(kernel.destination, kernel.source);
  if (set == nullptr) return false;
  return std::any_of(set->slots.begin(), set->slots.end(), [&](const fib::RouteSlot& slot) {
    const fib::RouteFields& fields = slot.route->fields();
    return fields.object != nullptr && fields.object->id.value == kernel.nexthop_id &&
           fields.metric == kernel.metric && fields.protocol == kernel.protocol;
  });
}

/// Both routers, and what has been found so far.
class Run {
 public:
  explicit Run(KernelRouter& kernel) : kernel_(kernel) {}

  /// Lines are applied many at a time, which `ip` does faster than one by one.
  void apply(const std::vector<Step>& steps, std::size_t begin, std::size_t end) {
    std::string text;
    for (std::size_t i = begin; i < end; ++i) text += std::get<std::string>(steps[i]) + "\n";
    const auto ours = ours_.apply(text);
    for (const auto& said : kernel_.apply(text)) {
      ++result_.lines;
      if (said.error != 0) ++result_.failed_lines;
      const auto mine =
          std::ranges::find_if(ours, [&](const auto& one) { return one.line == said.line; });
      const int error = mine == ours.end() ? 0 : mine->error;
      if (error == said.error) continue;
      result_.differences.push_back({.step = begin + said.line - 1,
                                     .what = said.text,
                                     .kernel = outcome_text(said.error),
                                     .ours = outcome_text(error),
                                     .explanation = {}});
    }
  }

  void ask(const std::vector<Step>& steps, std::size_t begin, std::size_t end) {
    const std::size_t before = result_.differences.size();
    query_.emplace(kernel_.router());  // anew: it knows the devices of the moment
    for (std::size_t i = begin; i < end; ++i) ask(std::get<Query>(steps[i]), i);
    explain_lost_subtrees(steps, before);
  }

  [[nodiscard]] Comparison take_result() { return std::move(result_); }

 private:
  [[nodiscard]] bool is_absent(const std::string& device) const {
    return !device.empty() && ours_.fib().links().find(device) == nullptr;
  }

  void ask(const Query& flow, std::size_t step) {
    if (is_absent(flow.iif) || is_absent(flow.oif)) return;
    ++result_.flows;
    const QueryAnswer said = query_->ask(flow);
    if (said.error != 0) ++result_.erroring_flows;
    const OurAnswer mine = ours_.ask(flow);
    if (same(said, mine)) return;
    if (same_for_another_hash(said, ours_, flow)) {
      ++result_.other_choices;
      return;
    }
    const bool shared = shares_nexthop_object(said, mine.answer, ours_.fib());
    result_.differences.push_back(
        {.step = step,
         .what = "route get " + flow.to_string(),
         .kernel = said.to_string(),
         .ours = mine.answer.to_string(),
         .explanation = shared ? std::string(kSharedObject) : std::string()});
  }

  /// When the kernel changes its mind to our answer because of routes that do not match, it had lost a prefix. Both get these
  /// routes, so that they stay equal in what follows.
  void explain_lost_subtrees(const std::vector<Step>& steps, std::size_t before) {
    constexpr int kTries = 2;
    const auto is_open = [](const Difference& one) { return one.explanation.empty(); };
    const auto found =
        std::ranges::subrange(result_.differences.begin() + static_cast<std::ptrdiff_t>(before),
                              result_.differences.end());
    for (int i = 0; i < kTries && std::ranges::any_of(found, is_open); ++i) {
      const std::string lines = repairing_lines(ours_.fib(), ++repairs_);
      if (lines.empty()) return;
      static_cast<void>(kernel_.apply(lines));
      static_cast<void>(ours_.apply(lines));
      for (auto& difference : found) {
        if (!is_open(difference)) continue;
        const Query& flow = std::get<Query>(steps[difference.step]);
        const QueryAnswer now = query_->ask(flow);
        if (same(now, ours_.ask(flow)) || same_for_another_hash(now, ours_, flow))
          difference.explanation = kLostSubtree;
      }
    }
  }

  KernelRouter& kernel_;
  OurRouter ours_;
  std::optional<RouteQuery> query_;
  Comparison result_;
  unsigned repairs_ = 0;
};

/// Whether the last step, and nothing else, still differs in the same way.
bool persists(const std::vector<Step>& fewer, const Difference& difference) {
  const Comparison now = compare(fewer);
  if (now.differences.empty()) return false;
  const Difference& last = now.differences.back();
  if (last.what != difference.what || !last.explanation.empty()) return false;
  const auto is_other = [&](const Difference& one) {
    return one.explanation.empty() && one.step + 1 != fewer.size();
  };
  return std::holds_alternative<Query>(fewer.back())
             ? std::ranges::none_of(now.differences, is_other)
             : last.kernel == difference.kernel;
}

}  // namespace

std::string to_string(const Step& step) {
  if (const auto* flow = std::get_if<Query>(&step)) return "route get " + flow->to_string();
  return std::get<std::string>(step);
}

Step parse_step(const std::string& text) {
  constexpr std::string_view kGet = "route get ";
  if (text.starts_with(kGet)) {
    if (const auto query = parse_query(text.substr(kGet.size()))) return *query;
  }
  return text;
}

std::string repairing_lines(const lookup::Fib& fib, unsigned number) {
  std::set<std::string> lines;
  for (const TableId id : fib.table_ids()) {
    fib.find_table(id)->for_each([&](const fib::RouteSet& set) {
      const fib::RouteFields& fields = set.slots.front().route->fields();
      if (fields.source.length() == 0) return;
      lines.insert(fmt::format(
          "route append throw {} from 2001:db8:ffff::{:x}/128 table {} metric 4000000000\n",
          fields.destination.to_string(), number, id.value));
    });
  }
  std::string text;
  for (const auto& line : lines) text += line;
  return text;
}

Comparison compare(const std::vector<Step>& steps) {
  auto kernel = KernelRouter::create();
  if (!kernel) {
    Comparison result;
    result.differences.push_back({.step = 0,
                                  .what = "(namespaces)",
                                  .kernel = kernel.error().message,
                                  .ours = {},
                                  .explanation = {}});
    return result;
  }
  Run run(*kernel);
  for (std::size_t begin = 0; begin < steps.size();) {
    std::size_t end = begin;
    while (end < steps.size() && steps[end].index() == steps[begin].index()) ++end;
    if (std::holds_alternative<Query>(steps[begin])) {
      run.ask(steps, begin, end);
    } else {
      run.apply(steps, begin, end);
    }
    begin = end;
  }
  return run.take_result();
}

std::vector<Step> shrink(std::vector<Step> steps, const Difference& difference) {
  steps.resize(difference.step + 1);
  // Most differences do not need the flows before.
  std::vector<Step> lines;
  for (const auto& step : steps) {
    if (std::holds_alternative<std::string>(step)) lines.push_back(step);
  }
  if (std::holds_alternative<Query>(steps.back())) lines.push_back(steps.back());
  if (persists(lines, difference)) steps = std::move(lines);
  for (std::size_t chunk = std::max<std::size_t>(steps.size() / 2, 1); chunk >= 1; chunk /= 2) {
    for (std::size_t end = steps.size() - 1; end > 0;) {
      const std::size_t begin = end > chunk ? end - chunk : 0;
      std::vector<Step> fewer(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(begin));
      fewer.insert(fewer.end(), steps.begin() + static_cast<std::ptrdiff_t>(end), steps.end());
      if (persists(fewer, difference)) steps = std::move(fewer);
      end = begin;
    }
    if (chunk == 1) break;
  }
  return steps;
}

}  // namespace sidestep::kernel
