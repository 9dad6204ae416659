//===- NdInference.h - the types that ops have ------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From operands and attributes to the type of the result. Verifiers, the builder API and passes share these functions, so
// that a rule stands once. A failure has said why, with whole name sets, through `emitError`.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECTS_ND_NDINFERENCE_H
#define HEDDLE_DIALECTS_ND_NDINFERENCE_H

#include "dialects/nd/Nd.h"

namespace heddle::nd {

using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// `{column: 3, row: N}`
std::string namesText(DimsAttr dims);

/// The union of names; a name with two sizes is refused.
mlir::FailureOr<DimsAttr> unionOfNames(llvm::ArrayRef<NdTensorType> types, EmitError emitError);
/// The names of `type` without `names`, which must be distinct names of it.
mlir::FailureOr<DimsAttr> withoutNames(NdTensorType type, mlir::ArrayAttr names, EmitError emitError);

/// How a window places taps: `WindowOp` and `UnwindowOp` have these attributes.
struct WindowShape {
  llvm::StringRef name, tap;
  int64_t size = 1, stride = 1, dilation = 1, low = 0, high = 0;
};
template <typename Op>
WindowShape windowShape(Op op) {
  return {op.getName(),         op.getTap(),      int64_t(op.getSize()), int64_t(op.getStride()),
          int64_t(op.getDilation()), int64_t(op.getLow()), int64_t(op.getHigh())};
}
/// The size of the windowed name: (N + low + high - (size - 1) * dilation - 1) floordiv stride + 1.
Expr windowedSize(const Expr &size, const WindowShape &shape);
mlir::FailureOr<NdTensorType> inferWindow(NdTensorType input, const WindowShape &shape, EmitError emitError);
mlir::FailureOr<NdTensorType> inferSlice(NdTensorType input, llvm::StringRef name, int64_t start, const Expr &size,
                                       int64_t stride, EmitError emitError);
mlir::FailureOr<NdTensorType> inferPad(NdTensorType input, llvm::StringRef name, int64_t low, int64_t high,
                                     int64_t interior, EmitError emitError);
mlir::FailureOr<NdTensorType> inferConcat(llvm::ArrayRef<NdTensorType> inputs, llvm::StringRef name, EmitError emitError);
mlir::FailureOr<NdTensorType> inferSplit(NdTensorType input, llvm::StringRef name, llvm::ArrayRef<Dim> into,
                                       EmitError emitError);
mlir::FailureOr<NdTensorType> inferMerge(NdTensorType input, llvm::ArrayRef<llvm::StringRef> names, llvm::StringRef into,
                                       EmitError emitError);
mlir::FailureOr<NdTensorType> inferRename(NdTensorType input, llvm::ArrayRef<llvm::StringRef> from,
                                        llvm::ArrayRef<llvm::StringRef> to, EmitError emitError);
mlir::FailureOr<NdTensorType> inferGather(NdTensorType input, llvm::ArrayRef<NdTensorType> indices, mlir::ArrayAttr names,
                                        EmitError emitError);

} // namespace heddle::nd

#endif // HEDDLE_DIALECTS_ND_NDINFERENCE_H
