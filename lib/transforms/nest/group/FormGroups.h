//===- FormGroups.h - forms requested groups of nests -----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The attribute `group = ["batch", "row", 0]` on nests (names, then a number that distinguishes
// requests) requests one `nest.group` over these names. The group's names are removed from the
// iteration spaces of its nests, which then compute one point of them. Values that the nests pass
// to each other are local to that point and never stored as a whole:
//
//     %e = (n: 8, k: 512) exp(%x)          nest.group (n: 8) {
//     %s = (n: 8) sum over k of %e           %e = (k: 512) exp(%x[n = n])
//     %r = (n: 8, k: 512) %e / %s            %s = () sum over k of %e
//                                            %r = (k: 512) %e / %s
//                                            yield %r }
//
// A nest joins if it produces every name of the group and reads results of nests in the group at
// the same point of these names. Other nests (they read a neighbouring point, or depend on the
// group through an op outside of it) stay outside, as do their users.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_GROUP_FORMGROUPS_H
#define HEDDLE_LIB_TRANSFORMS_NEST_GROUP_FORMGROUPS_H

#include "dialects/nest/Nest.h"
#include "dialects/nest/NestRequests.h"

namespace heddle::nest {

/// Forms the requested groups and removes the requests. Returns true if there was one.
bool formGroups(Block &block);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_GROUP_FORMGROUPS_H
