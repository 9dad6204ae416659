//===- Cse.h - equal nests are computed once --------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nests that are equal up to names of iteration, the order of operands of commutative code and the
// names of what they read are computed once; the other's result is a renaming of the first one's,
// which its readers take in. Renamings of a value are looked through, so x and its transpose under
// other names are one value. The forms are those of lib/analysis/Canonical.h.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_CSE_H
#define HEDDLE_LIB_TRANSFORMS_NEST_CSE_H

#include "dialects/nest/Nest.h"

namespace heddle::nest {

/// Merges equal nests of a block, and of the groups and scans in it. True if there were any.
/// `isKnownInside`: in those there are none, unless nests that they read are merged.
bool mergeEqualNests(mlir::Block &block, bool isKnownInside = false);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_CSE_H
