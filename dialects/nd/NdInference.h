//===- NdInference.h - type inference ---------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes the type of an op's result from its operands and attributes. Verifiers, the builder API
// and passes share these functions. A function that fails has reported the reason through
// `emitError`, with whole name sets.
//
//     inferReduce({batch: 2, row: 3, column: 4}, [row, column])  ->  {batch: 2}
//     inferPointwise({row: 3, column: 4}, {row: 3, k: 5})        ->  {column: 4, k: 5, row: 3}
//     inferPointwise({row: 3}, {row: 4})  ->  error "the name 'row' has size 3 in ..."
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECTS_ND_NDINFERENCE_H
#define HEDDLE_DIALECTS_ND_NDINFERENCE_H

#include "dialects/nd/Nd.h"

namespace heddle::nd {

using EmitError = function_ref<mlir::InFlightDiagnostic()>;
using Strings = ArrayRef<StringRef>;

/// `{column: 3, row: N}`
std::string namesText(ArrayRef<Dim> dims);
inline std::string namesText(DimsAttr dims) { return namesText(dims.getDims()); }
/// The strings of a list of names.
SmallVector<StringRef> stringsOf(ArrayAttr names);

/// An error of `op` with a note at the origin of each operand, so that both sides of a mismatch are
/// shown (one note for operands of equal types, at most 8).
mlir::InFlightDiagnostic operandError(Operation *op);
/// Attaches the notes of `operandError`.
void noteOperands(mlir::InFlightDiagnostic &error, ValueRange operands);
/// Attaches a note at the location of `definition`: "'@f' is defined here".
void noteDefinition(mlir::InFlightDiagnostic &error, func::FuncOp definition);

/// Requires that `size`, which was computed in a wider range, is at least 0 and small enough for
/// 64-bit arithmetic.
LogicalResult requireSize(StringRef name, double size, EmitError emitError);
/// Requires that the size of `name` has no more terms than an expression may have (Expr.h).
LogicalResult requireTerms(StringRef name, const Expr &size, EmitError emitError);
/// A bound of the absolute values of `expr` and its parts, given a bound of each name (default 1).
/// While it is small, no coefficient wraps.
double magnitude(
    const Expr &expr, function_ref<double(const std::string &)> of = [](auto &) { return 1.0; });
/// Requires that the size `expr` is neither negative nor too large after substituting `symbols`.
LogicalResult requireSubstituted(StringRef name, const Expr &expr, const ExprMap &symbols,
                                 EmitError emitError);

/// Verifies that a literal matches its tensor: `order` permutes the tensor's names, and `value` has
/// the sizes in that order (a splat may have any shape) and elements of the scalar type.
LogicalResult verifyLiteral(NdTensorType type, mlir::ElementsAttr value, ArrayAttr order,
                            EmitError emitError);

/// The union of names; rejects a name with two sizes.
FailureOr<DimsAttr> unionOfNames(MLIRContext *context, ArrayRef<NdTensorType> types,
                                 EmitError emitError);
/// The dimensions of `type` without `names`, which must be distinct names of it.
FailureOr<DimsAttr> withoutNames(NdTensorType type, Strings names, EmitError emitError);

/// True if a pointwise op on the operands is an outer product: they form sets that share no name,
/// ignoring operands without names.
bool isCrossed(ArrayRef<NdTensorType> types);
/// Rejects outer products unless `crossed` is set.
FailureOr<NdTensorType> inferPointwise(Type resultElement, ArrayRef<NdTensorType> types,
                                       bool crossed, EmitError emitError);
/// The result has the element type of the input.
FailureOr<NdTensorType> inferReduce(NdTensorType input, Strings names, EmitError emitError);
FailureOr<NdTensorType> inferScan(NdTensorType input, StringRef name, EmitError emitError);
FailureOr<NdTensorType> inferRandom(NdTensorType key, ArrayRef<Dim> order, EmitError emitError);

/// The attributes of `nd.window` and `nd.unwindow`: tap k of window o reads element
/// o * stride + k * dilation - low.
struct WindowShape {
  StringRef name, tap;
  int64_t size = 1, stride = 1, dilation = 1, low = 0, high = 0;
};
template <typename Op>
WindowShape windowShape(Op op) {
  return {op.getName(),
          op.getTap(),
          int64_t(op.getSize()),
          int64_t(op.getStride()),
          int64_t(op.getDilation()),
          int64_t(op.getLow()),
          int64_t(op.getHigh())};
}
/// The size of the windowed name: (N + low + high - (size - 1) * dilation - 1) floordiv stride + 1.
Expr windowedSize(const Expr &size, const WindowShape &shape);
FailureOr<NdTensorType> inferWindow(NdTensorType input, const WindowShape &shape,
                                    EmitError emitError);
/// From the windowed tensor and the size of `shape.name` before.
FailureOr<NdTensorType> inferUnwindow(NdTensorType input, const WindowShape &shape,
                                      const Expr &size, EmitError emitError);
/// False if two sizes differ for all values of their symbols.
bool mayEqual(const Expr &a, const Expr &b);
FailureOr<NdTensorType> inferSlice(NdTensorType input, StringRef name, const Expr &start,
                                   const Expr &size, int64_t stride, EmitError emitError);
FailureOr<NdTensorType> inferPad(NdTensorType input, StringRef name, const Expr &low,
                                 const Expr &high, int64_t interior, EmitError emitError);
FailureOr<NdTensorType> inferConcat(ArrayRef<NdTensorType> inputs, StringRef name,
                                    EmitError emitError);
FailureOr<NdTensorType> inferSplit(NdTensorType input, StringRef name, ArrayRef<Dim> into,
                                   EmitError emitError);
FailureOr<NdTensorType> inferMerge(NdTensorType input, Strings names, StringRef into,
                                   EmitError emitError);
FailureOr<NdTensorType> inferRename(NdTensorType input, Strings from, Strings to,
                                    EmitError emitError);
/// Adds the dimensions of `dims` that the input lacks; rejects different sizes.
FailureOr<NdTensorType> inferBroadcast(NdTensorType input, ArrayRef<Dim> dims, EmitError emitError);
FailureOr<NdTensorType> inferGather(NdTensorType input, ArrayRef<NdTensorType> indices,
                                    Strings names, EmitError emitError);
FailureOr<NdTensorType> inferDynamicSlice(NdTensorType input, NdTensorType start, StringRef name,
                                          const Expr &size, EmitError emitError);
FailureOr<NdTensorType> inferUpdateSlice(NdTensorType part, NdTensorType destination,
                                         NdTensorType start, StringRef name, EmitError emitError);
/// The types that operands have once sorted along `name`, of which the first `size` are kept.
FailureOr<SmallVector<NdTensorType>> inferSort(ArrayRef<NdTensorType> inputs, StringRef name,
                                               const Expr &size, EmitError emitError);
/// Verifies that the results of `nd.sort` or `nest.sort` have the types of `inferSort` for the size
/// of `name` in the first result.
LogicalResult verifySort(Operation *op, StringRef name, EmitError emitError);

/// The results of a call, lifted over the names that operands have beyond their formals: a result
/// gets those of the operands on which it depends (all operands, if the callee has no body).
FailureOr<SmallVector<NdTensorType>> inferCall(func::FuncOp callee, ArrayRef<NdTensorType> inputs,
                                               EmitError emitError);
/// The tensors of floats among `types`, which have gradients and tangents.
SmallVector<Type> floatTypes(TypeRange types);

} // namespace heddle::nd

#endif // HEDDLE_DIALECTS_ND_NDINFERENCE_H
