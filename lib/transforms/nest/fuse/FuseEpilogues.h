//===- FuseEpilogues.h - fuses pointwise readers into nests -----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fuses a nest into the producer that it reads pointwise (each of its points reads one element,
// under any names), which saves a pass over memory: its body is appended to the producer's body, or
// to the `finish` region if the producer is a reduction.
//
//     %c = sum(...)                      one nest:
//     %y = relu(%c + %bias)              reduce ... finish reads %bias[] { addf, maximumf }
//
//     %v = 0.9 * %u + %gradient          one nest with two results
//     %q = %p - 0.1 * %v
//
// A value with other readers remains a result of the nest. If names differ, those of the first nest
// (or, if its value has other readers, those of the second) are renamed.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_FUSE_FUSEEPILOGUES_H
#define HEDDLE_LIB_TRANSFORMS_NEST_FUSE_FUSEEPILOGUES_H

#include "dialects/nest/Nest.h"

namespace heddle::nest {

/// Selects the epilogues to fuse: sole readers of their producer (except readers of two reductions
/// that may still be fused), or all.
enum class Epilogues { OfOneReader, All };
bool fuseEpilogues(Block &block, Epilogues which);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_FUSE_FUSEEPILOGUES_H
