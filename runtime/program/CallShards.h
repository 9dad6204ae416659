//===- CallShards.h - a call on blocks of whole tensors ---------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The entries of a program for several ranks take blocks (`ValueSpec::shards`), but callers have
// whole tensors. This file derives an entry's signature for whole tensors, and the block of each
// rank.
//
//     EntrySpec seen = wholeSignature(entry);        // x: f32 {batch: N}, not {batch: ceil(N / 2)}
//     CallShards placed(manifest, entry, {&x.spec()});
//     options.supplied = placed.supplied;            // N, which blocks do not determine
//     TensorRef mine = placed.arguments[0].cut(x, job->rank());
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_PROGRAM_CALLSHARDS_H
#define HEDDLE_RUNTIME_PROGRAM_CALLSHARDS_H

#include "runtime/program/Shards.h"
#include "runtime/program/SizedEntry.h"

namespace heddle {

/// The entry with the types of whole tensors, and the symbols that their sizes determine. It has no
/// steps, and no values except arguments and results.
EntrySpec wholeSignature(const EntrySpec &entry);

/// The shards of the tensors of one call.
struct CallShards {
  SuppliedNumbers supplied; ///< the symbols of whole sizes
  std::vector<Shards> arguments, results;

  /// For whole arguments of these types. Throws Error as `bindSymbols` does.
  CallShards(const Manifest &manifest, const EntrySpec &entry,
             const std::vector<const TensorSpec *> &whole);
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_PROGRAM_CALLSHARDS_H
