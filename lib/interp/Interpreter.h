//===- Interpreter.h - the oracle -------------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The oracle: a slow, obvious evaluator of nd and nest. Compiled programs are held against it, so
// it shares nothing with the passes that make them: it reads each op's description and does what
// that says, point by point, with exact integers and floats that carry error bounds (Scalar.h).
//
//     FailureOr<SmallVector<TensorValue>> results = interpret(func, arguments);
//     Comparison c = compare((*results)[0], whatTheCompiledProgramGave);
//
// Sizes may mention symbols: these are bound from the arguments' sizes. Check ops are evaluated;
// one that fails is reported at its location, and `interpret` fails at the end. Also refused with a
// located error: `nd.vjp` (expand it first), ops of other dialects, tensors too large for this.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_INTERP_INTERPRETER_H
#define HEDDLE_LIB_INTERP_INTERPRETER_H

#include "lib/interp/TensorValue.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace heddle::interp {

/// Runs `func`, whose arguments are given in order; `known` are values of symbols that the
/// arguments' sizes leave open. Errors have been reported where it fails.
mlir::FailureOr<llvm::SmallVector<TensorValue>> interpret(mlir::func::FuncOp func,
                                                          llvm::ArrayRef<TensorValue> arguments,
                                                          const ExprMap &known = {});
/// The results of an op whose operands are literals and whose sizes are constant.
mlir::FailureOr<llvm::SmallVector<TensorValue>> interpretLiterals(mlir::Operation *op);

/// Values of the size symbols of a function, from its formal types and its arguments' types, and
/// from `known` for those that these leave open.
mlir::FailureOr<ExprMap> bindSymbols(mlir::func::FuncOp func,
                                     llvm::ArrayRef<nd::NdTensorType> arguments,
                                     ExprMap known = {});

} // namespace heddle::interp

#endif // HEDDLE_LIB_INTERP_INTERPRETER_H
