//===- FormGroups.h - nests that were asked to run together -----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `group = ["batch", "row", 0]` on nests (names, then a number that tells requests apart) asks for
// one `nest.group` over these names. The group's names leave the iteration spaces of its nests,
// which then work on one point of them; what they hand to each other stays local to a tile and
// never lies in memory as a whole:
//
//     %e = (n: 8, k: 512) exp(%x)          nest.group (n: 8) {
//     %s = (n: 8) sum over k of %e           %e = (k: 512) exp(%x[n = n]);  %s = () sum over k of %e
//     %r = (n: 8, k: 512) %e / %s            %r = (k: 512) %e / %s;  yield %r }
//
// A nest joins if it produces every name of the group and reads results of nests in the group at
// the same point of these names. One that can't (it reads a neighbour's result, or needs something
// between that depends on the group) stays outside, as does what depends on it.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_FORMGROUPS_H
#define HEDDLE_LIB_TRANSFORMS_NEST_FORMGROUPS_H

#include "dialects/nest/Nest.h"

namespace heddle::nest {

/// Without a prefix, so that renaming an op renames it too.
inline constexpr llvm::StringLiteral groupAttr = "group";

/// Forms the groups that are asked for; removes the requests. True if there was one.
bool formGroups(mlir::Block &block);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_FORMGROUPS_H
