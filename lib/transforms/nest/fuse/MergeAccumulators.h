//===- MergeAccumulators.h - removes equal accumulators ---------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A reduction that nests were joined into may have one accumulator twice, for example the maximum
// in `max of %x[]` and in `max of %x[] with its k`:
//
//     yields x, x, k    combines (m, n, i), (m', n', i') to max(m, m'), max(n, n'), n < n' ? i' : i
//
// The second equals the first: their elements and neutral elements are equal, and so are their
// combiners under that assumption. It is dropped, and what reads it reads the first.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_FUSE_MERGEACCUMULATORS_H
#define HEDDLE_LIB_TRANSFORMS_NEST_FUSE_MERGEACCUMULATORS_H

#include "lib/transforms/nest/Rewrite.h"

namespace heddle::nest {

/// Drops accumulators of a reduction that equal earlier ones. Returns the nest that replaces it, or
/// null if there are no such accumulators.
ComputeOp mergeAccumulators(ComputeOp op);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_FUSE_MERGEACCUMULATORS_H
