//===- FuseEpilogues.h - work on a value while it is at hand ----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A nest that reads another one point by point (each of its points one element, under whatever
// names) needs no second pass over memory: its body goes on where the other's ends. Behind a
// reduction that is the `finish` region.
//
//     %c = sum(...)                      one nest:
//     %y = relu(%c + %bias)              reduce ... finish reads %bias[] { addf, maximumf }
//
//     %v = 0.9 * %u + %gradient          one nest with two results
//     %q = %p - 0.1 * %v
//
// A value that has other readers stays a result of the nest. Names need not agree: those of the
// first nest (or, if its value has other readers, of the second) are renamed.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_FUSEEPILOGUES_H
#define HEDDLE_LIB_TRANSFORMS_NEST_FUSEEPILOGUES_H

#include "dialects/nest/Nest.h"

namespace heddle::nest {

/// Which epilogues are fused: those that alone read the first nest (unless they read two reductions
/// that may yet become one), or all.
enum class Epilogues { OfOneReader, All };
bool fuseEpilogues(mlir::Block &block, Epilogues which);

/// Puts `consumer` behind `producer`; null (and nothing changes) if that is not legal.
ComputeOp fuseEpilogue(ComputeOp producer, ComputeOp consumer);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_FUSEEPILOGUES_H
