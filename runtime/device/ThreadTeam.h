//===- ThreadTeam.h - threads that run programs -----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A team runs one function on all of its threads at once; the caller is thread 0. Between calls the others spin for a
// short while, then sleep. A program meets at barriers of the team. Callers on several threads share a team: a second
// one waits, or runs alone with a team of one.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_DEVICE_THREADTEAM_H
#define HEDDLE_RUNTIME_DEVICE_THREADTEAM_H

#include <cstdint>
#include <functional>
#include <memory>

namespace heddle {

class ThreadTeam {
public:
  virtual ~ThreadTeam();
  virtual int threads() const = 0;
  /// Runs body(thread) on every thread; returns when all are done.
  virtual void run(void (*body)(void *, int), void *argument) = 0;
  /// Called by all threads inside of `run`.
  virtual void barrier(int thread) = 0;
};

/// Spinning threads of our own. (One parallel region of libomp costs 235 us after idling and 64 us on a new thread; a
/// spinning team wakes in the time of a futex.)
std::shared_ptr<ThreadTeam> makeThreadTeam(int threads);
/// A team of this many threads that all programs of the process share. 0: one for each core.
std::shared_ptr<ThreadTeam> sharedThreadTeam(int threads = 0);

} // namespace heddle

#endif // HEDDLE_RUNTIME_DEVICE_THREADTEAM_H
