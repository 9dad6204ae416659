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
  llvm::SmallVector<mlir::Value> reads;
  llvm::SmallVector<MapAttr> maps;
  llvm::SmallVector<GuardAttr> guards;
  /// The read whose guard (without `else`) takes further conditions.
  unsigned carrier = 0;
  /// One argument for each read; yields one scalar.
  mlir::Region body;

  unsigned read(mlir::Value value, MapAttr map, GuardAttr guard);
  mlir::Block &block() { return body.front(); }
  /// Removes reads without an effect; those to which `map` and `guard` refer are kept and
  /// renumbered.
  void prune(MapAttr &map, GuardAttr &guard);
};

/// Fills the body of `what`. `fill` gets one argument per read and returns one scalar, or null if
/// the contribution is zero.
mlir::FailureOr<bool>
fillBody(mlir::OpBuilder &builder, mlir::Location loc, Contribution &what,
         llvm::function_ref<mlir::FailureOr<mlir::Value>(mlir::Block *)> fill);
/// The gradient of one argument of scalar code.
mlir::FailureOr<mlir::Value> gradientOf(mlir::OpBuilder &builder, mlir::Location loc,
                                        mlir::Block &code, mlir::ValueRange arguments,
                                        llvm::ArrayRef<mlir::Value> cotangents, unsigned i);

/// The iteration names of a space as expressions of the names of a tensor that is read by a map.
struct Inverse {
  nd::DimsAttr produced, reduced;
  ExprMap names;                           ///< names of the space, over the new names
  llvm::SmallVector<Condition> conditions; ///< conditions for a point to exist
};
/// Returns nothing if the map has no inverse of this form.
std::optional<Inverse> invert(MapAttr map, nd::NdTensorType target, nd::DimsAttr space);

/// Computes a tensor of type `target`. Each element is the sum of the contributions of all points
/// that `map` maps to it; points at which `guard` fails do not contribute.
mlir::Value sumContributions(mlir::OpBuilder &builder, mlir::Location loc, Contribution &what,
                             nd::NdTensorType target, MapAttr map, GuardAttr guard);

/// The attribute of a compute op that lists the reduced names. Of equal elements, a maximum or
/// minimum selects the first in the row-major order of these names; only gradients depend on it.
inline constexpr llvm::StringLiteral orderAttrName = "order";
/// The reduced dimensions in the order of `order`, or sorted.
llvm::SmallVector<nd::Dim> reducedInOrder(ComputeOp op);
/// True if the op has the attribute `order`, or only one reduced point.
bool isOrdered(ComputeOp op);

/// Extends the space of `nest` by `names`; operands that have gained them are read at their
/// coordinates.
void addNames(LoopNestInterface nest, llvm::ArrayRef<nd::Dim> names);
/// Adds tensors by a nest.
mlir::Value addByNest(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a, mlir::Value b);
/// Repeats a tensor along the names that it lacks, by a nest.
mlir::Value broadcastByNest(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                            llvm::ArrayRef<nd::Dim> dims);

/// Registers `nest.scan` as the recurrence of nd.
void addRecurrences(NestDialect &dialect);

/// Expands groups, and scans that capture values, to a form that can be differentiated. The new ops
/// are inserted next to the old ones and into `ops`, and `redirect` maps the old values to the new
/// ones. Forward code of either form without uses is dead. Unless `carries`, scans are not
/// expanded: tangents of captured values are captured as well.
void expandForGradient(mlir::OpBuilder &builder, nd::Redirect redirect,
                       llvm::SmallVectorImpl<mlir::Operation *> &ops, bool carries = true);

} // namespace heddle::nest

#endif // HEDDLE_DIALECTS_NEST_NESTGRADIENT_H
