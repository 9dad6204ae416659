//===- NdBuild.h - ops with inferred types ----------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds nd ops and infers the types of their results, for differentiation, the builder API,
// rewrites and tests. If operands do not fit, a function reports an error at `loc` and returns a
// null value; callers that have checked their operands get a value.
//
//     auto square = [&](OpBuilder &b, ValueRange s) -> Value {
//       return arith::MulFOp::create(b, loc, s[0], s[0]);
//     };
//     Value squares = buildPointwise(b, loc, {x}, element, square);
//     Value sum = buildReduce(b, loc, squares, {"row", "column"}, CombinerKind::Add);
//
// Ops that change nothing are not built: a reduction over no names, a rename to the same names and
// a broadcast to the same dimensions return their operand.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECTS_ND_NDBUILD_H
#define HEDDLE_DIALECTS_ND_NDBUILD_H

#include "dialects/nd/Combiner.h"
#include "dialects/nd/NdInference.h"

#include "mlir/IR/IRMapping.h"

namespace heddle::nd {

/// Builds scalar code and returns its value.
using ScalarBody = function_ref<Value(OpBuilder &builder, ValueRange scalars)>;
/// The same with several values.
using ScalarsBody = function_ref<SmallVector<Value>(OpBuilder &builder, ValueRange scalars)>;

/// The element of a constant all of whose elements are equal; null for other values.
TypedAttr splatOf(Value value);
/// True for signless integers wider than i1: arithmetic on them is signed.
bool isSignedElement(Type element);
/// The type in which sums and products of `element` are accumulated: f32 for narrower floats.
Type accumulatorType(Type element);

/// Clones the ops of `block`, except the terminator, to the builder's insertion point; returns the
/// values that the terminator yields. `mapping` has the values for the arguments, and receives
/// those of the results. `clones`, if not null, receives the ops.
SmallVector<Value> inlineBlock(OpBuilder &builder, Block &block, mlir::IRMapping &mapping,
                               SmallVectorImpl<Operation *> *clones = {});
/// The same with `arguments` for the arguments.
SmallVector<Value> inlineBlock(OpBuilder &builder, Block &block, ValueRange arguments);

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

/// `value` as an attribute of scalar type `type` (rounded to it).
TypedAttr numberAttr(Type type, double value);
/// A scalar constant.
Value buildNumber(OpBuilder &builder, Location loc, Type type, double value);
/// A scalar constant that keeps all digits of f32 for a narrow float, which is computed in f32. So
/// a factor such as 1 / 300 is not rounded before it is used.
Value buildUnrounded(OpBuilder &builder, Location loc, Type type, double value);
/// Converts a scalar between element types, which determine signedness. Floats become integers by
/// truncation; anything becomes i1 by comparison with zero.
Value convertScalar(OpBuilder &builder, Location loc, Value value, Type from, Type to);
/// Converts a float between an element and an accumulator type, without the rounding of a cast.
/// Returns other scalars unchanged.
Value convertFloat(OpBuilder &builder, Location loc, Value value, Type type);

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

/// Every element is `value`, which has the scalar type of `type`.
Value buildConstant(OpBuilder &builder, Location loc, NdTensorType type, TypedAttr value);
Value buildConstant(OpBuilder &builder, Location loc, NdTensorType type, double value);
inline Value buildZero(OpBuilder &builder, Location loc, NdTensorType type) {
  return buildConstant(builder, loc, type, 0.0);
}
/// A literal: `value` is row-major over `order`.
Value buildConstant(OpBuilder &builder, Location loc, Type element, mlir::DenseElementsAttr value,
                    ArrayRef<StringRef> order);
/// The same for elements and a type that match.
Value buildLiteral(OpBuilder &builder, Location loc, NdTensorType type, mlir::ElementsAttr value,
                   ArrayRef<StringRef> order);
/// 0, 1, ... along `dim`.
Value buildIota(OpBuilder &builder, Location loc, const Dim &dim, Type element);
/// Random bits by `key`; `order` lists the new dimensions.
Value buildRandom(OpBuilder &builder, Location loc, Value key, ArrayRef<Dim> order);

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// Sets `crossed` if the operands need it: callers build outer products intentionally.
Value buildPointwise(OpBuilder &builder, Location loc, ValueRange inputs, Type resultElement,
                     ScalarBody body);
/// The result has the element type of the first operand.
Value add(OpBuilder &builder, Location loc, Value a, Value b);
Value sub(OpBuilder &builder, Location loc, Value a, Value b);
Value mul(OpBuilder &builder, Location loc, Value a, Value b);
Value neg(OpBuilder &builder, Location loc, Value a);
/// `yes` where `condition` (i1) holds, else `no`.
Value select(OpBuilder &builder, Location loc, Value condition, Value yes, Value no);
/// Converts the elements; the operand itself if it has them already.
Value buildCast(OpBuilder &builder, Location loc, Value input, Type element);

/// Reduces over `names` with a named combiner, in `accumulator`, by default `accumulatorType`.
Value buildReduce(OpBuilder &builder, Location loc, Value input, ArrayRef<StringRef> names,
                  CombinerKind kind, Type accumulator = {});
/// Reduces several inputs together. The combiner gets accumulators, then elements, of the types of
/// `neutral`. `names` must not be empty. No values on failure.
SmallVector<Value> buildReduce(OpBuilder &builder, Location loc, ValueRange inputs,
                               ArrayRef<StringRef> names, ArrayRef<TypedAttr> neutral,
                               ScalarsBody combiner);
/// Sums `input` over the names that `type` lacks: the adjoint of a broadcast.
Value buildSumTo(OpBuilder &builder, Location loc, Value input, NdTensorType type);
Value buildScan(OpBuilder &builder, Location loc, Value input, StringRef name, CombinerKind kind,
                bool exclusive = false, bool reverse = false, Type accumulator = {});
SmallVector<Value> buildScan(OpBuilder &builder, Location loc, ValueRange inputs, StringRef name,
                             ArrayRef<TypedAttr> neutral, ScalarsBody combiner,
                             bool exclusive = false, bool reverse = false);
Value buildRound(OpBuilder &builder, Location loc, Value input, Type to);

//===----------------------------------------------------------------------===//
// Index maps
//===----------------------------------------------------------------------===//

/// Without `padding` the reduction that reads the result excludes elements outside of `input`.
Value buildWindow(OpBuilder &builder, Location loc, Value input, const WindowShape &shape,
                  TypedAttr padding = {});
/// `size` is the size of `shape.name` in the result.
Value buildUnwindow(OpBuilder &builder, Location loc, Value input, const WindowShape &shape,
                    const Expr &size);
Value buildSlice(OpBuilder &builder, Location loc, Value input, StringRef name, const Expr &start,
                 const Expr &size, int64_t stride = 1);
/// A null `value` means zero.
Value buildPad(OpBuilder &builder, Location loc, Value input, StringRef name, const Expr &low,
               const Expr &high, int64_t interior = 0, TypedAttr value = {});
Value buildConcat(OpBuilder &builder, Location loc, ValueRange inputs, StringRef name);
Value buildSplit(OpBuilder &builder, Location loc, Value input, StringRef name, ArrayRef<Dim> into);
/// Changes the expressions of sizes: those of `type` must equal the input's, which is checked on
/// entry if it depends on symbols.
Value buildResized(OpBuilder &builder, Location loc, Value input, NdTensorType type);
Value buildMerge(OpBuilder &builder, Location loc, Value input, ArrayRef<StringRef> names,
                 StringRef into);
Value buildRename(OpBuilder &builder, Location loc, Value input, ArrayRef<StringRef> from,
                  ArrayRef<StringRef> to);
/// Another value with the elements of `input`, for code that must temporarily distinguish the two.
/// It is an empty rename, which folds.
Value buildAlias(OpBuilder &builder, Location loc, Value input);
/// Adds the dimensions of `dims` that `input` lacks; those that it has must have the same sizes.
Value buildBroadcast(OpBuilder &builder, Location loc, Value input, ArrayRef<Dim> dims);

//===----------------------------------------------------------------------===//
// Access by value, functions
//===----------------------------------------------------------------------===//

Value buildGather(OpBuilder &builder, Location loc, Value input, ArrayRef<StringRef> names,
                  ValueRange indices);
Value buildScatter(OpBuilder &builder, Location loc, Value destination, Value updates,
                   ArrayRef<StringRef> names, ValueRange indices, CombinerKind kind,
                   bool unique = false);
/// The combiner gets (old, update).
Value buildScatter(OpBuilder &builder, Location loc, Value destination, Value updates,
                   ArrayRef<StringRef> names, ValueRange indices, ScalarBody combiner,
                   bool unique = false);
/// `size` elements of `name` from `start` on, which is clamped so that they are in bounds.
Value buildDynamicSlice(OpBuilder &builder, Location loc, Value input, StringRef name, Value start,
                        const Expr &size);
Value buildUpdateSlice(OpBuilder &builder, Location loc, Value part, Value destination,
                       StringRef name, Value start);
/// Sorts `inputs` by the first one, and keeps `size` elements. No values on failure.
SmallVector<Value> buildSort(OpBuilder &builder, Location loc, ValueRange inputs, StringRef name,
                             bool descending, const Expr &size);
/// The coordinate along `name` that every element of the sorted `keys` came from.
Value buildArgSort(OpBuilder &builder, Location loc, Value keys, StringRef name, bool descending,
                   const Expr &size);
/// Lifts `callee` over the names that operands have beyond their formals. `gradient`, if given, is
/// the function that computes the derivative; with `checkpoint`, it recomputes the callee. No
/// values on failure.
SmallVector<Value> buildCall(OpBuilder &builder, Location loc, func::FuncOp callee,
                             ValueRange inputs, func::FuncOp gradient = {},
                             bool checkpoint = false);
/// The results of `callee`, then the gradients of the arguments at `wrt`. No values on failure.
SmallVector<Value> buildVjp(OpBuilder &builder, Location loc, func::FuncOp callee,
                            ValueRange inputs, ValueRange cotangents, ArrayRef<int64_t> wrt);
/// The results of `callee`, then the tangents of those with float elements. No values on failure.
SmallVector<Value> buildJvp(OpBuilder &builder, Location loc, func::FuncOp callee,
                            ValueRange inputs, ValueRange tangents, ArrayRef<int64_t> wrt);

} // namespace heddle::nd

#endif // HEDDLE_DIALECTS_ND_NDBUILD_H
