//===- ThreadTeam.cpp - threads that run programs -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/ThreadTeam.h"

#include <atomic>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
static inline void relax() { _mm_pause(); }
#else
static inline void relax() {}
#endif

using namespace heddle;

ThreadTeam::~ThreadTeam() = default;

namespace {

/// A sense-reversing barrier: the last to arrive turns the phase, the others wait for it. Waiting spins first: steps follow
/// one another within microseconds.
class Barrier {
public:
  explicit Barrier(int count) : count(count) {}
  void wait(int spins) {
    uint32_t now = phase.load(std::memory_order_relaxed);
    if (arrived.fetch_add(1, std::memory_order_acq_rel) == count - 1) {
      arrived.store(0, std::memory_order_relaxed);
      phase.store(now + 1, std::memory_order_release);
      phase.notify_all();
      return;
    }
    for (int i = 0; i < spins; ++i) {
      if (phase.load(std::memory_order_acquire) != now)
        return;
      relax();
    }
    while (phase.load(std::memory_order_acquire) == now)
      phase.wait(now, std::memory_order_acquire);
  }

private:
  const int count;
  alignas(64) std::atomic<int> arrived{0};
  alignas(64) std::atomic<uint32_t> phase{0};
};

class SpinningTeam : public ThreadTeam {
public:
  explicit SpinningTeam(int count) : count(count), meeting(count) {
    for (int thread = 1; thread < count; ++thread)
      workers.emplace_back([this, thread] { work(thread); });
  }
  ~SpinningTeam() override {
    stopping = true;
    generation.fetch_add(1, std::memory_order_release);
    generation.notify_all();
    for (std::thread &worker : workers)
      worker.join();
  }
  int threads() const override { return count; }

  void run(void (*newBody)(void *, int), void *newArgument) override {
    std::lock_guard lock(mutex);
    if (count == 1)
      return newBody(newArgument, 0);
    body = newBody;
    argument = newArgument;
    generation.fetch_add(1, std::memory_order_release);
    generation.notify_all();
    newBody(newArgument, 0);
    meeting.wait(spins);
  }
  void barrier(int) override {
    if (count > 1)
      meeting.wait(spins);
  }

private:
  static constexpr int spins = 20000;
  const int count;
  Barrier meeting;
  std::mutex mutex; ///< one caller at a time
  void (*body)(void *, int) = nullptr;
  void *argument = nullptr;
  std::atomic<bool> stopping{false};
  alignas(64) std::atomic<uint32_t> generation{0};
  std::vector<std::thread> workers;

  void work(int thread) {
    uint32_t seen = 0;
    for (;;) {
      for (int i = 0; i < spins && generation.load(std::memory_order_acquire) == seen; ++i)
        relax();
      while (generation.load(std::memory_order_acquire) == seen)
        generation.wait(seen, std::memory_order_acquire);
      seen = generation.load(std::memory_order_acquire);
      if (stopping)
        return;
      body(argument, thread);
      meeting.wait(spins);
    }
  }
};
} // namespace

std::shared_ptr<ThreadTeam> heddle::makeThreadTeam(int threads) {
  return std::make_shared<SpinningTeam>(threads < 1 ? 1 : threads);
}

std::shared_ptr<ThreadTeam> heddle::sharedThreadTeam(int threads) {
  static std::mutex mutex;
  static std::map<int, std::shared_ptr<ThreadTeam>> teams;
  if (threads <= 0)
    threads = int(std::thread::hardware_concurrency());
  std::lock_guard lock(mutex);
  auto &team = teams[threads];
  if (!team)
    team = makeThreadTeam(threads);
  return team;
}
