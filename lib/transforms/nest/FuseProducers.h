//===- FuseProducers.h - computing a value again where it is read -*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A nest that reduces nothing can be computed again at each of its uses: its reads go through the
// maps of the reader, its body becomes part of the reader's.
//
//     %w = window(%x); %c = sum(%w * %k)      one nest: reads %x[row = row + ky, ...], %k[]
//     %r = relu(%a);   %m = max over 2x2 of %r one nest: each element is read once
//
// Where the reader reads under a guard,
//   - one that excludes the point passes to the producer's reads (which must have one to carry it);
//   - one with an `else` value passes to the reads, and a `select` gives the value, unless the
//   producer's own code yields it
//     there (relu of the zeros around an image is zero).
//
// Nests that only move elements are always taken in. Any other is if the cost model says that all
// readers together become faster (lib/analysis/NestAnalysis.h), or `heddle.recompute` asks for it;
// never if `heddle.materialize` forbids it, or if the value is pinned: it and something derived
// from it meet in a comparison of floats (is x its own maximum?), and two copies of it might be
// rounded differently.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_FUSEPRODUCERS_H
#define HEDDLE_LIB_TRANSFORMS_NEST_FUSEPRODUCERS_H

#include "dialects/nest/Nest.h"

namespace heddle::nest {

/// A nest beside `consumer` (a compute or an update) that does the same without reading `producer`;
/// null if there is none. Replaces nothing.
mlir::Operation *takeIn(ComputeOp producer, mlir::Operation *consumer);

/// Takes producers in where it pays, until nothing changes. True if anything did.
bool fuseProducers(mlir::Block &block);
/// Only nests that move elements without computing anything.
bool fuseMoves(mlir::Block &block);

/// The values that must not be computed twice, as said above.
llvm::DenseSet<mlir::Value> pinnedValues(mlir::Block &block);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_FUSEPRODUCERS_H
