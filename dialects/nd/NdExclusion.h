//===- NdExclusion.h - elements that reductions exclude ---------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A window without a padding value excludes the elements outside of its operand: a reduction must
// follow, which ignores them. Ops in between propagate the exclusion:
//
//     %w = nd.window %x row -> k size 3 pad 1, 1 exclude     excludes 2 elements
//     %y = nd.pointwise %w { sin }                           and so does %y
//     %m = nd.reduce %y over [k] { max }                     excludes none
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECTS_ND_NDEXCLUSION_H
#define HEDDLE_DIALECTS_ND_NDEXCLUSION_H

#include "dialects/nd/Nd.h"

namespace heddle::nd {

/// True if elements of the op's result are excluded where those of an operand are.
bool carriesExclusion(Operation *op);

/// Determines which values may have excluded elements. Caches results, so that a walk over a
/// program takes linear time.
class Exclusions {
public:
  bool reach(Value value);
  /// Declares that `value` has excluded elements, although its defining op does not imply it.
  void assume(Value value) { known[value] = true; }
  /// Drops cached results for an op that is erased. Those for a rewritten op remain valid.
  void forget(Operation *op);
  /// Builds the gradients of any op, like DifferentiableInterface; none if no gradient is wanted or
  /// all cotangents are zero.
  LogicalResult buildGradient(OpBuilder &builder, Operation *op, ValueRange cotangents,
                              ArrayRef<bool> wanted, SmallVectorImpl<Value> &gradients);

private:
  DenseMap<Value, bool> known;
};

/// Returns `value` with unspecified elements in place of excluded ones, and a mask (i1) that is
/// false there; a null mask if nothing is excluded.
std::pair<Value, Value> fillExcluded(OpBuilder &builder, Value value);
/// Returns a tensor of ones (i64) that excludes the same elements as `value`, with the names on
/// which the exclusion depends; null if nothing is excluded. `known` has such tensors for values on
/// which `value` depends.
Value buildIncluded(OpBuilder &builder, Location loc, Value value, DenseMap<Value, Value> known);

} // namespace heddle::nd

#endif // HEDDLE_DIALECTS_ND_NDEXCLUSION_H
