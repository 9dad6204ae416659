//===- ThreadTeam.h - threads that run programs -----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A team runs one function on all of its threads at once; the caller is thread 0. Within the
// function the threads synchronise at barriers of the `Region`:
//
//     team->run([&](Region &region, int thread) {
//       half(thread);
//       if (!region.barrier())
//         return;                        // another thread has failed
//       other(thread);
//     });
//
// A thread that fails calls `abort`: the barriers of all other threads then return false, so no
// thread waits for one that has left.
//
// Callers on several threads may share a team. They take turns, so that they do not oversubscribe
// the cores. A call from within a region (a program that runs another in a hook) uses only its own
// thread.
//
// A child of `fork` has none of its parent's threads. There our own team creates new threads on
// first use; OpenMP's team throws an error. A region in which fork was called counts as aborted.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_DEVICE_THREADTEAM_H
#define HEDDLE_RUNTIME_DEVICE_THREADTEAM_H

#include "runtime/base/Fork.h"

#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace heddle {

/// The threads of one run: their number, and their barriers.
class Region {
public:
  /// `crowded`: there are more threads than cores, so they should not spin.
  explicit Region(int threads, bool crowded = false) : count(threads), crowded(crowded) {}
  int threads() const { return count; }
  /// Waits until all threads arrive. False if the region was aborted.
  bool barrier();
  /// Makes all barriers of the region return false, now and later.
  void abort();
  bool aborted() const { return gaveUp.load(std::memory_order_acquire); }
  /// Prepares for another run; no thread may be in the region.
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
  /// The maximum number of threads of a run.
  virtual int threads() const = 0;
  /// Runs the body on every thread of a region; returns when all have returned. The body must not
  /// throw.
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

/// Our own team: threads spin for a while after each run and then sleep. (README.md in this
/// folder compares it with libomp.) Throws Error if the system can't create that many threads.
std::shared_ptr<ThreadTeam> makeThreadTeam(int threads);
/// The threads of the installed OpenMP runtime (libomp, else libgomp); requires the library
/// HeddleOpenMP. Throws Error if none is installed.
std::shared_ptr<ThreadTeam> makeOpenMPTeam(int threads);

/// The team with this many threads that all programs of the process share. 0: usualThreads()
/// (ThreadCount.h).
std::shared_ptr<ThreadTeam> sharedThreadTeam(int threads = 0);
/// The number of cores that the process may use.
int availableCores();

/// Starts `count` threads that run `work`, or fewer if the system can't create as many.
std::vector<std::thread> startThreads(size_t count, const std::function<void()> &work);

} // namespace heddle

#endif // HEDDLE_RUNTIME_DEVICE_THREADTEAM_H
