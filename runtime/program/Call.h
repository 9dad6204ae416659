//===- Call.h - one call of a program ---------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A call runs an entry of a program, any number of times. Its parts:
//
//     CallMemory     the table of addresses, arenas, scratch, counters
//     Binding        checks and places arguments and results; Donation.h
//     CallRanks      the comparison with other ranks, and their communication
//     CallSteps      the functions that compiled code calls
//     CallFailure    the first failure of a run, and its error
//
// The first run fills the table of addresses, later runs only start the threads.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_PROGRAM_CALL_H
#define HEDDLE_RUNTIME_PROGRAM_CALL_H

#include "runtime/program/Binding.h"
#include "runtime/program/CallSteps.h"

namespace heddle {

/// The team that runs a call with these options.
std::shared_ptr<ThreadTeam> teamOf(const CallOptions &options);

/// Not thread-safe.
class Call {
public:
  Call(std::shared_ptr<LoadedProgram> program, const EntrySpec &entry, CallOptions options);
  Call(const Call &) = delete;
  Call &operator=(const Call &) = delete;

  const EntrySpec &entry() const { return spec; }
  const CallOptions &options() const { return settings; }

  /// Binds an argument by name or position. With `donate` a result may reuse its memory: after
  /// `run` the tensor is unusable, and the argument has to be bound again. Throws Error if it does
  /// not fit.
  void bind(size_t argument, TensorRef tensor, bool donate = false);
  void bind(std::string_view argument, TensorRef tensor, bool donate = false);

  /// Runs the entry. Throws Error if an argument is missing or was donated since, and
  /// ExecutionError if the program fails.
  void run();

  /// A result of the last run; the next run overwrites it.
  TensorRef result(size_t result = 0) const { return binding.result(result); }
  TensorRef result(std::string_view result) const;
  /// Moves the results out: the next run creates new ones.
  std::vector<TensorRef> takeResults();
  /// The same, into a vector of that size.
  void takeResults(std::vector<TensorRef> &into);

private:
  friend class Program;
  std::shared_ptr<LoadedProgram> program;
  const EntrySpec &spec;
  CallOptions settings;
  std::weak_ptr<Job> owner; ///< the job of an idle cached call
  DeviceProgram::Entry function;
  CallMemory memory;
  Binding binding;
  CallFailure failure;
  CallRanks ranks;
  CallSteps steps;
  HeddleCall call{};
  bool ready = false; ///< the table of addresses is up to date

  bool belongsTo(const std::shared_ptr<Job> &job) const {
    return !owner.owner_before(job) && !job.owner_before(owner);
  }
  int threads() const { return program->isSerial(spec) ? 1 : settings.team->threads(); }
  void prepare();
  void runOnTeam();
  void afterRun();
  void unbind();
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_PROGRAM_CALL_H
