//===- CallFailure.h - why a call failed ------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first failure of a run is kept: of a step on any thread, or of another rank, which ends the
// run on this one. After the run it becomes an ExecutionError that names the step, its source
// location and the rank.
//
//     failure.enter(3);                           // thread 0 begins step 3
//     return failure.fail(3, "no such file");     // the status with which the thread leaves
//     ...
//     if (failure.status())                       // after the run
//       failure.raise(entry, channel);            // 'f' failed at 'load' (f.cpp:3:1): no such file
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_PROGRAM_CALLFAILURE_H
#define HEDDLE_RUNTIME_PROGRAM_CALLFAILURE_H

#include "runtime/control/ControlChannel.h"
#include "runtime/device/ThreadTeam.h"
#include "runtime/format/Manifest.h"

#include <mutex>

namespace heddle {

class CallFailure {
public:
  /// Statuses that entry functions return.
  enum Status : int32_t { Failed = 1, Cancelled = 2, Aborted = 3 };

  /// Prepares for another run.
  void reset();
  /// 0: nothing has failed.
  int32_t status() const { return code.load(std::memory_order_relaxed); }
  /// Thread 0 begins a step.
  void enter(int32_t index) { step = index; }
  /// A step has failed on this thread; returns the status with which the thread leaves.
  /// Thread-safe.
  int32_t fail(int32_t index, const char *text);
  /// A thread has left the entry function with a status other than 0. Thread-safe.
  void leave(int32_t status, Region &region);
  /// Another rank has failed, which ends the run. Thread-safe.
  void abort(const Failure &failure);
  /// Sets the region that thread 0 is in; null after it has left, since the team may run another
  /// call.
  void setAbortable(Region *region);
  /// After a failed run: reports the failure to the other ranks, if there are any, and throws
  /// ExecutionError.
  [[noreturn]] void raise(const EntrySpec &entry, ControlChannel *channel);

private:
  std::atomic<int32_t> code{0};
  int32_t step = -1;  ///< the failed one, or the one that thread 0 is in
  std::string reason; ///< of a failure on this rank
  /// The failure of a rank that ended the run, and the region to abort while thread 0 is in it.
  std::mutex mutex;
  std::optional<Failure> aborted;
  Region *abortable = nullptr;

  void note(const char *text) noexcept;
  [[noreturn]] void raiseAborted(const EntrySpec &entry, const StepSpec *failed);
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_PROGRAM_CALLFAILURE_H
