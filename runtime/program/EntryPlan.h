//===- EntryPlan.h - an entry for given sizes -------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Before an entry runs, its size symbols get values (from the arguments'
// extents) and its values get places. For an entry without symbols that is the
// plan that the compiler stored; for others it is made when a size comes for the
// first time and kept.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_PROGRAM_ENTRYPLAN_H
#define HEDDLE_RUNTIME_PROGRAM_ENTRYPLAN_H

#include "runtime/program/RuntimeTensor.h"

namespace heddle {

struct EntryPlan {
  std::vector<int64_t> symbols; ///< in EntrySpec::symbols order, then EntrySpec::derived
  int64_t scratchBytes = 0;     ///< a thread
  std::vector<std::shared_ptr<const PlacedType>> types; ///< of each value
  std::vector<int64_t> offsets;                         ///< of temporaries in the arena
  std::vector<int32_t> places; ///< the value in whose place each lies, itself if in none
  int64_t arenaBytes = 0, arenaAlignment = 64;
  int64_t liveBytes = 0; ///< of temporaries, at the worst step: no arena can be smaller
  /// For managed memory: the temporaries to make before each step and to free
  /// before it; one more list for the end.
  std::vector<std::vector<int32_t>> makeBefore, freeBefore;
};

EntryPlan planEntry(const EntrySpec &entry, std::vector<int64_t> symbols);

/// What a call of the entry takes, in bytes. Values that lie in the place of another take nothing.
struct EntryMemory {
  int64_t arguments = 0, results = 0, constants = 0;
  int64_t arena = 0;   ///< of temporaries, as planned
  int64_t live = 0;    ///< of temporaries, at the worst step: the lower bound of the arena
  int64_t scratch = 0; ///< of each thread
};
EntryMemory memoryOf(const EntrySpec &entry, const EntryPlan &plan);
/// For an entry without symbols, or for given values of its symbols.
EntryMemory memoryOf(const EntrySpec &entry, const std::vector<int64_t> &symbols = {});

/// The values of the entry's symbols for arguments of these types, which may not
/// be null. Throws Error that names the argument if one does not fit.
std::vector<int64_t> bindSymbols(const EntrySpec &entry,
                                 const std::vector<const TensorSpec *> &arguments);

/// Throws Error if an argument can't be of this type, whatever its symbols.
void requireArgumentType(const EntrySpec &entry, size_t argument, const TensorSpec &given);

} // namespace heddle

#endif // HEDDLE_RUNTIME_PROGRAM_ENTRYPLAN_H
