//===- Fault.h - a rank that goes wrong -------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ranks run a program with an all-reduce and an all-gather some times, and one of them goes wrong
// once: what, where and on which rank, over which engine, is drawn from a seed.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_FAULTS_FAULT_H
#define HEDDLE_TEST_UNIT_FAULTS_FAULT_H

#include "runtime/control/Job.h"

#include <functional>
#include <string>
#include <vector>

namespace heddle::test {

/// How the ranks are started: as threads, by heddle-launch, by mpirun.
enum class Way { Threads, Launch, Mpirun };

struct Fault {
  Way way = Way::Threads;
  std::string engine;
  /// The kind of fault: `delay`, `unauthenticated` (the job goes on); `hang`, `stop` (SIGSTOP),
  /// `pipe` (writes to a pipe that nobody reads), `kill` (SIGKILL), `exit`, `fail` (the step
  /// returns a failure); before a call `throw`, `leave`, `differ` (calls another entry); in the
  /// emulated network `net-delay`, `net-hang`, `net-death`.
  std::string kind;
  int ranks = 2, rank = 0; ///< of the job; the one that goes wrong
  int call = 0;            ///< in which
  int64_t elements = 4;    ///< of the tensors

  bool isHarmless() const;
  std::string describe() const;
};

/// The `index`-th of those that a seed draws; `mpi`: that engine is there.
Fault drawFault(unsigned seed, int index, bool mpi);

/// Runs the program of a rank. Throws the error that ends it; returns if the results are right.
/// `hang` waits until the others have ended, or for ever.
void runRank(Job &job, const Fault &fault, const std::function<void()> &hang);

} // namespace heddle::test

#endif // HEDDLE_TEST_UNIT_FAULTS_FAULT_H
