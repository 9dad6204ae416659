//===- CallMemory.h - the memory of a call ----------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A call owns an address for each value of its entry, arenas for temporaries, a scratch area for
// each thread, and a chunk counter for each step.
//
// Temporaries are in arenas at planned offsets. In a managed call, the memory manager allocates
// each before the step that writes it and frees it after the last step that reads it.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_PROGRAM_CALLMEMORY_H
#define HEDDLE_RUNTIME_PROGRAM_CALLMEMORY_H

#include "runtime/program/CallOptions.h"
#include "runtime/program/LoadedProgram.h"

namespace heddle {

class CallMemory {
public:
  CallMemory(const LoadedProgram &program, const EntrySpec &entry, const CallOptions &options);
  ~CallMemory();
  CallMemory(const CallMemory &) = delete;
  CallMemory &operator=(const CallMemory &) = delete;

  std::vector<void *> addresses; ///< by value
  std::vector<void *> scratch;   ///< by thread
  int64_t *counters = nullptr;   ///< of chunks, 64 bytes apart
  std::shared_ptr<const SizedEntry> sized;

  const std::shared_ptr<MemoryManager> &managerOf(std::string_view space) const;
  const std::shared_ptr<MemoryManager> &managerOf(const ValueSpec &value) const;

  /// Allocates what the sizes need, and sets the addresses of constants and temporaries.
  void prepare(size_t threads);
  /// A value that aliases another gets its address.
  void resolveAliases();
  void clearCounters();
  /// In a managed call: frees and allocates temporaries before a step, or after the last one.
  void makeAndFree(int32_t step);
  void freeTemporaries();

private:
  const LoadedProgram &program;
  const EntrySpec &spec;
  const CallOptions &options;
  struct Arena {
    char *address = nullptr;
    int64_t bytes = 0;
  };
  std::vector<Arena> arenas; ///< in the order of SizedEntry
  int64_t scratchBytes = 0;

  const ValueSpec *largestIn(int32_t arena) const;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_PROGRAM_CALLMEMORY_H
