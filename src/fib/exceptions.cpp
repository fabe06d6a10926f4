// SPDX-License-Identifier: Apache-2.0
// Exceptions of a hop. Data structure: a fixed number of buckets, each an immutable list that is replaced whole and
// retired through a grace period; lists are short, so a change copies a handful of pointers. An exception is a route
// (destination /128) with the usual life of routes: it is retired when it leaves its list, and an owner of its destination
// may keep it beyond that. Readers write nothing, not even a time of last use: exceptions age from when they were made.
#include <sidestep/fib/exceptions.hpp>

#include <memory>
#include <vector>

#include <sidestep/fib/route.hpp>
#include <sidestep/rcu/rcu.hpp>

#include "fib/mixer.hpp"

namespace sidestep::fib {
namespace {

bool is_about(const Route& exception, const net::Ipv6Address& destination,
              const net::Ipv6Address& source) noexcept {
  return exception->destination.address() == destination && exception->source.address() == source;
}

}  // namespace

struct HopExceptions::Bucket : rcu::Retirable {
  Bucket() {
    destroy = [](Retirable* object) { delete static_cast<Bucket*>(object); };
  }
  std::vector<Route*> entries;  // oldest first
};

HopExceptions::~HopExceptions() {
  for (auto& slot : buckets_) {
    const Bucket* bucket = slot.load(std::memory_order_relaxed);  // nobody else is left
    if (bucket == nullptr) continue;
    for (Route* route : bucket->entries) route->retire();
    delete bucket;
  }
}

std::uint64_t HopExceptions::hash(const net::Ipv6Address& destination,
                                  const net::Ipv6Address& source) const noexcept {
  Mixer mixer(seed_);
  mixer.add(destination);
  mixer.add(source);
  return mixer.state();
}

const Route* HopExceptions::find(const net::Ipv6Address& destination,
                                 const net::Ipv6Address& source) const noexcept {
  // Pairs with the release in publish().
  const Bucket* bucket =
      buckets_[hash(destination, source) % kBucketCount].load(std::memory_order_acquire);
  if (bucket == nullptr) return nullptr;
  for (const Route* route : bucket->entries) {
    if (is_about(*route, destination, source)) return route;
  }
  return nullptr;
}

void HopExceptions::publish(std::size_t index, Bucket* next, const Bucket* old) noexcept {
  // Release: pairs with the acquire in find().
  buckets_[index].store(next, std::memory_order_release);
  if (old != nullptr)
    rcu::retire(const_cast<Bucket*>(old));  // immutable to readers, ours to reclaim
}

void HopExceptions::insert(Route* exception) {
  const net::Ipv6Address& destination = (*exception)->destination.address();
  const net::Ipv6Address& source = (*exception)->source.address();
  const std::uint64_t key = hash(destination, source);
  const std::size_t index = key % kBucketCount;
  const Bucket* old = buckets_[index].load(std::memory_order_relaxed);  // only the writer stores
  auto* next = new Bucket;
  std::vector<Route*> gone;
  if (old != nullptr) {
    for (Route* route : old->entries)
      (is_about(*route, destination, source) ? gone : next->entries).push_back(route);
  }
  next->entries.push_back(exception);
  const std::size_t depth_most = kDepthLeast + (fold_multiply(seed_, index + 1) % kDepthLeast);
  while (next->entries.size() > depth_most) {
    gone.push_back(next->entries.front());
    next->entries.erase(next->entries.begin());
  }
  publish(index, next, old);
  size_ += 1;
  size_ -= gone.size();
  for (Route* route : gone) route->retire();
}

void HopExceptions::erase_if(const std::function<bool(const Route&)>& doomed) {
  for (std::size_t index = 0; index < kBucketCount; ++index) {
    const Bucket* old = buckets_[index].load(std::memory_order_relaxed);
    if (old == nullptr) continue;
    auto next = std::make_unique<Bucket>();
    std::vector<Route*> gone;
    for (Route* route : old->entries) (doomed(*route) ? gone : next->entries).push_back(route);
    if (gone.empty()) continue;
    publish(index, next->entries.empty() ? nullptr : next.release(), old);
    size_ -= gone.size();
    for (Route* route : gone) route->retire();
  }
}

void HopExceptions::for_each(const std::function<void(const Route&)>& visit) const {
  for (const auto& slot : buckets_) {
    const Bucket* bucket = slot.load(std::memory_order_relaxed);
    if (bucket == nullptr) continue;
    for (const Route* route : bucket->entries) visit(*route);
  }
}

}  // namespace sidestep::fib
