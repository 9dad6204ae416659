//===- NestGradient.h - gradients of nests ----------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A read x[map(p)] at every point p contributes to the gradient of x at map(p). If the map can be
// inverted, the gradient is a nest over the names of x that gathers the contributions:
//
//     y[row] += x[row = 2 * row + ky] * w[ky]                over ky: 3
//     dx[row] += dy[row = (row - ky) floordiv 2] * w[ky]     over ky, where (row - ky) mod 2 == 0
//
// If the taps of a stride tile the range (2 * row + ky, ky: 2), division and remainder invert the
// map and no sum remains. For any other map, a `nest.update` accumulates at map(p).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECTS_NEST_NESTGRADIENT_H
#define HEDDLE_DIALECTS_NEST_NESTGRADIENT_H

#include "dialects/nd/NdGradient.h"
#include "dialects/nest/NestBuild.h"

namespace heddle::nest {

/// A scalar for each point of a space, computed from reads.
struct Contribution {
  nd::DimsAttr space;
  SmallVector<Value> reads;
  SmallVector<MapAttr> maps;
  SmallVector<GuardAttr> guards;
  /// The read whose guard (without `else`) takes further conditions.
  unsigned carrier = 0;
  /// One argument for each read; yields one scalar.
  mlir::Region body;

  unsigned read(Value value, MapAttr map, GuardAttr guard);
  Block &block() { return body.front(); }
  /// Removes reads without an effect; those to which `map` and `guard` refer are kept and
  /// renumbered.
  void prune(MapAttr &map, GuardAttr &guard);
};

/// Fills the body of `what`. `fill` gets one argument per read and returns one scalar, or null if
/// the contribution is zero.
FailureOr<bool> fillBody(OpBuilder &builder, Location loc, Contribution &what,
                         function_ref<FailureOr<Value>(Block *)> fill);
/// The gradient of one argument of scalar code.
FailureOr<Value> gradientOf(OpBuilder &builder, Location loc, Block &code, ValueRange arguments,
                            ArrayRef<Value> cotangents, unsigned i);

/// The iteration names of a space as expressions of the names of a tensor that is read by a map.
struct Inverse {
  nd::DimsAttr produced, reduced;
  ExprMap names;                     ///< names of the space, over the new names
  SmallVector<Condition> conditions; ///< conditions for a point to exist
};
/// Returns nothing if the map has no inverse of this form.
std::optional<Inverse> invert(MapAttr map, nd::NdTensorType target, nd::DimsAttr space);

/// Computes a tensor of type `target`. Each element is the sum of the contributions of all points
/// that `map` maps to it; points at which `guard` fails do not contribute.
Value sumContributions(OpBuilder &builder, Location loc, Contribution &what,
                       nd::NdTensorType target, MapAttr map, GuardAttr guard);

/// The attribute of a compute op that lists the reduced names. Of equal elements, a maximum or
/// minimum selects the first in the row-major order of these names; only gradients depend on it.
inline constexpr StringLiteral orderAttrName = "order";
/// The reduced dimensions in the order of `order`, or sorted.
SmallVector<nd::Dim> reducedInOrder(ComputeOp op);
/// True if the op has the attribute `order`, or only one reduced point.
bool isOrdered(ComputeOp op);

/// Extends the space of `nest` by `names`; operands that have gained them are read at their
/// coordinates.
void addNames(LoopNestInterface nest, ArrayRef<nd::Dim> names);
/// Adds tensors by a nest.
Value addByNest(OpBuilder &builder, Location loc, Value a, Value b);
/// Repeats a tensor along the names that it lacks, by a nest.
Value broadcastByNest(OpBuilder &builder, Location loc, Value value, ArrayRef<nd::Dim> dims);

/// Registers `nest.scan` as the recurrence of nd.
void addRecurrences(NestDialect &dialect);

/// Expands groups, and scans that capture values, to a form that can be differentiated. The new ops
/// are inserted next to the old ones and into `ops`, and `redirect` maps the old values to the new
/// ones. Forward code of either form without uses is dead. Unless `carries`, scans are not
/// expanded: tangents of captured values are captured as well.
void expandForGradient(OpBuilder &builder, nd::Redirect redirect, SmallVectorImpl<Operation *> &ops,
                       bool carries = true);

} // namespace heddle::nest

#endif // HEDDLE_DIALECTS_NEST_NESTGRADIENT_H
