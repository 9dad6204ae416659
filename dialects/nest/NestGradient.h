//===- NestGradient.h - gradients of nests ----------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A read x[map(p)] at every point p contributes to the gradient of x at map(p). Where the map can
// be inverted, the gradient is a nest over the names of x that gathers what reached each element:
//
//     y[row] += x[row = 2 * row + ky] * w[ky]                over ky: 3
//     dx[row] += dy[row = (row - ky) floordiv 2] * w[ky]     over ky, where (row - ky) mod 2 == 0
//
// Strides whose taps tile the range (2 * row + ky, ky: 2) are solved by division and remainder and
// leave nothing to sum. Any other map writes: `nest.update` adds up at map(p).
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
  /// Removes reads without an effect; those that `map` and `guard` mention stay and are renumbered there.
  void prune(MapAttr &map, GuardAttr &guard);
};

/// The iteration names of a space by the names of a tensor that is read through a map.
struct Inverse {
  nd::DimsAttr produced, reduced;
  std::map<std::string, Expr, std::less<>> names; ///< of the space, by the new names
  llvm::SmallVector<Condition> conditions;        ///< where a point exists
};
/// None if the map has no inverse of this form.
std::optional<Inverse> invert(MapAttr map, nd::NdTensorType target, nd::DimsAttr space);

/// The tensor of type `target` that holds at each element the sum of the contributions whose point
/// `map` takes there; points at which `guard` fails do not contribute.
mlir::Value sumContributions(mlir::OpBuilder &builder, mlir::Location loc, Contribution &what,
                             nd::NdTensorType target, MapAttr map, GuardAttr guard);

/// The attribute of a compute op that lists the reduced names: of equal elements the first one in the
/// row-major order of these names is chosen, which matters to gradients alone.
inline constexpr llvm::StringLiteral orderAttrName = "order";
/// The reduced dimensions as `order` lists them, else sorted.
llvm::SmallVector<nd::Dim> reducedInOrder(ComputeOp op);
/// True if the order of the reduced points is said, or there is only one.
bool isOrdered(ComputeOp op);

/// `map`, with an identity for the names of `type` that it lacks.
MapAttr completeMap(MapAttr map, nd::NdTensorType type);
/// Adds tensors by a nest.
mlir::Value addByNest(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a, mlir::Value b);
/// Repeats a tensor along the names that it lacks, by a nest.
mlir::Value broadcastByNest(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                            llvm::ArrayRef<nd::Dim> dims);

/// Gives nd `nest.scan` as its recurrence.
void addRecurrences(NestDialect &dialect);

/// Groups, and scans that capture values, are differentiated in another form: ops of that form are
/// put beside them and into `ops`; `redirect` is told the values of both forms. Forward code of either
/// form that is not used in the end is dead. Scans stay as they are if not `carries`: tangents of what
/// they capture are captured as well.
void expandForGradient(mlir::OpBuilder &builder, nd::Redirect redirect,
                       llvm::SmallVectorImpl<mlir::Operation *> &ops, bool carries = true);

} // namespace heddle::nest

#endif // HEDDLE_DIALECTS_NEST_NESTGRADIENT_H
