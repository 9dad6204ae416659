//===- CallSteps.h - what compiled code asks the runtime for ----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of the table that compiled code calls (format/Abi.h): barriers, failures, steps
// that run in the runtime (calls of libraries, communication), and the beginning of each step.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_PROGRAM_CALLSTEPS_H
#define HEDDLE_RUNTIME_PROGRAM_CALLSTEPS_H

#include "runtime/program/CallRanks.h"

namespace heddle {

/// The functions for calls whose `HeddleCall::runtime` is a CallSteps.
const HeddleCallTable &callTable();

class CallSteps {
public:
  CallSteps(const LoadedProgram &program, const EntrySpec &entry, const CallOptions &options,
            CallMemory &memory, CallRanks &ranks, CallFailure &failure)
      : program(program), spec(entry), options(options), memory(memory), ranks(ranks),
        failure(failure) {}

  /// Each thread calls it before it runs compiled code.
  void enter(Region &of) { region.store(&of, std::memory_order_relaxed); }
  /// Waits for the library calls and communication that a failed program has started.
  void awaitAll();
  std::vector<StepObserver::Begin> times; ///< for the observer of the options

  int32_t barrier(int32_t thread);
  int32_t step(int32_t index);
  int32_t fail(int32_t index, const char *reason) { return failure.fail(index, reason); }
  int32_t invoke(int32_t index);
  int32_t start(int32_t index);
  int32_t await(int32_t index);

private:
  /// A call of a library's function, and its thread if it was started asynchronously.
  struct LibraryCall {
    HeddleLibraryFunction function;
    std::vector<void *> values = {};
    std::vector<int64_t> numbers = {};
    int32_t status = 0;
    std::thread thread = {};
    void run() { status = function(values.data(), numbers.data()); }
  };
  const LoadedProgram &program;
  const EntrySpec &spec;
  const CallOptions &options;
  CallMemory &memory;
  CallRanks &ranks;
  CallFailure &failure;
  std::atomic<Region *> region{nullptr};
  std::map<int32_t, LibraryCall> started; ///< by step
  std::map<int32_t, std::unique_ptr<JobTransport::Pending>>
      communicating; ///< started ones, by step

  LibraryCall libraryCall(int32_t index) const;
  int32_t returned(int32_t index, int32_t code);
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_PROGRAM_CALLSTEPS_H
