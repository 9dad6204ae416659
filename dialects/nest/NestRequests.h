//===- NestRequests.h - attributes that ask passes for something *- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A nest may ask passes to keep it as it is, or to run together with others:
//
//     %p = nest.compute (n: 8, t: 64) ... {heddle.materialize, group = ["n"]}
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECTS_NEST_NESTREQUESTS_H
#define HEDDLE_DIALECTS_NEST_NESTREQUESTS_H

#include "llvm/ADT/StringRef.h"

namespace heddle::nest {

/// Attributes by which a user, or a pass, decides whether a nest's result is stored or recomputed
/// at each use, regardless of the cost.
inline constexpr llvm::StringLiteral materializeAttr = "heddle.materialize";
inline constexpr llvm::StringLiteral recomputeAttr = "heddle.recompute";
/// The attribute of nests that request a group: its names (nest-form-groups). It has no prefix, so
/// that renaming the dimensions of an op renames its names too.
inline constexpr llvm::StringLiteral groupAttr = "group";

} // namespace heddle::nest

#endif // HEDDLE_DIALECTS_NEST_NESTREQUESTS_H
