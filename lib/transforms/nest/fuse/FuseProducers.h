//===- FuseProducers.h - recomputes producers in readers --------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A nest without a reduction can be recomputed at each of its uses: its reads are composed with the
// maps of the reader, and its body becomes part of the reader's.
//
//     %w = window(%x); %c = sum(%w * %k)      one nest: reads %x[row = row + ky, ...], %k[]
//     %r = relu(%a);   %m = max over 2x2 of %r one nest: each element is read once
//
// If the reader reads under a guard,
//   - a guard that excludes the point moves to the producer's reads (one must exist to carry it);
//   - a guard with an `else` value moves to the reads, and a `select` yields the value, unless the
//     producer's own code yields it there (relu of the zeros around an image is zero).
//
// Nests that only move elements are always fused. Others are fused if all readers together become
// faster by the cost model (lib/analysis/NestAnalysis.h), or if `heddle.recompute` requests it. A
// nest is never fused if `heddle.materialize` forbids it, or if its value is pinned: the value is
// compared, as a float, with a value derived from it (is x its own maximum?), and two copies of it
// might be rounded differently.
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_FUSE_FUSEPRODUCERS_H
#define HEDDLE_LIB_TRANSFORMS_NEST_FUSE_FUSEPRODUCERS_H

#include "lib/transforms/nest/Rewrite.h"

namespace heddle::nest {

/// Returns true if a nest can be recomputed where it is read: it has no reduction.
bool canBeInlined(ComputeOp producer);
/// Builds a nest next to `consumer` (a compute or an update) that computes the same without reading
/// `producer`. Returns null if that is not legal. Does not replace `consumer`.
Operation *inlineProducer(ComputeOp producer, Operation *consumer);

/// Fuses producers into readers where that is profitable, until nothing changes. Returns true if
/// anything did.
bool fuseProducers(Block &block, Declined &declined);
/// Fuses only nests that move elements without computing anything.
bool fuseMoves(Block &block);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_FUSE_FUSEPRODUCERS_H
