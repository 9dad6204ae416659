//===- Fork.cpp - locks and threads across fork ---------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/base/Fork.h"

#include <chrono>
#include <list>
#include <memory>
#include <utility>

using namespace heddle;

std::atomic<uint32_t> heddle::detail::forks{0};

namespace {
struct Registry {
  std::mutex mutex;
  std::list<ForkMutex *> mutexes; ///< outer ones first, as they are locked
};
} // namespace

static Registry &registry() {
  // Never destroyed, because static mutexes may outlive it.
  static auto &instance = *new Registry;
  return instance;
}

ForkMutex::ForkMutex(bool outer) {
  std::lock_guard lock(registry().mutex);
  auto &list = registry().mutexes;
  list.insert(outer ? list.begin() : list.end(), this);
}

ForkMutex::~ForkMutex() {
  std::lock_guard lock(registry().mutex);
  registry().mutexes.remove(this);
}

struct heddle::ForkHandlers {
  static void before() {
    registry().mutex.lock();
    for (ForkMutex *each : registry().mutexes)
      each->heldByFork = !each->isMine() && each->mutex.try_lock_for(std::chrono::seconds(1));
  }
  static void inParent() { release(); }
  static void inChild() {
    detail::forks.fetch_add(1, std::memory_order_relaxed);
    for (ForkMutex *each : registry().mutexes)
      if (!each->heldByFork && !each->isMine()) { // the thread that holds it is not in this process
        std::construct_at(&each->mutex);
        each->owner.store(0, std::memory_order_relaxed);
        each->depth = 0;
      }
    release();
  }

private:
  static void release() {
    for (ForkMutex *each : registry().mutexes)
      if (std::exchange(each->heldByFork, false))
        each->mutex.unlock();
    registry().mutex.unlock();
  }
};

[[maybe_unused]] static const int registered =
    pthread_atfork(ForkHandlers::before, ForkHandlers::inParent, ForkHandlers::inChild);
