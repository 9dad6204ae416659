//===- FuseSiblings.h - fuses nests that share reads ------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fuses two nests that have the same iteration space (under some renaming), read the same elements
// and do not depend on each other into one nest with the results of both:
//
//     %s = sum over n of %x[];  %q = sum over n of %x[] * %x[]
//     one nest: the sums of a batch normalisation
//
//     %m = max over k of %x[];  %m2, %i = max of %x[] with its k
//     one nest
//
// The second example has the same accumulator twice; `mergeAccumulators` removes one of the two.
// Siblings are fused if that is faster by the cost model: two matrix products that share a factor
// are compute-bound and stay separate.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_FUSE_FUSESIBLINGS_H
#define HEDDLE_LIB_TRANSFORMS_NEST_FUSE_FUSESIBLINGS_H

#include "lib/transforms/nest/Rewrite.h"

namespace heddle::nest {

/// Fuses siblings where that is profitable. Returns true if anything changed.
bool fuseSiblings(Block &block, Declined &declined);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_FUSE_FUSESIBLINGS_H
