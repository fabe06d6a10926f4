// SPDX-License-Identifier: Apache-2.0
#include "torture/reader.hpp"

#include <ctime>

#include <vector>

#include <fmt/format.h>

#include <sidestep/rcu/rcu.hpp>

namespace sidestep::torture {
namespace {

std::uint64_t clock_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * kNsPerSecond +
         static_cast<std::uint64_t>(now.tv_nsec);
}

constexpr std::uint64_t kFaultsShown = 10;

}  // namespace

void Observations::add(const Observations& other) {
  sections += other.sections;
  lookups += other.lookups;
  faults += other.faults;
  promoted += other.promoted;
  died += other.died;
  age.add(other.age);
  time_ns.add(other.time_ns);
  thread_time_ns.add(other.thread_time_ns);
  batch_time_ns.add(other.batch_time_ns);
}

void LookupReader::run(const std::atomic<bool>& stop) {
  const rcu::Reader reader;
  while (!stop.load(std::memory_order_relaxed)) {  // only ends the loop
    read_section();
    check_kept();
  }
  for (Kept& kept : kept_) kept.dst.reset();
}

void LookupReader::read_section() {
  const rcu::ReadSection section;
  ++seen_.sections;
  const Question question = ask();
  const lookup::Answer held = world_.fib().input(question.flow);
  judge(question, held);
  const Facts facts = Facts::of(held.dst.get());
  read_batch();
  read_switched();
  for (int i = 0; i < 8; ++i) read_one();
  // Whatever the writer did meanwhile, what was borrowed first still says what it said.
  if (Facts::of(held.dst.get()) != facts)
    report("a borrow says something else now", question, Facts::of(held.dst.get()));
  keep(held);
}

LookupReader::Question LookupReader::ask() {
  const Subject& subject = *subjects_.all[random_() % subjects_.all.size()];
  Question question{&subject, subject.done(), subject.flow(random_)};
  question.flow.now = world_.now();
  return question;
}

void LookupReader::read_batch() {
  std::vector<Question> questions;
  std::vector<lookup::Flow> flows;
  for (std::size_t i = 0; i < kBatch; ++i) {
    questions.push_back(ask());
    flows.push_back(questions.back().flow);
  }
  std::array<lookup::Answer, kBatch> answers;
  const std::uint64_t start = clock_ns(CLOCK_MONOTONIC);
  world_.fib().input(flows, answers);
  seen_.batch_time_ns.add(clock_ns(CLOCK_MONOTONIC) - start);
  for (std::size_t i = 0; i < kBatch; ++i) judge(questions[i], answers[i]);
}

// One batch sees one rule list, and the table that it leads to is not touched while anybody may look: one version.
void LookupReader::read_switched() {
  const Subject& subject = *subjects_.switched;
  const std::uint64_t done = subject.done();
  std::array<lookup::Answer, kBatch> answers;
  const auto flows = subject.flows();
  const std::span used = std::span(answers).first(flows.size());
  world_.fib().input(flows, used);
  std::optional<std::uint64_t> first;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const Question question{&subject, done, flows[i]};
    const std::uint64_t version = judge(question, used[i]);
    if (version != first.value_or(version))
      report("another version in one batch", question, Facts::of(used[i].dst.get()));
    first = version;
  }
}

void LookupReader::read_one() {
  const Question question = ask();
  const std::uint64_t thread_start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  const std::uint64_t start = clock_ns(CLOCK_MONOTONIC);
  const lookup::Answer answer = world_.fib().input(question.flow);
  seen_.time_ns.add(clock_ns(CLOCK_MONOTONIC) - start);
  seen_.thread_time_ns.add(clock_ns(CLOCK_THREAD_CPUTIME_ID) - thread_start);
  judge(question, answer);
  const Question walked = ask();
  judge(walked, world_.fib().input_by_walk(walked.flow));
}

std::uint64_t LookupReader::judge(const Question& question, const lookup::Answer& answer) {
  ++seen_.lookups;
  const Facts facts = Facts::of(answer.dst.get());
  const std::uint64_t done = question.subject->done();
  const std::uint64_t begun = question.subject->begun();
  const auto version = question.subject->find(facts, question.done_before, begun);
  if (!version || facts.is_poisoned()) report("no version allows this", question, facts);
  if (!version) return begun;
  seen_.age.add(done > *version ? done - *version : 0);
  return *version;
}

void LookupReader::report(const char* what, const Question& question, const Facts& facts) {
  if (++seen_.faults > kFaultsShown) return;
  fmt::print("fault: {}: {}, {} from {}, versions {} to {}: {}\n", what, question.subject->name(),
             question.flow.destination.to_string(), question.flow.source.to_string(),
             question.done_before, question.subject->begun(), facts.to_string());
}

void LookupReader::keep(const lookup::Answer& answer) {
  Kept& place = kept_[random_() % kKept];
  fib::PacketDst packet;
  packet.set_borrowed(answer.dst);
  place.dst = fib::OwnedDst::try_promote(answer.dst);
  place.dst ? ++seen_.promoted : ++seen_.died;
  if (place.dst) place.facts = Facts::of(place.dst.get());
  static_cast<void>(packet.force_owned());
}

void LookupReader::check_kept() {
  const Kept& kept = kept_[random_() % kKept];
  if (!kept.dst || Facts::of(kept.dst.get()) == kept.facts) return;
  if (++seen_.faults <= kFaultsShown)
    fmt::print("fault: a kept destination changed: {}\n", Facts::of(kept.dst.get()).to_string());
}

}  // namespace sidestep::torture
