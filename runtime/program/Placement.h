//===- Placement.h - a call on blocks of whole tensors ----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The entries of a program for several ranks take blocks (`ValueSpec::shards`). Callers think of
// whole tensors: what an entry expects of these, and which blocks of them each rank has, is said
// here.
//
//     EntrySpec seen = wholeSignature(entry);            // x: f32 {batch: N}, not {batch: ceil(N / 2)}
//     Placement placed(manifest, entry, {&x.spec()});
//     options.supplied = placed.supplied;                // N, which no block says
//     TensorRef mine = placed.arguments[0].cut(x, job->rank());
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_PROGRAM_PLACEMENT_H
#define HEDDLE_RUNTIME_PROGRAM_PLACEMENT_H

#include "runtime/program/EntryPlan.h"
#include "runtime/program/Shards.h"

namespace heddle {

/// The entry with the types of the whole tensors, and the symbols that their sizes determine; it has
/// no steps and no values but arguments and results.
EntrySpec wholeSignature(const EntrySpec &entry);

/// How the tensors of one call are split.
struct Placement {
  SuppliedNumbers supplied; ///< the symbols of whole sizes
  std::vector<Shards> arguments, results;

  /// For whole arguments of these types. Throws Error as `bindSymbols` does.
  Placement(const Manifest &manifest, const EntrySpec &entry,
            const std::vector<const TensorSpec *> &whole);
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_PROGRAM_PLACEMENT_H
