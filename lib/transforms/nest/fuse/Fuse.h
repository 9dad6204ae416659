//===- Fuse.h - fuses nests until nothing changes ---------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs all fusing rewrites in turn until nothing changes; the header of each describes it. A
// rewrite is applied if it is legal on the nest and profitable by the cost model
// (`secondsBySizes`, lib/cost/Cost.h); the name of an op is never tested.
//
//     %y = relu(%c + %bias) after %c = sum(...)      one nest: reduce ... finish { addf, maximumf }
//     %w = window(%x); %c = sum(%w * %k)             one nest: reads %x[row = row + ky, ...], %k[]
//
// Users override this by an attribute on a nest (or on the nd op that becomes one):
// `heddle.materialize` stores its result, `heddle.recompute` recomputes it at each use where that
// is legal.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_FUSE_FUSE_H
#define HEDDLE_LIB_TRANSFORMS_NEST_FUSE_FUSE_H

#include "dialects/nest/Nest.h"
#include "lib/transforms/nest/fuse/ExplainFusion.h"

namespace heddle::nest {

/// Fuses the nests of a function, and of the groups and scans in it.
void fuseNests(func::FuncOp function, const ExplainFusionOptions &options = {});

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_FUSE_FUSE_H
