//===- FuseSiblings.h - several results from one pass over memory -*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nests over the same iteration space (under some renaming) that read the same elements and do not
// depend on each other become one nest with the results of both:
//
//     %s = sum over n of %x[];  %q = sum over n of %x[] * %x[]
//     one nest: the sums of a batch normalisation
//
//     %m = max over k of %x[];  %m2, %i = max of %x[] with its k
//     one nest
//
// The second example has the same accumulator twice; one of the two goes (`mergeAccumulators`).
// Done where the cost model says that it is faster: two matrix products that share a factor are
// bound by arithmetic and stay apart.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_FUSESIBLINGS_H
#define HEDDLE_LIB_TRANSFORMS_NEST_FUSESIBLINGS_H

#include "dialects/nest/Nest.h"

namespace heddle::nest {

/// Fuses where it pays. True if anything changed.
bool fuseSiblings(mlir::Block &block);

/// Drops accumulators of a reduction that are the same as earlier ones: equal elements, equal
/// neutral elements, and combined alike if they are assumed to be equal. Gives what replaces the
/// op, nothing if there were none.
ComputeOp mergeAccumulators(ComputeOp op);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_FUSESIBLINGS_H
