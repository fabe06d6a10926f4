// SPDX-License-Identifier: Apache-2.0
// The batch pipeline.
//
//   receive ──▶ route ──▶ run_input ──┬─▶ forward ──▶ output ──▶ transmit
//   (validate)  (lookup)     ▲        ├─▶ deliver ──▶ local host, echo reply
//                            │        └─▶ segment ──▶ lookup ─┐
//                            └────────────────────────────────┘
//
// receive and route run over the whole batch, because they touch nothing but the packet and the tables. From there on
// each packet is taken to its verdict before the next one is begun: a packet may cause messages (ICMPv6 errors,
// redirects, replies), these draw on shared token buckets, and their order must be that of the packets whatever the
// size of a batch. For the same reason an error found while validating is only noted, and sent in its turn.
//
// One read section spans the call. Destinations are borrowed by the packets inside it and let go before it ends;
// nothing here keeps one.
//
// A drop puts the packet's bytes back to what was received: the hop limit and bytes cut off behind the payload by
// themselves, and for packets whose headers SRv6 rewrites from a copy taken before. What error messages quote is the
// packet as it was when the error was found, as in the kernel.
//
// Limits: lookups per packet are bounded (route.cpp), and so is the memory of the limiters (rate_limit.hpp). Not
// done, and dropped as not_implemented where a packet would need it: reassembly, fragmentation of the router's own
// packets, proxied neighbor discovery, and what module srv6 does not do yet.
#include "forward/forwarder.hpp"

#include <array>

#include <sidestep/rcu/rcu.hpp>

#include "forward/pipeline.hpp"
#include "forward/receive.hpp"
#include "forward/route.hpp"

namespace sidestep::forward {

struct Forwarder::Impl {
  explicit Impl(Context given) : context(given), pipeline(context) {
    pipeline.original.reserve(packet::Packet::kSizeMax);
  }

  Context context;
  Pipeline pipeline;
  std::array<Transit, packet::Batch::kCapacity> transits{};
};

namespace {

/// The mask is text as the sysctl has it; read again only when it changes.
void refresh_rate_mask(Pipeline& pipeline) {
  const std::string& text = pipeline.sysctls().icmp_ratemask;
  if (text == pipeline.rate_mask_text) return;
  pipeline.rate_mask_text = text;
  pipeline.rate_mask = parse_rate_mask(text);
}

void run_batch(Pipeline& pipeline, std::span<Transit> batch) {
  receive_batch(pipeline, batch);
  route_batch(pipeline, batch);
  for (Transit& transit : batch) run_input(pipeline, transit);
}

/// Borrows end with the section.
void let_go(packet::Batch& received, std::vector<packet::Packet>& generated, std::size_t before) {
  for (packet::Packet& packet : received) packet.dst.reset();
  for (std::size_t i = before; i < generated.size(); ++i) generated[i].dst.reset();
}

}  // namespace

Forwarder::Forwarder(Context context) : impl_(std::make_unique<Impl>(context)) {}
Forwarder::~Forwarder() = default;

void Forwarder::process(packet::Batch& received, std::vector<packet::Packet>& generated) {
  const rcu::ReadSection section;
  Pipeline& pipeline = impl_->pipeline;
  const std::size_t before = generated.size();
  pipeline.generated = &generated;
  refresh_rate_mask(pipeline);
  pipeline.sids.make_room(pipeline.context.fib.sid_counter_count());

  const std::span<Transit> batch(impl_->transits.data(), received.size());
  for (std::size_t i = 0; i < batch.size(); ++i) batch[i] = Transit{.packet = &received[i]};
  run_batch(pipeline, batch);
  let_go(received, generated, before);
  pipeline.generated = nullptr;
}

std::span<const Learned> Forwarder::learned() const noexcept {
  return std::span(impl_->pipeline.learned).first(impl_->pipeline.learned_count);
}
void Forwarder::clear_learned() noexcept { impl_->pipeline.learned_count = 0; }
std::uint64_t Forwarder::learned_lost() const noexcept { return impl_->pipeline.learned_lost; }
SidCounts Forwarder::sid_counts(fib::SidCounterId id) const { return impl_->pipeline.sids.of(id); }

const packet::Counters& Forwarder::counters() const noexcept { return impl_->pipeline.counters; }

std::uint64_t Forwarder::generated_drops(packet::DropReason reason) const noexcept {
  return impl_->pipeline.generated_drops[static_cast<std::size_t>(reason)];
}

}  // namespace sidestep::forward
