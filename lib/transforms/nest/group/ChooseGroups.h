//===- ChooseGroups.h - chooses nests to run as a group ---------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses nests to run as one group. If nests pass a large value from one to the next, and all
// produce some common names at the same point, that value need not be stored: the group runs all of
// them for one point of these names while its values are in a cache. A normalisation over `k` of a
// tensor with `k: 768, n: 4096` becomes one pass over memory instead of three:
//
//     %m = (n) mean over k of %x
//     %v = (n) mean over k of (%x - %m)^2
//     %y = (n, k) (%x - %m) * rsqrt(%v)         group (n) of all three
//
// A group is chosen if it is clearly faster by the cost model, in which values inside a group are
// free. Sums of products that use each element of their factors several times are excluded, since
// at one point of the group they would have nothing to reuse. No group is chosen over names along
// which an argument is contiguous in memory. This pass only sets requests; FormGroups.h forms the
// groups.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_GROUP_CHOOSEGROUPS_H
#define HEDDLE_LIB_TRANSFORMS_NEST_GROUP_CHOOSEGROUPS_H

#include "dialects/nest/Nest.h"
#include "lib/transforms/nest/fuse/ExplainFusion.h"

namespace heddle::nest {

/// Requests groups among nests that have no request yet. Returns true if it requested any.
/// `decisions` may be null.
bool chooseGroups(Block &block, FusionDecisions *decisions = nullptr);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_GROUP_CHOOSEGROUPS_H
