//===- ThreadTeam.h - threads that run programs -----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A team runs one function on all of its threads at once; the caller is thread
// 0. Within the function the threads meet at barriers of the `Region`:
//
//     team->run([&](Region &region, int thread) {
//       half(thread);
//       if (!region.barrier())
//         return;                        // another thread has given up
//       other(thread);
//     });
//
// A thread that fails calls `abort`, which lets all others leave their barriers with false, so that
// no thread waits for one that has left.
//
// A team may be shared. Callers on several threads take turns, so that they do
// not compete for the cores; a call from within a region (a program that runs
// another in a hook) runs only on its own thread.
//
// A child of `fork` has none of its parent's threads. There a team of ours
// makes threads of its own when it is first used, OpenMP's is refused; a region
// in which the fork was called counts as aborted.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_DEVICE_THREADTEAM_H
#define HEDDLE_RUNTIME_DEVICE_THREADTEAM_H

#include "runtime/device/Fork.h"

#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace heddle {

/// The threads of one run: how many there are, and where they meet.
class Region {
public:
  /// `crowded`: there are more threads than cores, so they should not spin.
  explicit Region(int threads, bool crowded = false) : count(threads), crowded(crowded) {}
  int threads() const { return count; }
  /// Waits until all threads arrive. False if the region was aborted.
  bool barrier();
  /// Lets every thread leave its barriers, now and later.
  void abort();
  bool aborted() const { return gaveUp.load(std::memory_order_acquire); }
  /// Prepares for another run; no thread may be inside.
  void reset(int threads);

private:
  int count;
  const bool crowded;
  const uint32_t age = processAge();
  alignas(64) std::atomic<int> arrived{0};
  alignas(64) std::atomic<uint32_t> phase{0}; ///< counts completed barriers
  std::atomic<int> sleepers{0};
  std::atomic<bool> gaveUp{false};
};

class ThreadTeam {
public:
  using Body = void (*)(void *argument, Region &region, int thread);

  virtual ~ThreadTeam();
  /// The most threads that a run gets.
  virtual int threads() const = 0;
  /// Runs the body on every thread of a region; returns when all are done. The
  /// body may not throw.
  virtual void run(Body body, void *argument) = 0;

  template <typename Function>
  void run(Function &&function) {
    run(
        [](void *argument, Region &region, int thread) {
          (*static_cast<std::remove_reference_t<Function> *>(argument))(region, thread);
        },
        const_cast<void *>(static_cast<const void *>(&function)));
  }
};

/// Threads of our own, which spin for a while after each run and then sleep.
/// (Compared with libomp in docs/performance.md.) Throws Error when the system
/// does not give that many threads.
std::shared_ptr<ThreadTeam> makeThreadTeam(int threads);
/// The threads of the installed OpenMP runtime (libomp, else libgomp); only with the library
/// HeddleOpenMP. Throws Error if there is none.
std::shared_ptr<ThreadTeam> makeOpenMPTeam(int threads);

/// The team of this many threads that all programs of the process share. 0: usualThreads()
/// (ThreadCount.h).
std::shared_ptr<ThreadTeam> sharedThreadTeam(int threads = 0);
/// The cores that the process may use.
int availableCores();

/// Starts `count` threads that do this work, or as many as the system gives.
std::vector<std::thread> startThreads(size_t count, const std::function<void()> &work);

} // namespace heddle

#endif // HEDDLE_RUNTIME_DEVICE_THREADTEAM_H
