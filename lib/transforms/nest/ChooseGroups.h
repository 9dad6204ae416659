//===- ChooseGroups.h - chains of nests that run tile by tile unasked -*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nests that pass a large value from one to the next and all produce some common names at the same
// point of them need not write it: as a group each point of these names is carried through all of
// them while it lies in a cache. A normalisation over `k` of a tensor with `k: 768, n: 4096` is one
// pass over memory instead of three:
//
//     %m = (n) mean over k of %x
//     %v = (n) mean over k of (%x - %m)^2
//     %y = (n, k) (%x - %m) * rsqrt(%v)         group (n) of all three
//
// Chosen where the cost model says that it is clearly faster, counting what stays inside as free;
// sums of products stay outside, since one point of the group would leave them nothing to reuse,
// and so does a group along whose names an argument's elements are neighbours in memory. Requests
// (`FormGroups.h`) are set, nothing is formed.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_CHOOSEGROUPS_H
#define HEDDLE_LIB_TRANSFORMS_NEST_CHOOSEGROUPS_H

#include "dialects/nest/Nest.h"

namespace heddle::nest {

/// Requests groups among nests that have no request yet. True if there is one.
bool chooseGroups(mlir::Block &block);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_CHOOSEGROUPS_H
