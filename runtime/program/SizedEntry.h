//===- SizedEntry.h - an entry for given sizes ------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Before an entry runs, its size symbols get values (from the arguments' sizes or from the caller),
// and its temporaries get offsets in arenas, one per memory space. For entries without symbols on
// the host the compiler has stored the offsets; otherwise the runtime packs the arenas when sizes
// first occur, and keeps the result.
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_PROGRAM_SIZEDENTRY_H
#define HEDDLE_RUNTIME_PROGRAM_SIZEDENTRY_H

#include "runtime/memory/RuntimeTensor.h"

namespace heddle {

/// Values of the symbols that a caller supplies (`EntrySpec::supplied`), by name.
using SuppliedNumbers = std::map<std::string, int64_t, std::less<>>;

struct SizedEntry {
  std::vector<int64_t> symbols; ///< in EntrySpec::symbols order, then EntrySpec::derived
  int64_t scratchBytes = 0;     ///< per thread
  std::vector<std::shared_ptr<const StoredType>> types; ///< of each value
  std::vector<int64_t> offsets;                         ///< of temporaries in their arenas
  std::vector<int32_t> storage;                         ///< the value that each aliases, or itself
  /// The temporaries of one memory space.
  struct Arena {
    std::string_view space;
    int64_t bytes = 0, alignment = 64;
    int64_t live = 0; ///< the most live bytes at one step: a lower bound
  };
  std::vector<Arena> arenas;    ///< in the same order for all sizes
  std::vector<int32_t> arenaOf; ///< of each temporary
  /// For managed memory: the temporaries to allocate and to free before each step, with one more
  /// list for the end.
  std::vector<std::vector<int32_t>> makeBefore, freeBefore;
};

SizedEntry sizedEntry(const EntrySpec &entry, std::vector<int64_t> symbols);

/// The memory of a call of the entry, in bytes. Values that alias another add nothing.
struct EntryMemory {
  int64_t arguments = 0, results = 0, constants = 0;
  int64_t arena = 0;   ///< planned arenas of temporaries, in all memory spaces
  int64_t live = 0;    ///< the most live bytes at one step: a lower bound
  int64_t scratch = 0; ///< of each thread
};
EntryMemory memoryOf(const EntrySpec &entry, const SizedEntry &sized);
/// For an entry without symbols, or for given values of its symbols.
EntryMemory memoryOf(const EntrySpec &entry, const std::vector<int64_t> &symbols = {});

/// The values of the entry's symbols, from the types of arguments (not null) and from the numbers
/// that the caller supplies. Throws Error that names the argument or number if one does not fit or
/// is missing.
std::vector<int64_t> bindSymbols(const EntrySpec &entry,
                                 const std::vector<const TensorSpec *> &arguments,
                                 const SuppliedNumbers &supplied = {});

/// Throws Error if an argument can't have this type for any values of the symbols.
void requireArgumentType(const EntrySpec &entry, size_t argument, const TensorSpec &given);

} // namespace heddle

#endif // HEDDLE_RUNTIME_PROGRAM_SIZEDENTRY_H
