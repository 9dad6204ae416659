//===- FlattenReductions.h - a reduction of reductions is one ---*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A reduction whose elements are results of another reduction with the same combiner is one
// reduction over both sets of names:
//
//     %p = sum over o of %g[o, row] * %w[o, k]                  writes every tap of every place
//     %d = sum over k of %p[row = row - k, k] if [row >= k]     reads them shifted
//     becomes  sum over o, k of %g[o, row - k] * %w[o, k] where row >= k
//
// (the gradient of a convolution, without its unfolded intermediate). Outside of a guard the outer
// reduction must read the combiner's neutral element, or exclude the point. Done where the cost
// model says that it is faster: a sum of overlapping windows of sums would add the same elements
// over and over.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_FLATTENREDUCTIONS_H
#define HEDDLE_LIB_TRANSFORMS_NEST_FLATTENREDUCTIONS_H

#include "dialects/nest/Nest.h"

namespace heddle::nest {

/// Flattens where it pays. True if anything changed.
bool flattenReductions(mlir::Block &block);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_FLATTENREDUCTIONS_H
