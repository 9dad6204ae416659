//===- Program.h - loading and running compiled programs --------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A `Program` is a manifest, machine code mapped for execution, and constants. It is re-entrant:
// every call in flight has a context of its own.
//
//     auto program = Program::load("classifier.heddle");
//     auto results = program->run("classify", {{"image", tensor}});
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_PROGRAM_PROGRAM_H
#define HEDDLE_RUNTIME_PROGRAM_PROGRAM_H

#include "runtime/device/ThreadTeam.h"
#include "runtime/program/Abi.h"
#include "runtime/program/RuntimeTensor.h"

#include <mutex>

namespace heddle {

/// The parts of a program, in memory or in a file.
struct ProgramImage {
  Manifest manifest;
  std::string code, constants;

  /// Writes a file: a magic number, a table of sections with lengths and checksums, the sections.
  /// The file appears whole or not at all: an existing one survives a full disk. Throws Error.
  void write(const std::string &path) const;
  /// Reads and verifies a file. Throws Error that says what is wrong with it.
  static ProgramImage read(const std::string &path);
};

/// How a call runs.
struct CallOptions {
  std::shared_ptr<ThreadTeam> team;       ///< null: the shared team of all cores
  std::shared_ptr<MemoryManager> manager; ///< null: the default manager
  bool managed = false; ///< temporaries buffer by buffer instead of in a planned arena
  /// Receives the seconds of every step, if given.
  std::vector<double> *stepSeconds = nullptr;
};

class Program {
public:
  static std::shared_ptr<Program> load(const std::string &path);
  explicit Program(ProgramImage image);
  ~Program();

  const Manifest &manifest() const { return image.manifest; }
  const EntrySpec &entry(std::string_view name) const;

  /// Runs an entry on arguments in the order of `EntrySpec::arguments`. Arguments that lie in
  /// another layout than the program wants are copied. `donate[i]`: the caller gives argument i up.
  /// Throws Error.
  std::vector<TensorRef> run(const EntrySpec &entry, std::vector<TensorRef> arguments,
                             const CallOptions &options = {}, const std::vector<bool> &donate = {});
  std::vector<TensorRef> run(std::string_view entry,
                             const std::map<std::string, TensorRef> &arguments,
                             const CallOptions &options = {});

private:
  struct Context;
  ProgramImage image;
  char *code = nullptr;
  size_t codeBytes = 0;
  std::mutex mutex;
  std::vector<std::unique_ptr<Context>> idle;

  std::unique_ptr<Context> acquire(const EntrySpec &entry, const CallOptions &options, int threads);
  void release(std::unique_ptr<Context> context);
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_PROGRAM_PROGRAM_H
