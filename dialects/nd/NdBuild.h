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

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

namespace heddle::nd {

/// Builds scalar code and returns its value.
using ScalarBody =
    llvm::function_ref<mlir::Value(mlir::OpBuilder &builder, mlir::ValueRange scalars)>;
/// The same with several values.
using ScalarsBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::OpBuilder &builder,
                                                                      mlir::ValueRange scalars)>;

/// The element of a constant all of whose elements are equal; null for other values.
mlir::TypedAttr splatOf(mlir::Value value);
/// True for signless integers wider than i1: arithmetic on them is signed.
bool isSignedElement(mlir::Type element);
/// The type in which sums and products of `element` are accumulated: f32 for narrower floats.
mlir::Type accumulatorType(mlir::Type element);

/// Clones the ops of `block`, except the terminator, to the builder's insertion point; returns the
/// values that the terminator yields. `mapping` has the values for the arguments, and receives
/// those of the results. `clones`, if not null, receives the ops.
llvm::SmallVector<mlir::Value> inlineBlock(mlir::OpBuilder &builder, mlir::Block &block,
                                           mlir::IRMapping &mapping,
                                           llvm::SmallVectorImpl<mlir::Operation *> *clones = {});
/// The same with `arguments` for the arguments.
llvm::SmallVector<mlir::Value> inlineBlock(mlir::OpBuilder &builder, mlir::Block &block,
                                           mlir::ValueRange arguments);

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

/// `value` as an attribute of scalar type `type` (rounded to it).
mlir::TypedAttr numberAttr(mlir::Type type, double value);
/// A scalar constant.
mlir::Value buildNumber(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type,
                        double value);
/// A scalar constant that keeps all digits of f32 for a narrow float, which is computed in f32. So
/// a factor such as 1 / 300 is not rounded before it is used.
mlir::Value buildUnrounded(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type,
                           double value);
/// Converts a scalar between element types, which determine signedness. Floats become integers by
/// truncation; anything becomes i1 by comparison with zero.
mlir::Value convertScalar(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                          mlir::Type from, mlir::Type to);
/// Converts a float between an element and an accumulator type, without the rounding of a cast.
/// Returns other scalars unchanged.
mlir::Value convertFloat(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                         mlir::Type type);

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

/// Every element is `value`, which has the scalar type of `type`.
mlir::Value buildConstant(mlir::OpBuilder &builder, mlir::Location loc, NdTensorType type,
                          mlir::TypedAttr value);
mlir::Value buildConstant(mlir::OpBuilder &builder, mlir::Location loc, NdTensorType type,
                          double value);
inline mlir::Value buildZero(mlir::OpBuilder &builder, mlir::Location loc, NdTensorType type) {
  return buildConstant(builder, loc, type, 0.0);
}
/// A literal: `value` is row-major over `order`.
mlir::Value buildConstant(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type element,
                          mlir::DenseElementsAttr value, llvm::ArrayRef<llvm::StringRef> order);
/// The same for elements and a type that match.
mlir::Value buildLiteral(mlir::OpBuilder &builder, mlir::Location loc, NdTensorType type,
                         mlir::ElementsAttr value, llvm::ArrayRef<llvm::StringRef> order);
/// 0, 1, ... along `dim`.
mlir::Value buildIota(mlir::OpBuilder &builder, mlir::Location loc, const Dim &dim,
                      mlir::Type element);
/// Random bits by `key`; `order` lists the new dimensions.
mlir::Value buildRandom(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value key,
                        llvm::ArrayRef<Dim> order);

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// Sets `crossed` if the operands need it: callers build outer products intentionally.
mlir::Value buildPointwise(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange inputs,
                           mlir::Type resultElement, ScalarBody body);
/// The result has the element type of the first operand.
mlir::Value add(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a, mlir::Value b);
mlir::Value sub(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a, mlir::Value b);
mlir::Value mul(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a, mlir::Value b);
mlir::Value neg(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a);
/// `yes` where `condition` (i1) holds, else `no`.
mlir::Value select(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value condition,
                   mlir::Value yes, mlir::Value no);
/// Converts the elements; the operand itself if it has them already.
mlir::Value buildCast(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input,
                      mlir::Type element);

/// Reduces over `names` with a named combiner, in `accumulator`, by default `accumulatorType`.
mlir::Value buildReduce(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input,
                        llvm::ArrayRef<llvm::StringRef> names, CombinerKind kind,
                        mlir::Type accumulator = {});
/// Reduces several inputs together. The combiner gets accumulators, then elements, of the types of
/// `neutral`. `names` must not be empty. No values on failure.
llvm::SmallVector<mlir::Value> buildReduce(mlir::OpBuilder &builder, mlir::Location loc,
                                           mlir::ValueRange inputs,
                                           llvm::ArrayRef<llvm::StringRef> names,
                                           llvm::ArrayRef<mlir::TypedAttr> neutral,
                                           ScalarsBody combiner);
/// Sums `input` over the names that `type` lacks: the adjoint of a broadcast.
mlir::Value buildSumTo(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input,
                       NdTensorType type);
mlir::Value buildScan(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input,
                      llvm::StringRef name, CombinerKind kind, bool exclusive = false,
                      bool reverse = false, mlir::Type accumulator = {});
llvm::SmallVector<mlir::Value> buildScan(mlir::OpBuilder &builder, mlir::Location loc,
                                         mlir::ValueRange inputs, llvm::StringRef name,
                                         llvm::ArrayRef<mlir::TypedAttr> neutral,
                                         ScalarsBody combiner, bool exclusive = false,
                                         bool reverse = false);
mlir::Value buildRound(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input,
                       mlir::Type to);

//===----------------------------------------------------------------------===//
// Index maps
//===----------------------------------------------------------------------===//

/// Without `padding` the reduction that reads the result excludes elements outside of `input`.
mlir::Value buildWindow(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input,
                        const WindowShape &shape, mlir::TypedAttr padding = {});
/// `size` is the size of `shape.name` in the result.
mlir::Value buildUnwindow(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input,
                          const WindowShape &shape, const Expr &size);
mlir::Value buildSlice(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input,
                       llvm::StringRef name, const Expr &start, const Expr &size,
                       int64_t stride = 1);
/// A null `value` means zero.
mlir::Value buildPad(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input,
                     llvm::StringRef name, const Expr &low, const Expr &high, int64_t interior = 0,
                     mlir::TypedAttr value = {});
mlir::Value buildConcat(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange inputs,
                        llvm::StringRef name);
mlir::Value buildSplit(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input,
                       llvm::StringRef name, llvm::ArrayRef<Dim> into);
/// Changes the expressions of sizes: those of `type` must equal the input's, which is checked on
/// entry if it depends on symbols.
mlir::Value buildResized(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input,
                         NdTensorType type);
mlir::Value buildMerge(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input,
                       llvm::ArrayRef<llvm::StringRef> names, llvm::StringRef into);
mlir::Value buildRename(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input,
                        llvm::ArrayRef<llvm::StringRef> from, llvm::ArrayRef<llvm::StringRef> to);
/// Another value with the elements of `input`, for code that must temporarily distinguish the two.
/// It is an empty rename, which folds.
mlir::Value buildAlias(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input);
/// Adds the dimensions of `dims` that `input` lacks; those that it has must have the same sizes.
mlir::Value buildBroadcast(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input,
                           llvm::ArrayRef<Dim> dims);

//===----------------------------------------------------------------------===//
// Access by value, functions
//===----------------------------------------------------------------------===//

mlir::Value buildGather(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input,
                        llvm::ArrayRef<llvm::StringRef> names, mlir::ValueRange indices);
mlir::Value buildScatter(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value destination,
                         mlir::Value updates, llvm::ArrayRef<llvm::StringRef> names,
                         mlir::ValueRange indices, CombinerKind kind, bool unique = false);
/// The combiner gets (old, update).
mlir::Value buildScatter(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value destination,
                         mlir::Value updates, llvm::ArrayRef<llvm::StringRef> names,
                         mlir::ValueRange indices, ScalarBody combiner, bool unique = false);
/// `size` elements of `name` from `start` on, which is clamped so that they are in bounds.
mlir::Value buildDynamicSlice(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input,
                              llvm::StringRef name, mlir::Value start, const Expr &size);
mlir::Value buildUpdateSlice(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value part,
                             mlir::Value destination, llvm::StringRef name, mlir::Value start);
/// Sorts `inputs` by the first one, and keeps `size` elements. No values on failure.
llvm::SmallVector<mlir::Value> buildSort(mlir::OpBuilder &builder, mlir::Location loc,
                                         mlir::ValueRange inputs, llvm::StringRef name,
                                         bool descending, const Expr &size);
/// The coordinate along `name` that every element of the sorted `keys` came from.
mlir::Value buildArgSort(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value keys,
                         llvm::StringRef name, bool descending, const Expr &size);
/// Lifts `callee` over the names that operands have beyond their formals. `gradient`, if given, is
/// the function that computes the derivative; with `checkpoint`, it recomputes the callee. No
/// values on failure.
llvm::SmallVector<mlir::Value> buildCall(mlir::OpBuilder &builder, mlir::Location loc,
                                         mlir::func::FuncOp callee, mlir::ValueRange inputs,
                                         mlir::func::FuncOp gradient = {}, bool checkpoint = false);
/// The results of `callee`, then the gradients of the arguments at `wrt`. No values on failure.
llvm::SmallVector<mlir::Value> buildVjp(mlir::OpBuilder &builder, mlir::Location loc,
                                        mlir::func::FuncOp callee, mlir::ValueRange inputs,
                                        mlir::ValueRange cotangents, llvm::ArrayRef<int64_t> wrt);
/// The results of `callee`, then the tangents of those with float elements. No values on failure.
llvm::SmallVector<mlir::Value> buildJvp(mlir::OpBuilder &builder, mlir::Location loc,
                                        mlir::func::FuncOp callee, mlir::ValueRange inputs,
                                        mlir::ValueRange tangents, llvm::ArrayRef<int64_t> wrt);

} // namespace heddle::nd

#endif // HEDDLE_DIALECTS_ND_NDBUILD_H
