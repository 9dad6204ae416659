//===- ThreadTeam.cpp - threads that run programs -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/device/ThreadTeam.h"

#include "heddle/Error.h"
#include "runtime/base/Spin.h"
#include "runtime/device/ThreadCount.h"

#include <charconv>
#include <cstdlib>
#include <map>
#include <sched.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>

using namespace heddle;

//===----------------------------------------------------------------------===//
// Region
//===----------------------------------------------------------------------===//

bool Region::barrier() {
  if (aborted())
    return false;
  if (count == 1)
    return true;
  if (age != processAge()) // the other threads are in the parent
    return false;
  uint32_t now = phase.load(std::memory_order_acquire);
  if (arrived.fetch_add(1, std::memory_order_acq_rel) == count - 1) {
    arrived.store(0, std::memory_order_relaxed);
    phase.store(now + 1, std::memory_order_seq_cst);
    if (sleepers.load(std::memory_order_seq_cst) != 0)
      phase.notify_all();
    return !aborted();
  }
  auto ready = [&] { return phase.load(std::memory_order_acquire) != now || aborted(); };
  if (!spinUntil(ready, crowded ? std::chrono::microseconds(0) : barrierSpin)) {
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    while (phase.load(std::memory_order_seq_cst) == now && !aborted())
      phase.wait(now, std::memory_order_seq_cst);
    sleepers.fetch_sub(1, std::memory_order_relaxed);
  }
  return !aborted();
}

void Region::abort() {
  gaveUp.store(true, std::memory_order_seq_cst);
  phase.fetch_add(1, std::memory_order_seq_cst);
  phase.notify_all();
}

void Region::reset(int threads) {
  count = threads;
  arrived.store(0, std::memory_order_relaxed);
  gaveUp.store(false, std::memory_order_relaxed);
}

//===----------------------------------------------------------------------===//
// Teams
//===----------------------------------------------------------------------===//

ThreadTeam::~ThreadTeam() = default;

namespace {

/// True while this thread runs the body of a region.
thread_local bool insideRegion = false;

void runBody(ThreadTeam::Body body, void *argument, Region &region, int thread) {
  bool outside = insideRegion;
  insideRegion = true;
  body(argument, region, thread);
  insideRegion = outside;
}

/// Requests short time slices, which do not reduce a thread's share of CPU time: on a busy machine
/// a woken thread runs immediately instead of waiting for the end of another's slice. (Linux 6.12;
/// older versions ignore it.)
void askForShortSlices() {
#if defined(SYS_sched_setattr)
  struct {
    uint32_t size = 48, policy = SCHED_OTHER;
    uint64_t flags = 0;
    int32_t nice = 0;
    uint32_t priority = 0;
    uint64_t runtime = 0, deadline = 0, period = 0;
  } attributes;
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0 ||
      attributes.policy != SCHED_OTHER)
    return;
  attributes.runtime = 100'000; // nanoseconds
  syscall(SYS_sched_setattr, 0, &attributes, 0);
#endif
}

/// The threads of a team in one process, and their synchronisation with the caller.
class Crew {
public:
  explicit Crew(int count) : count(count), region(count, count > availableCores()) {
    try {
      for (int thread = 1; thread < count; ++thread)
        workers.emplace_back([this, thread] { work(thread); });
    } catch (const std::system_error &error) {
      stop();
      throw Error("can't start " + std::to_string(count) + " threads: the system gave " +
                  std::to_string(workers.size() + 1) + " (" + error.what() + ")");
    } catch (...) {
      stop();
      throw;
    }
  }
  ~Crew() { stop(); }
  bool isHere() const { return age == processAge(); }

  void run(ThreadTeam::Body newBody, void *newArgument) {
    std::lock_guard lock(mutex);
    region.reset(count);
    body = newBody;
    argument = newArgument;
    running.store(count - 1, std::memory_order_relaxed);
    wake();
    runBody(newBody, newArgument, region, 0);
    auto done = [&] { return running.load(std::memory_order_acquire) == 0 || !isHere(); };
    if (spinUntil(done, barrierSpin))
      return;
    for (int left; (left = running.load(std::memory_order_acquire)) != 0;)
      running.wait(left, std::memory_order_acquire);
  }

private:
  const int count;
  const uint32_t age = processAge();
  Region region;
  std::mutex mutex; ///< one caller at a time
  ThreadTeam::Body body = nullptr;
  void *argument = nullptr;
  bool stopping = false;
  alignas(64) std::atomic<uint32_t> generation{0}; ///< counts runs
  std::atomic<int> sleepers{0};
  alignas(64) std::atomic<int> running{0}; ///< workers that are not done yet
  std::vector<std::thread> workers;

  void wake() {
    generation.fetch_add(1, std::memory_order_seq_cst);
    if (sleepers.load(std::memory_order_seq_cst) != 0)
      generation.notify_all();
  }

  void stop() {
    stopping = true;
    wake();
    for (std::thread &worker : workers)
      worker.join();
  }

  void work(int thread) {
    askForShortSlices();
    for (uint32_t seen = 0;; ++seen) {
      auto called = [&] { return generation.load(std::memory_order_acquire) != seen; };
      if (!spinUntil(called, idleSpin)) {
        sleepers.fetch_add(1, std::memory_order_seq_cst);
        while (generation.load(std::memory_order_seq_cst) == seen)
          generation.wait(seen, std::memory_order_seq_cst);
        sleepers.fetch_sub(1, std::memory_order_relaxed);
      }
      if (stopping)
        return;
      runBody(body, argument, region, thread);
      if (!isHere()) // this thread forked: its work in the child ends when it returns
        return;
      if (running.fetch_sub(1, std::memory_order_acq_rel) == 1)
        running.notify_one();
    }
  }
};

class SpinningTeam : public ThreadTeam {
public:
  explicit SpinningTeam(int count) : count(count), crew(new Crew(count)) {}
  ~SpinningTeam() override {
    if (Crew *last = crew.load(); last->isHere())
      delete last;
  }
  int threads() const override { return count; }

  void run(Body body, void *argument) override {
    if (count == 1 || insideRegion) {
      Region ofOneThread(1);
      return runBody(body, argument, ofOneThread, 0);
    }
    Crew *now = crew.load(std::memory_order_acquire);
    if (!now->isHere())
      now = makeAnew();
    now->run(body, argument);
  }

private:
  const int count;
  std::atomic<Crew *> crew;

  /// Leaks the parent's crew: its threads can't be joined here.
  Crew *makeAnew() {
    static auto &mutex = *new ForkMutex;
    std::lock_guard lock(mutex);
    if (!crew.load()->isHere())
      crew.store(new Crew(count));
    return crew.load();
  }
};
} // namespace

std::shared_ptr<ThreadTeam> heddle::makeThreadTeam(int threads) {
  return std::make_shared<SpinningTeam>(threads < 1 ? 1 : threads);
}

int heddle::availableCores() {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) == 0)
    return CPU_COUNT(&cores);
  return int(std::max(1u, std::thread::hardware_concurrency()));
}

static constexpr int mostThreads = 1024;

std::optional<int> heddle::statedThreads() {
  for (const char *name : {"HEDDLE_THREADS", "OMP_NUM_THREADS"}) {
    const char *given = std::getenv(name);
    if (!given || !*given)
      continue;
    std::string_view text = given;
    if (std::string_view(name) ==
        "OMP_NUM_THREADS") // OpenMP has a number for each level of nested regions
      text = text.substr(0, text.find(','));
    int threads = 0;
    auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), threads);
    if (error != std::errc() || stop != text.data() + text.size() || threads < 1 ||
        threads > mostThreads)
      throw Error("expected " + std::string(name) + " to be a whole number from 1 to " +
                  std::to_string(mostThreads) + ", got '" + given + "'");
    return threads;
  }
  return std::nullopt;
}

int heddle::usualThreads() {
  std::optional<int> stated = statedThreads();
  return stated ? *stated : availableCores();
}

std::vector<std::thread> heddle::startThreads(size_t count, const std::function<void()> &work) {
  std::vector<std::thread> threads;
  try {
    threads.reserve(count);
    while (threads.size() < count)
      threads.emplace_back(work);
  } catch (const std::exception &) { // continue with fewer threads
  }
  return threads;
}

std::shared_ptr<ThreadTeam> heddle::sharedThreadTeam(int threads) {
  // Never destroyed: a program may still run while the process exits.
  static auto &mutex = *new ForkMutex;
  static auto &teams = *new std::map<int, std::shared_ptr<ThreadTeam>>;
  if (threads < 0 || threads > mostThreads)
    throw Error("expected 0 to " + std::to_string(mostThreads) + " threads, got " +
                std::to_string(threads));
  if (threads == 0)
    threads = usualThreads();
  std::lock_guard lock(mutex);
  auto &team = teams[threads];
  if (!team)
    team = makeThreadTeam(threads);
  return team;
}
