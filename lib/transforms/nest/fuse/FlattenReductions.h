//===- FlattenReductions.h - merges nested reductions -----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A reduction whose elements are results of another reduction with the same combiner is one
// reduction over both sets of names:
//
//     %p = sum over o of %g[o, row] * %w[o, k]                  writes every tap of every row
//     %d = sum over k of %p[row = row - k, k] if [row >= k]     reads them shifted
//     becomes  sum over o, k of %g[o, row - k] * %w[o, k] where row >= k
//
// (the gradient of a convolution, without its unfolded intermediate). Where a guard fails, the
// outer reduction must read the combiner's neutral element or exclude the point. Reductions are
// flattened only if the cost model says that this is faster: a sum over overlapping windows of
// sums, for example, would add the same elements several times.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_FUSE_FLATTENREDUCTIONS_H
#define HEDDLE_LIB_TRANSFORMS_NEST_FUSE_FLATTENREDUCTIONS_H

#include "dialects/nest/Nest.h"

namespace heddle::nest {

/// Flattens reductions where that is profitable. Returns true if anything changed.
bool flattenReductions(Block &block);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_FUSE_FLATTENREDUCTIONS_H
