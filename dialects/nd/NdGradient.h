//===- NdGradient.h - reverse mode over scalars and blocks ------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Helpers for the gradients of ops, at two levels: scalar code inside a region, and tensor ops in a
// block. Both visit ops in reverse order and accumulate cotangents. A null cotangent is zero and
// costs nothing.
//
// Scalars: for y = sin(a * b) and the cotangent g of y, `buildScalarGradient` writes
//
//     %p = arith.mulf %a, %b        %c = math.cos %p
//     %d = arith.mulf %g, %c        (the cotangent of %p)
//     arith.mulf %d, %b             (of a)        arith.mulf %d, %a   (of b)
//
// Tensors: `ReverseMode` asks each op for its gradient through DifferentiableInterface.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECTS_ND_NDGRADIENT_H
#define HEDDLE_DIALECTS_ND_NDGRADIENT_H

#include "dialects/nd/Combiner.h"
#include "dialects/nd/Nd.h"
#include "dialects/nd/NdExclusion.h"

#include "mlir/IR/DialectInterface.h"

namespace mlir::scf {
class IfOp;
} // namespace mlir::scf

namespace heddle::nd {

/// The end of the message for code without a derivative.
inline constexpr StringLiteral ownGradientHint =
    "; give the function around it a gradient of its own (in C++ by withGradient, in IR by the "
    "'gradient' of nd.call), or let it count as a constant (stopGradient, nd.stop_gradient)";

/// Builds the gradients of the `wanted` arguments, given the cotangents of the values that `block`
/// yields; null if none of these depends on an argument. `eraseDeadScalars` erases unused forward
/// code. Fails, with a diagnostic at the op, if an op has no derivative.
FailureOr<SmallVector<Value>> buildScalarGradient(OpBuilder &builder, Location loc, Block &block,
                                                  ValueRange arguments, ArrayRef<Value> cotangents,
                                                  ArrayRef<bool> wanted);

/// The location of ops that reverse mode makes for an op at `loc`: its place and layer, and a mark
/// by which later passes tell gradients from the forward pass.
Location gradientLoc(Location loc);
bool isGradient(Location loc);
/// A location with a name that a program gave to an op, such as nn::Mode::seen does; its gradient
/// keeps it.
Location seenLoc(Location loc, StringRef name);
/// The name; empty if there is none.
StringRef seenNameOf(Location loc);

/// Erases pure ops of `block` whose results have no use.
void eraseDeadScalars(Block &block);

/// The parts of a product from which one factor can be removed: the product of all nonzero factors,
/// the number of zeros, their sum S and the sum Q of their squares. The product of one zero is S,
/// of two (S^2 - Q) / 2: both are 0 and have the correct derivatives, so that derivatives up to the
/// third, which vary as many zeros, are correct.
struct ProductParts {
  Value others, zeros, zeroSum, squareSum;
};
/// One factor: itself, or 1 if it is zero; 1 if it is zero, else 0; itself if it is zero, else 0.
struct ProductFactor {
  Value other, isZero, zero;
};
Value productWithout(OpBuilder &builder, Location loc, const ProductParts &all,
                     const ProductFactor &one);

/// The kind of the single op that combines an accumulator with its element; General if the combiner
/// uses other values for it.
CombinerKind accumulatorKind(Block &combiner, unsigned accumulator);

/// True if the combiner selects the accumulator among its inputs, unchanged, by selects, maxima and
/// minima (max, min, argmax, ...). Such a combiner can carry a position along.
bool isSelecting(Block &combiner, unsigned accumulator);
/// Clones `combiner` on (accumulators, elements); returns the yielded values, then for each of
/// `tracked` (accumulators for which isSelecting holds) the position of the value: `oldPositions`
/// and `newPositions` are those of the accumulators and of the elements. Of equal candidates of a
/// maximum or minimum the smallest position is chosen.
SmallVector<Value> inlineWithPositions(OpBuilder &builder, Location loc, Block &combiner,
                                       ValueRange accumulators, ValueRange elements,
                                       ArrayRef<unsigned> tracked, ValueRange oldPositions,
                                       ValueRange newPositions);

/// Builds recurrences over tensors, which are ops of a dialect above this one.
class RecurrenceInterface : public mlir::DialectInterface::Base<RecurrenceInterface> {
public:
  using Base::Base;
  /// Builds one step from the carried tensors and the slices of `reads` at one coordinate; returns
  /// the next carried tensors, then the slices of further results at this coordinate.
  using Step = function_ref<SmallVector<Value>(ValueRange)>;
  /// Returns the last carried tensors, then the further results over all coordinates of `along`, a
  /// name that `reads` have and carried tensors lack.
  virtual SmallVector<Value> build(OpBuilder &builder, Location loc, Dim along, bool reverse,
                                   ValueRange inits, ValueRange reads, Step step) const = 0;
};

/// Called with a value and the same value computed by other ops.
using Redirect = function_ref<void(Value value, Value other)>;

/// Reverse mode over tensor ops of one block.
class ReverseMode {
public:
  /// Adds two tensors; the default is `nd.pointwise`.
  using Add = std::function<Value(OpBuilder &, Location, Value, Value)>;

  explicit ReverseMode(OpBuilder &builder, Add add = {});

  /// Requests the gradient of `value`.
  void want(Value value) { active.insert(value); }
  bool isActive(Value value) const { return active.contains(current(value)); }
  /// Adds cotangents of `value` to `other`, which is the same value computed by other ops.
  void redirect(Value value, Value other) { replaced[value] = other; }
  /// Adds to the cotangent of `value`; null, and cotangents of values without floats, are ignored.
  void accumulate(Location loc, Value value, Value cotangent);
  /// The cotangent of `value`, null if it is zero.
  Value cotangent(Value value) const { return cotangents.lookup(value); }

  /// Marks, in order, the results of `ops` that depend on wanted values.
  void propagate(ArrayRef<Operation *> ops);
  /// Builds the gradients of `ops`, in reverse order.
  LogicalResult run(ArrayRef<Operation *> ops);

private:
  OpBuilder &builder;
  Add add;
  DenseSet<Value> active;
  DenseMap<Value, Value> cotangents, replaced;
  Exclusions exclusions;

  Value current(Value value) const {
    while (Value other = replaced.lookup(value))
      value = other;
    return value;
  }
  LogicalResult runBranch(mlir::scf::IfOp op, ArrayRef<Value> given);
};

} // namespace heddle::nd

#endif // HEDDLE_DIALECTS_ND_NDGRADIENT_H
