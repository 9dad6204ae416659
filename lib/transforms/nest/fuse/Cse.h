//===- Cse.h - common subexpression elimination of nests --------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Common subexpression elimination for nests. Two nests are equal up to iteration names, the order
// of operands of commutative ops, and the names of the values that they read. The second becomes a
// renaming of the first one's result, which is then fused into its readers. Renamings of a value
// are looked through, so x and its transpose under other names are one value. Nests are compared by
// their canonical forms (lib/analysis/Canonical.h).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_FUSE_CSE_H
#define HEDDLE_LIB_TRANSFORMS_NEST_FUSE_CSE_H

#include "dialects/nest/Nest.h"

namespace heddle::nest {

/// Merges equal nests of a block, and of its groups and scans. Returns true if there were any.
/// `isKnownInside`: groups and scans contain no equal nests unless nests that they read are merged.
bool mergeEqualNests(Block &block, bool isKnownInside = false);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_FUSE_CSE_H
