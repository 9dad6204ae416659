//===- Call.h - one call of a program ---------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A call owns the memory of one run: the table of addresses, the arenas, a scratch area per thread,
// and a chunk counter per step. Binding checks the arguments; the first run fills the table, later
// runs only start the threads.
//
// Temporaries are in arenas at planned offsets. In a managed call, the memory manager allocates
// each before the step that writes it and frees it after the last step that reads it.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_PROGRAM_CALL_H
#define HEDDLE_RUNTIME_PROGRAM_CALL_H

#include "runtime/control/Job.h"
#include "runtime/control/Transport.h"
#include "runtime/device/Device.h"
#include "runtime/program/EntryPlan.h"
#include "runtime/program/Program.h"

namespace heddle {

/// The team that runs a call with these options.
std::shared_ptr<ThreadTeam> teamOf(const CallOptions &options);

/// Not thread-safe.
class Call {
public:
  Call(std::shared_ptr<Program::Loaded> program, const EntrySpec &entry, CallOptions options);
  ~Call();
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
  TensorRef result(size_t result = 0) const;
  TensorRef result(std::string_view result) const;
  /// Moves the results out: the next run creates new ones.
  std::vector<TensorRef> takeResults();
  /// The same, into a vector of that size.
  void takeResults(std::vector<TensorRef> &into);

private:
  friend class Program;
  struct Argument {
    TensorRef tensor;
    TensorRef converted; ///< a copy in the layout that the program expects
    bool donate = false, inPlace = false;
    // The tensor that takes over a donated argument's memory. It is created before the run, because
    // nothing may fail after it.
    TensorRef successor = nullptr;
    std::string takenBy = {};
  };

  std::shared_ptr<Program::Loaded> program;
  const EntrySpec &spec;
  CallOptions settings;
  std::weak_ptr<Job> owner; ///< the job of an idle cached call
  std::shared_ptr<const EntryPlan> plan;
  DeviceProgram::Entry function;
  std::vector<Argument> arguments;
  std::vector<TensorRef> results;
  std::vector<int32_t> resultOf; ///< by value: index of the result, or -1
  bool ready = false;            ///< the table is up to date

  HeddleCall call{};
  std::vector<void *> addresses, scratch;
  int64_t *counters = nullptr;
  struct Arena {
    char *address = nullptr;
    int64_t bytes = 0;
  };
  std::vector<Arena> arenas; ///< in the plan's order
  int64_t scratchBytes = 0;
  /// A call of a library's function, and its thread if it was started asynchronously.
  struct LibraryCall {
    HeddleLibraryFunction function;
    std::vector<void *> values = {};
    std::vector<int64_t> numbers = {};
    int32_t status = 0;
    std::thread thread = {};
    void run() { status = function(values.data(), numbers.data()); }
  };
  std::map<int32_t, LibraryCall> started;                                ///< by step
  std::map<int32_t, Transport::Operation> operations;                    ///< by step
  std::map<int32_t, std::unique_ptr<Transport::Pending>> communicating;  ///< started ones, by step
  std::vector<std::pair<RuntimeTensor *, RuntimeTensor *>> copiesBefore; ///< (to, from)
  std::vector<std::pair<RuntimeTensor *, int32_t>> copiesAfter;          ///< (to, value)

  std::atomic<Region *> region{nullptr};
  std::atomic<int32_t> status{0};
  int32_t currentStep = -1;
  std::string failure;
  std::vector<StepObserver::Begin> times;
  Agreement agreement; ///< compared with the other ranks of a job
  /// The failure of a rank that ended the run, and the region to abort while thread 0 is in it.
  std::mutex abortMutex;
  std::optional<Failure> aborted;
  Region *abortable = nullptr;

  bool belongsTo(const std::shared_ptr<Job> &job) const {
    return !owner.owner_before(job) && !job.owner_before(owner);
  }

  friend const HeddleCallTable &callTable();
  int32_t barrier(int32_t thread);
  int32_t step(int32_t index);
  int32_t fail(int32_t index, const char *reason);
  LibraryCall libraryCall(int32_t index) const;
  std::unique_ptr<Transport::Pending> communicate(int32_t index);
  void requireJob() const;
  SuppliedNumbers suppliedNumbers() const;
  void prepareCommunication();
  int32_t invoke(int32_t index);
  int32_t start(int32_t index);
  int32_t await(int32_t index);
  int32_t returned(int32_t index, int32_t code);
  void runOnTeam();
  void describeToOthers();
  bool agree();
  void abort(const Failure &failure);
  void setAbortable(Region *region);
  [[noreturn]] void throwAborted();
  void awaitAll();
  const std::shared_ptr<MemoryManager> &managerOf(std::string_view space) const;
  const std::shared_ptr<MemoryManager> &managerOf(const ValueSpec &value) const;
  void note(const char *reason) noexcept;
  void makeAndFree(int32_t step);
  void prepare();
  void placeArguments();
  void placeResults();
  TensorRef &ensureResult(size_t result);
  void freeTemporaries();
  void afterRun();
  void unbind();
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_PROGRAM_CALL_H
