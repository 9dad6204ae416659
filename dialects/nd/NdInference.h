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

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace heddle::nd {

using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;
using Strings = llvm::ArrayRef<llvm::StringRef>;

/// `{column: 3, row: N}`
std::string namesText(llvm::ArrayRef<Dim> dims);
inline std::string namesText(DimsAttr dims) { return namesText(dims.getDims()); }
/// The strings of a list of names.
llvm::SmallVector<llvm::StringRef> stringsOf(mlir::ArrayAttr names);

/// An error of `op` with a note at the origin of each operand, so that both sides of a mismatch are
/// shown (one note for operands of equal types, at most 8).
mlir::InFlightDiagnostic operandError(mlir::Operation *op);
/// Attaches the notes of `operandError`.
void noteOperands(mlir::InFlightDiagnostic &error, mlir::ValueRange operands);
/// Attaches a note at the location of `definition`: "'@f' is defined here".
void noteDefinition(mlir::InFlightDiagnostic &error, mlir::func::FuncOp definition);

/// Requires that `size`, which was computed in a wider range, is at least 0 and small enough for
/// 64-bit arithmetic.
mlir::LogicalResult requireSize(llvm::StringRef name, double size, EmitError emitError);
/// Requires that the size of `name` has no more terms than an expression may have (Expr.h).
mlir::LogicalResult requireTerms(llvm::StringRef name, const Expr &size, EmitError emitError);
/// A bound of the absolute values of `expr` and its parts, given a bound of each name (default 1).
/// While it is small, no coefficient wraps.
double magnitude(
    const Expr &expr,
    llvm::function_ref<double(const std::string &)> of = [](auto &) { return 1.0; });
/// Requires that the size `expr` is neither negative nor too large after substituting `symbols`.
mlir::LogicalResult requireSubstituted(llvm::StringRef name, const Expr &expr,
                                       const ExprMap &symbols, EmitError emitError);

/// Verifies that a literal matches its tensor: `order` permutes the tensor's names, and `value` has
/// the sizes in that order (a splat may have any shape) and elements of the scalar type.
mlir::LogicalResult verifyLiteral(NdTensorType type, mlir::ElementsAttr value,
                                  mlir::ArrayAttr order, EmitError emitError);

/// The union of names; rejects a name with two sizes.
mlir::FailureOr<DimsAttr> unionOfNames(mlir::MLIRContext *context,
                                       llvm::ArrayRef<NdTensorType> types, EmitError emitError);
/// The dimensions of `type` without `names`, which must be distinct names of it.
mlir::FailureOr<DimsAttr> withoutNames(NdTensorType type, Strings names, EmitError emitError);

/// True if a pointwise op on the operands is an outer product: they form sets that share no name,
/// ignoring operands without names.
bool isCrossed(llvm::ArrayRef<NdTensorType> types);
/// Rejects outer products unless `crossed` is set.
mlir::FailureOr<NdTensorType> inferPointwise(mlir::Type resultElement,
                                             llvm::ArrayRef<NdTensorType> types, bool crossed,
                                             EmitError emitError);
/// The result has the element type of the input.
mlir::FailureOr<NdTensorType> inferReduce(NdTensorType input, Strings names, EmitError emitError);
mlir::FailureOr<NdTensorType> inferScan(NdTensorType input, llvm::StringRef name,
                                        EmitError emitError);
mlir::FailureOr<NdTensorType> inferRandom(NdTensorType key, llvm::ArrayRef<Dim> order,
                                          EmitError emitError);

/// The attributes of `nd.window` and `nd.unwindow`: tap k of window o reads element
/// o * stride + k * dilation - low.
struct WindowShape {
  llvm::StringRef name, tap;
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
mlir::FailureOr<NdTensorType> inferWindow(NdTensorType input, const WindowShape &shape,
                                          EmitError emitError);
/// From the windowed tensor and the size of `shape.name` before.
mlir::FailureOr<NdTensorType> inferUnwindow(NdTensorType input, const WindowShape &shape,
                                            const Expr &size, EmitError emitError);
/// False if two sizes differ for all values of their symbols.
bool mayEqual(const Expr &a, const Expr &b);
mlir::FailureOr<NdTensorType> inferSlice(NdTensorType input, llvm::StringRef name,
                                         const Expr &start, const Expr &size, int64_t stride,
                                         EmitError emitError);
mlir::FailureOr<NdTensorType> inferPad(NdTensorType input, llvm::StringRef name, const Expr &low,
                                       const Expr &high, int64_t interior, EmitError emitError);
mlir::FailureOr<NdTensorType> inferConcat(llvm::ArrayRef<NdTensorType> inputs, llvm::StringRef name,
                                          EmitError emitError);
mlir::FailureOr<NdTensorType> inferSplit(NdTensorType input, llvm::StringRef name,
                                         llvm::ArrayRef<Dim> into, EmitError emitError);
mlir::FailureOr<NdTensorType> inferMerge(NdTensorType input, Strings names, llvm::StringRef into,
                                         EmitError emitError);
mlir::FailureOr<NdTensorType> inferRename(NdTensorType input, Strings from, Strings to,
                                          EmitError emitError);
/// Adds the dimensions of `dims` that the input lacks; rejects different sizes.
mlir::FailureOr<NdTensorType> inferBroadcast(NdTensorType input, llvm::ArrayRef<Dim> dims,
                                             EmitError emitError);
mlir::FailureOr<NdTensorType> inferGather(NdTensorType input, llvm::ArrayRef<NdTensorType> indices,
                                          Strings names, EmitError emitError);
mlir::FailureOr<NdTensorType> inferDynamicSlice(NdTensorType input, NdTensorType start,
                                                llvm::StringRef name, const Expr &size,
                                                EmitError emitError);
mlir::FailureOr<NdTensorType> inferUpdateSlice(NdTensorType part, NdTensorType destination,
                                               NdTensorType start, llvm::StringRef name,
                                               EmitError emitError);
/// The types that operands have once sorted along `name`, of which the first `size` are kept.
mlir::FailureOr<llvm::SmallVector<NdTensorType>> inferSort(llvm::ArrayRef<NdTensorType> inputs,
                                                           llvm::StringRef name, const Expr &size,
                                                           EmitError emitError);
/// Verifies that the results of `nd.sort` or `nest.sort` have the types of `inferSort` for the size
/// of `name` in the first result.
mlir::LogicalResult verifySort(mlir::Operation *op, llvm::StringRef name, EmitError emitError);

/// The results of a call, lifted over the names that operands have beyond their formals: a result
/// gets those of the operands on which it depends (all operands, if the callee has no body).
mlir::FailureOr<llvm::SmallVector<NdTensorType>>
inferCall(mlir::func::FuncOp callee, llvm::ArrayRef<NdTensorType> inputs, EmitError emitError);
/// The tensors of floats among `types`, which have gradients and tangents.
llvm::SmallVector<mlir::Type> floatTypes(mlir::TypeRange types);

} // namespace heddle::nd

#endif // HEDDLE_DIALECTS_ND_NDINFERENCE_H
