// SPDX-License-Identifier: Apache-2.0
#include "bench/background_reader.hpp"

#include <utility>

#include <sidestep/rcu/rcu.hpp>

#include "bench/machine.hpp"

namespace sidestep::bench {

BackgroundReader::BackgroundReader(std::function<std::size_t(std::size_t)> look_up)
    : look_up_(std::move(look_up)), thread_([this] { run(); }) {
  while (count() == 0) std::this_thread::yield();
}

BackgroundReader::~BackgroundReader() {
  stop_.store(true, std::memory_order_relaxed);  // join() orders the rest
  thread_.join();
}

void BackgroundReader::run() {
  const Pin pin(1);
  const rcu::Reader reader;
  for (std::size_t n = 0; !stop_.load(std::memory_order_relaxed); ++n) {
    const rcu::ReadSection section;
    const std::size_t done = look_up_(n);
    count_.store(count() + done, std::memory_order_relaxed);  // the only writer
  }
}

}  // namespace sidestep::bench
