//===- Fork.h - locks and threads across fork -------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A child of `fork` has one thread, the one that forked. Its parent's other threads do not exist in
// it, and a mutex that one of them held would stay locked forever. So an object that has threads
// checks whether it was created in this process,
//
//     if (age != processAge())           // created by a parent: its threads are not here
//       recreateThem();
//
// and mutexes for short critical sections are of type `ForkMutex`, which no other thread holds at
// the moment of a fork.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_BASE_FORK_H
#define HEDDLE_RUNTIME_BASE_FORK_H

#include <atomic>
#include <cstdint>
#include <mutex>
#include <pthread.h>

namespace heddle {

namespace detail {
extern std::atomic<uint32_t> forks; ///< number of forks between the first process and this one
}
/// A number that differs between a child of `fork` and its parent.
inline uint32_t processAge() { return detail::forks.load(std::memory_order_relaxed); }

/// A recursive mutex. A fork waits until other threads have unlocked it, so the child finds the
/// mutex free and the guarded data consistent. The wait is limited to a second, since one of these
/// threads may wait for the forking thread. A thread that holds such a mutex may lock another only
/// if the held one is not `outer`.
class ForkMutex {
public:
  explicit ForkMutex(bool outer = false);
  ~ForkMutex();
  ForkMutex(const ForkMutex &) = delete;
  ForkMutex &operator=(const ForkMutex &) = delete;

  void lock() {
    if (!isMine()) {
      mutex.lock();
      owner.store(pthread_self(), std::memory_order_relaxed);
    }
    ++depth;
  }
  void unlock() {
    if (--depth != 0)
      return;
    owner.store(0, std::memory_order_relaxed);
    mutex.unlock();
  }

private:
  friend struct ForkHandlers;
  std::timed_mutex mutex;
  std::atomic<pthread_t> owner{0};
  int depth = 0;
  bool heldByFork = false;

  bool isMine() const { return owner.load(std::memory_order_relaxed) == pthread_self(); }
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_BASE_FORK_H
