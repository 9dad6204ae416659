//===- NdInference.h - the types that ops have ------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From operands and attributes to the type of the result. Verifiers, the builder API and passes
// share these functions, so that a rule stands once. A failure has said why, with whole name sets,
// through `emitError`.
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

/// An error of `op` with a note where each operand comes from, so that both sides of a mismatch are
/// shown (one note for operands of equal types, and at most 8).
mlir::InFlightDiagnostic operandError(mlir::Operation *op);
/// The notes of `operandError`.
void noteOperands(mlir::InFlightDiagnostic &error, mlir::ValueRange operands);
/// A note at the place of `definition`: "'@f' is defined here".
void noteDefinition(mlir::InFlightDiagnostic &error, mlir::func::FuncOp definition);

/// Sizes are computed in 64 bits: `size`, found in a wider range, must be at least 0 and so small
/// that nothing overflows.
mlir::LogicalResult requireSize(llvm::StringRef name, double size, EmitError emitError);
/// `size` of the dimension `name` has as many terms as an expression may have (Expr.h).
mlir::LogicalResult requireTerms(llvm::StringRef name, const Expr &size, EmitError emitError);
/// A bound of the absolute values of `expr` and its parts where names have those that `of` gives, or
/// 1: while it is small, no coefficient wraps around.
double magnitude(
    const Expr &expr,
    llvm::function_ref<double(const std::string &)> of = [](auto &) { return 1.0; });
/// The size `expr` after a substitution of symbols is neither negative nor too large.
mlir::LogicalResult requireSubstituted(llvm::StringRef name, const Expr &expr,
                                       const ExprMap &symbols, EmitError emitError);

/// A literal fits its tensor: `order` permutes the tensor's names, the sizes in that order are the
/// shape of `value` (a splat may have any), whose elements have the scalar type.
mlir::LogicalResult verifyLiteral(NdTensorType type, mlir::ElementsAttr value,
                                  mlir::ArrayAttr order, EmitError emitError);

/// The union of names; a name with two sizes is refused.
mlir::FailureOr<DimsAttr> unionOfNames(mlir::MLIRContext *context,
                                       llvm::ArrayRef<NdTensorType> types, EmitError emitError);
/// The dimensions of `type` without `names`, which must be distinct names of it.
mlir::FailureOr<DimsAttr> withoutNames(NdTensorType type, Strings names, EmitError emitError);

/// True if the operands fall into groups that share no name (those without names aside), so that
/// a pointwise op on them is an outer product.
bool isCrossed(llvm::ArrayRef<NdTensorType> types);
/// Without `crossed` outer products are refused.
mlir::FailureOr<NdTensorType> inferPointwise(mlir::Type resultElement,
                                             llvm::ArrayRef<NdTensorType> types, bool crossed,
                                             EmitError emitError);
/// The element type stays.
mlir::FailureOr<NdTensorType> inferReduce(NdTensorType input, Strings names, EmitError emitError);
mlir::FailureOr<NdTensorType> inferScan(NdTensorType input, llvm::StringRef name,
                                        EmitError emitError);
mlir::FailureOr<NdTensorType> inferRandom(NdTensorType key, llvm::ArrayRef<Dim> order,
                                          EmitError emitError);

/// How a window places taps: `WindowOp` and `UnwindowOp` have these attributes.
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
/// False if two sizes differ whatever their symbols are.
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
/// The input's dimensions and those of `dims` that it lacks; a size that differs is refused.
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
/// Results that are as `inferSort` says, for the size of `name` that the first one has: `nd.sort`
/// and `nest.sort`.
mlir::LogicalResult verifySort(mlir::Operation *op, llvm::StringRef name, EmitError emitError);

/// The results of a call, lifted over the names that operands have beyond their formals: a result
/// has those of the operands that it depends on (all, if the callee has no body).
mlir::FailureOr<llvm::SmallVector<NdTensorType>>
inferCall(mlir::func::FuncOp callee, llvm::ArrayRef<NdTensorType> inputs, EmitError emitError);
/// Those of `types` that are tensors of floats: what has gradients and tangents.
llvm::SmallVector<mlir::Type> floatTypes(mlir::TypeRange types);

} // namespace heddle::nd

#endif // HEDDLE_DIALECTS_ND_NDINFERENCE_H
