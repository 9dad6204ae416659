//===- Fuse.h - which nests run as one --------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All rewrites that fuse, in turn, until nothing changes; each is described in the header of its
// name, is decided by legality on the nest and by one cost model (`secondsOf`,
// lib/analysis/NestAnalysis.h), and never asks what an op is called.
//
//     %y = relu(%c + %bias) after %c = sum(...)      one nest: reduce ... finish { addf, maximumf }
//     %w = window(%x); %c = sum(%w * %k)             one nest: reads %x[row = row + ky, ...], %k[]
//
// A user decides for himself with an attribute on a nest (or on the nd op that becomes one):
// `heddle.materialize` keeps its result in memory, `heddle.recompute` has it computed again
// wherever that is legal.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_FUSE_H
#define HEDDLE_LIB_TRANSFORMS_NEST_FUSE_H

#include "dialects/nest/Nest.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace heddle::nest {

/// Fuses the nests of a function, and of the groups and scans in it.
void fuseNests(mlir::func::FuncOp function);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_FUSE_H
