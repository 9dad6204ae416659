//===- CallRanks.h - a call that several ranks make together ----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Before a run the ranks compare their calls: program, entry and sizes. A step that communicates
// becomes an operation of the job's transport, with its counts and members evaluated for the bound
// sizes.
//
//     ranks.prepare();                              // evaluates counts and members
//     if (ranks.agree(failure))                     // all ranks make the same call
//       ranks.start(3)->wait();                     // runs step 3, an all-reduce
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_PROGRAM_CALLRANKS_H
#define HEDDLE_RUNTIME_PROGRAM_CALLRANKS_H

#include "runtime/control/Job.h"
#include "runtime/control/JobTransport.h"
#include "runtime/program/CallFailure.h"
#include "runtime/program/CallMemory.h"

namespace heddle {

class CallRanks {
public:
  CallRanks(LoadedProgram &program, const EntrySpec &entry, const CallOptions &options,
            const CallMemory &memory)
      : program(program), spec(entry), options(options), memory(memory) {}

  /// Null if there are no other ranks.
  ControlChannel *channel() const { return options.job ? options.job->channel() : nullptr; }
  /// Throws Error if the entry is not for this rank, or for another number of ranks.
  void requireJob() const;
  /// The numbers that the caller supplies, and this rank's coordinates.
  SuppliedNumbers suppliedNumbers() const;
  /// Evaluates counts and members for the sizes of the call, and collects what the ranks
  /// compare. Throws Error that names the step for an invalid number.
  void prepare();
  /// Compares this call with those of the other ranks; false if the job has failed.
  bool agree(CallFailure &failure) const;
  /// Starts the communication of a step.
  std::unique_ptr<JobTransport::Pending> start(int32_t step);

private:
  LoadedProgram &program;
  const EntrySpec &spec;
  const CallOptions &options;
  const CallMemory &memory;
  std::map<int32_t, JobTransport::Operation> operations; ///< by step
  Agreement agreement;                                   ///< compared with the other ranks of a job

  JobTransport::Operation operationOf(const StepSpec &step) const;
  void describeToOthers();
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_PROGRAM_CALLRANKS_H
