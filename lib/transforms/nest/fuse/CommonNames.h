//===- CommonNames.h - one space for two nests ------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two nests that are fused iterate over one space. Iteration names are local to a nest, so the
// second one's are matched to the first one's: names at one place of a read that both share, then
// names of equal spelling, then those for which one candidate is left:
//
//     first:   (row: 8) reduce (k: 64) reads %x[row: row, column: k]
//     second:  (r: 8) reduce (column: 64) reads %x[row: r, column: column]
//     renaming of the second: r -> row, column -> k
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_FUSE_COMMONNAMES_H
#define HEDDLE_LIB_TRANSFORMS_NEST_FUSE_COMMONNAMES_H

#include "lib/transforms/nest/Rewrite.h"

namespace heddle::nest {

/// Returns a renaming of the second nest under which its space is that of the first, and its read
/// `i` equals read `k` of the first.
std::optional<Renaming> commonNames(ComputeOp first, unsigned k, ComputeOp second, unsigned i);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_FUSE_COMMONNAMES_H
