//===- Lowering.h - what the lowerings of nd ops share ----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_CONVERSION_ND_TO_NEST_LOWERING_H
#define HEDDLE_LIB_CONVERSION_ND_TO_NEST_LOWERING_H

#include "dialects/nd/NdGradient.h"
#include "dialects/nest/NestBuild.h"

namespace heddle::nest {

/// Builds nests in place of an op.
struct Lowering {
  using Results = SmallVectorImpl<Value> &;
  OpBuilder &b;
  Location loc;

  MLIRContext *context() const { return b.getContext(); }
  MapAttr mapOf(nd::NdTensorType type, const ExprMap &coordinates) const;
  Condition atLeast(const Expr &a, const Expr &c) const { return Condition(context(), a - c); }
  static Expr sizeOf(Value value, StringRef name) { return tensorType(value).size(name).getExpr(); }
  /// Clones scalar code, with nest.yield as its terminator.
  void cloneCombiner(mlir::Region &from, mlir::Region &to) const;
  /// The coordinate along `name` as a number of this type.
  static Value indexAs(OpBuilder &builder, Location where, StringRef name, Type type);
};

/// Arithmetic and reductions, and gather, scatter and joins: none for other ops.
std::optional<LogicalResult> lowerArithmetic(Lowering lowering, Operation *op,
                                             Lowering::Results results);
std::optional<LogicalResult> lowerAccess(Lowering lowering, Operation *op,
                                         Lowering::Results results);

/// Lowers a long scan for a machine with lanes (ScanBlocks.cpp). Returns false for others.
bool scanInBlocks(Lowering lowering, Operation *scan, Lowering::Results results);

/// True for an op that is fused into the reduction that reads it: a window that excludes elements,
/// or an op computed from one. Only the reduction can exclude points.
bool isFused(Operation *op);
/// True for an nd op other than literals: one that is lowered, or was fused.
bool isTakenIn(Operation *op);
LogicalResult refuseExcluded(Operation *op);

/// Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers, SC'11): element p, counted
/// in the order of these names, is word p mod 4 for counter p floordiv 4.
Value philox(OpBuilder &builder, Location where, Value key, ArrayAttr order, nd::NdTensorType type);

} // namespace heddle::nest

#endif // HEDDLE_LIB_CONVERSION_ND_TO_NEST_LOWERING_H
