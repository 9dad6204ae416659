//===- Program.h - load and run compiled programs ---------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A `Program` is a manifest, machine code mapped for execution, and constants.
//
//     auto program = Program::load("classifier.heddle");
//     auto results = program->run("classify", {{"image", tensor}});
//
// Any number of threads may run a program concurrently: each call is a `Call` with its own memory.
// A call can be prepared once and run many times; the overhead of a run is less than a microsecond:
//
//     auto call = program->prepare("classify");
//     call->bind("image", image);
//     while (next(*image))
//       call->run();                     // writes into call->result("label")
//
// Load only files that you would also run as executables (ProgramImage.h). A child process made by
// `fork` may use the programs and calls of its parent (ThreadTeam.h).
//
// A mistake that is found before the code runs (a missing argument, a wrong type, a donated tensor)
// throws `Error`. A failure of the running code throws `ExecutionError` with the name and source
// location of the op.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_PROGRAM_PROGRAM_H
#define HEDDLE_RUNTIME_PROGRAM_PROGRAM_H

#include "runtime/format/ProgramImage.h"
#include "runtime/program/Call.h"

namespace heddle {

class Program {
public:
  static std::shared_ptr<Program> load(const std::string &path);
  /// Maps the code. Throws Error if the manifest is inconsistent or has another version of the
  /// interface, or if this CPU lacks a feature that the code needs.
  explicit Program(ProgramImage image);
  /// A program whose entries are functions of this process: `codeOffset` of an entry is an index
  /// into `functions`.
  static std::shared_ptr<Program> fromFunctions(Manifest manifest,
                                                std::vector<HeddleEntry> functions,
                                                std::string_view constants = {});
  ~Program();

  const Manifest &manifest() const;
  /// The entry called `name` that the rank runs. For an unknown name throws Error that lists all
  /// entries.
  const EntrySpec &entry(std::string_view name, int64_t rank = 0) const;

  /// Runs an entry with arguments in the order of `EntrySpec::arguments`; returns its results. An
  /// argument in another layout than the program expects is copied. If `donate[i]`, the caller
  /// donates argument i, and a result may reuse its memory.
  std::vector<TensorRef> run(const EntrySpec &entry, std::vector<TensorRef> arguments,
                             const CallOptions &options = {}, const std::vector<bool> &donate = {});
  std::vector<TensorRef> run(std::string_view entry,
                             const std::map<std::string, TensorRef> &arguments,
                             const CallOptions &options = {});

  /// Prepares a call, whose arguments can be bound once and which can run many times. It may
  /// outlive the program.
  std::unique_ptr<Call> prepare(std::string_view entry, const CallOptions &options = {});

  /// The manager of the memory that a value of an entry lies in; null: the host's.
  std::shared_ptr<MemoryManager> memory(const ValueSpec &value) const;

  /// Frees the memory of calls that are not running.
  void trim();

private:
  Program() = default;
  std::shared_ptr<LoadedProgram> loaded;
  ForkMutex mutex;
  std::vector<std::unique_ptr<Call>> idle;

  std::unique_ptr<Call> acquire(const EntrySpec &entry, const CallOptions &options);
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_PROGRAM_PROGRAM_H
