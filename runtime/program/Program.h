//===- Program.h - loading and running compiled programs --------*- C++ -*-===//
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
// It is re-entrant: any number of threads may run it at once, since every call
// in flight is a `Call` of its own, with its own memory. A call may be prepared
// once and then run many times for well under a microsecond beyond its work:
//
//     auto call = program->prepare("classify");
//     call->bind("image", image);
//     while (next(*image))
//       call->run();                     // writes into call->result("label")
//
// A file is to be trusted as an executable is (ProgramImage.h). A child of `fork`
// may use the programs and calls of its parent (ThreadTeam.h).
//
// Errors before the code runs (a missing argument, a wrong type, a tensor that
// was given up) are `Error`; those of running code are `ExecutionError`, with
// the op at work and where it was written.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_PROGRAM_PROGRAM_H
#define HEDDLE_RUNTIME_PROGRAM_PROGRAM_H

#include "runtime/device/ThreadTeam.h"
#include "runtime/program/Abi.h"
#include "runtime/program/EntryPlan.h"
#include "runtime/program/Profile.h"
#include "runtime/program/ProgramImage.h"
#include "runtime/program/RuntimeTensor.h"

namespace heddle {

/// Options of a call.
struct CallOptions {
  std::shared_ptr<ThreadTeam> team;       ///< null: the shared team of all cores
  std::shared_ptr<MemoryManager> manager; ///< null: the default manager
  bool managed = false;          ///< temporaries buffer by buffer instead of in a planned arena
  Profile *profile = nullptr;    ///< receives the time of every step, if given
  SuppliedNumbers supplied = {}; ///< for entries with `EntrySpec::supplied`
};

class Call;

class Program {
public:
  static std::shared_ptr<Program> load(const std::string &path);
  /// Maps the code. Throws Error if the manifest is not consistent, was made for
  /// another interface, or needs what this CPU lacks.
  explicit Program(ProgramImage image);
  /// A program whose entries are functions of this process: `codeOffset` of an
  /// entry is an index into `functions`.
  static std::shared_ptr<Program> fromFunctions(Manifest manifest,
                                                std::vector<HeddleEntry> functions,
                                                std::string_view constants = {});
  ~Program();

  const Manifest &manifest() const;
  /// Throws Error with the known names for an unknown one.
  const EntrySpec &entry(std::string_view name) const;

  /// Runs an entry on arguments in the order of `EntrySpec::arguments`. Arguments that have
  /// another layout than the program wants are copied. `donate[i]`: the caller donates argument i,
  /// and a result may reuse its memory.
  std::vector<TensorRef> run(const EntrySpec &entry, std::vector<TensorRef> arguments,
                             const CallOptions &options = {}, const std::vector<bool> &donate = {});
  std::vector<TensorRef> run(std::string_view entry,
                             const std::map<std::string, TensorRef> &arguments,
                             const CallOptions &options = {});

  /// A call to bind once and run many times. It may outlive the program.
  std::unique_ptr<Call> prepare(std::string_view entry, const CallOptions &options = {});

  /// Gives back the memory of calls that are not in flight.
  void trim();

  struct Loaded;

private:
  Program() = default;
  std::shared_ptr<Loaded> loaded;
  ForkMutex mutex;
  std::vector<std::unique_ptr<Call>> idle;

  std::unique_ptr<Call> acquire(const EntrySpec &entry, const CallOptions &options);
};

} // namespace heddle

#include "runtime/program/Call.h"

#endif // HEDDLE_RUNTIME_PROGRAM_PROGRAM_H
