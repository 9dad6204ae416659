//===- Lift.h - lifts ops over more names -----------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lifting is a transformation: a function on `{row}` applied to a tensor with `{batch, row}` is a
// copy of its ops in which every value that depends on the tensor has `batch` as well. Reductions
// list the names that they reduce, so `batch` passes through all of them:
//
//     %s = nd.reduce %x over [row] ... : {row} -> {}        the callee
//     %s = nd.reduce %x over [row] ... : {batch, row} -> {batch}
//
// If the condition of a branch varies over lifted names, both sides are computed and one is
// selected. A loop whose condition varies runs until it has ended at every point; points that have
// ended keep their carried values.
//
// A side may also run at points where it is not taken, and may have infinite slopes there (sqrt(x)
// at 0). If derivatives of the copy will be expanded later, a side reads each float tensor `x` as
//
//     select(taken, x, stop_gradient(x))
//
// so that the gradient at the other points is discarded, whatever it is.
//
// The copy can rename the ops' own names, so that they do not collide with lifted ones.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_ND_LIFT_H
#define HEDDLE_TRANSFORMS_ND_LIFT_H

#include "dialects/nest/NestBuild.h"
#include "lib/transforms/names/NameRewriter.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace heddle::nd {

/// Copies ops to the builder's insertion point. `values` maps operands to their new values, which
/// may have more names.
class Lifter {
public:
  /// `functions`, if not null, speeds up the lookup of callees. `differentiable`: derivatives of
  /// the copy will be expanded later.
  Lifter(OpBuilder &builder, NameRewriter rewriter,
         mlir::SymbolTableCollection *functions = nullptr, bool differentiable = false)
      : builder(builder), rewriter(std::move(rewriter)), functions(functions),
        differentiable(differentiable) {}

  mlir::IRMapping values;
  /// Copies the ops of `block` without the terminator.
  LogicalResult copy(Block &block);

private:
  OpBuilder &builder;
  NameRewriter rewriter;
  mlir::SymbolTableCollection *functions;
  bool differentiable;
  /// The tensors, over lifted names, of scalars of control flow.
  DenseMap<Value, Value> scalars;
  Value mask; ///< the points at which the code being copied runs; null: all

  LogicalResult copyOp(Operation &op);
  LogicalResult copyScan(nest::ScanOp op, ArrayRef<Dim> lifted);
  LogicalResult copyGroup(nest::GroupOp op);
  LogicalResult copyControl(Operation &op);
  LogicalResult selectSides(mlir::scf::IfOp op);
  LogicalResult copyMasked(mlir::Region &side);
  LogicalResult runUntilAllEnd(mlir::scf::WhileOp op, ArrayRef<Dim> lifted);
  llvm::SetVector<Value> touched(Operation &op) const;
  Value conditionOf(Operation *op, Value scalar);
  LogicalResult copyCall(CalleeInterface op);
  SmallVector<Dim> liftedNames(ValueRange values) const;
  Type liftedType(Type type, ArrayRef<Dim> lifted) const;
  Value broadcast(Location loc, Value value, ArrayRef<Dim> dims) const;
};

} // namespace heddle::nd

#endif // HEDDLE_TRANSFORMS_ND_LIFT_H
