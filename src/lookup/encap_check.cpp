// SPDX-License-Identifier: Apache-2.0
#include "lookup/encap_check.hpp"

#include <cerrno>
#include <variant>

#include "lookup/apply.hpp"

namespace sidestep::lookup {
namespace {

// NEXT-C-SID: each length is 8..120 bits, whole bytes, and both fit into an address.
constexpr unsigned kCsidBitsMin = 8;
constexpr unsigned kCsidBitsMax = 120;
constexpr unsigned kAddressBits = 128;

std::unexpected<Error> invalid() { return failure(EINVAL, "Invalid argument"); }
std::unexpected<Error> unsupported() { return failure(EOPNOTSUPP, "Operation not supported"); }

Result<void> check_csid_lengths(const fib::Seg6LocalEncap& encap) {
  const auto bad = [](unsigned bits) {
    return bits < kCsidBitsMin || bits > kCsidBitsMax || bits % 8 != 0;
  };
  if (bad(encap.lbl_bits) || bad(encap.lnfl_bits)) return invalid();
  if (encap.lbl_bits + encap.lnfl_bits > kAddressBits) return invalid();
  return {};
}

// Flavors mean something on End and End.X only; elsewhere the kernel ignores them.
Result<void> check_flavors(const fib::Seg6LocalEncap& encap) {
  const bool end = encap.action == fib::Seg6LocalAction::kEnd;
  if (!end && encap.action != fib::Seg6LocalAction::kEndX) return {};
  if (encap.flavor_usp || encap.flavor_usd) return unsupported();
  if (encap.flavor_psp && !end) return unsupported();
  return encap.flavor_next_csid ? check_csid_lengths(encap) : Result<void>{};
}

bool has_vrf(const State& state, std::optional<TableId> table) {
  if (!table) return false;
  for (const auto& [index, link] : state.links().all()) {
    if (link.vrf_table == table) return true;
  }
  return false;
}

bool has_required(const State& state, const fib::Seg6LocalEncap& encap) {
  using Action = fib::Seg6LocalAction;
  switch (encap.action) {
    case Action::kEnd:
      return true;
    case Action::kEndX:
    case Action::kEndDX6:
      return encap.nh6.has_value();
    case Action::kEndT:
      return encap.table.has_value();
    case Action::kEndDX2:
      return static_cast<bool>(encap.oif);
    case Action::kEndDX4:
      return encap.nh4.has_value();
    case Action::kEndDT6:
      if (encap.table.has_value() == encap.vrf_table.has_value()) return false;
      return encap.table.has_value() || has_vrf(state, encap.vrf_table);
    // The kernel ties a VRF table to its device when the route is made.
    case Action::kEndDT4:
    case Action::kEndDT46:
      return has_vrf(state, encap.vrf_table);
    case Action::kEndB6:
    case Action::kEndB6Encaps:
      return !encap.srh_segments.empty();
    case Action::kEndBpf:
      return !encap.bpf_object.empty();
  }
  return false;
}

Result<fib::Encap> resolve_devices(const State& state, const NexthopSpec& spec) {
  fib::Encap encap = spec.encap;
  auto* local = std::get_if<fib::Seg6LocalEncap>(&encap);
  if (local == nullptr) return encap;
  if (!spec.encap_iif.empty()) {
    const auto device = device_by_name(state, spec.encap_iif);
    if (!device) return std::unexpected(device.error());
    local->iif = *device;
  }
  if (!spec.encap_oif.empty()) {
    const auto device = device_by_name(state, spec.encap_oif);
    if (!device) return std::unexpected(device.error());
    local->oif = *device;
  }
  return encap;
}

}  // namespace

Result<std::shared_ptr<const fib::Encap>> build_encap(State& state, const NexthopSpec& spec) {
  auto encap = resolve_devices(state, spec);
  if (!encap) return std::unexpected(encap.error());
  if (std::holds_alternative<std::monostate>(*encap)) return nullptr;
  if (const auto* seg6 = std::get_if<fib::Seg6Encap>(&*encap)) {
    if (seg6->segments.empty()) return invalid();
  } else if (auto* local = std::get_if<fib::Seg6LocalEncap>(&*encap)) {
    if (!has_required(state, *local)) return invalid();
    if (auto checked = check_flavors(*local); !checked) return std::unexpected(checked.error());
    if (local->count) {
      local->counter.value = state.sid_counter_count.fetch_add(1, std::memory_order_relaxed) + 1;
    }
  }
  return std::make_shared<const fib::Encap>(*std::move(encap));
}

}  // namespace sidestep::lookup
