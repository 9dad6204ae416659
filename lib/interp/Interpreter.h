//===- Interpreter.h - the oracle -------------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The oracle: a slow, simple evaluator of nd and nest. Compiled programs are compared with it, so
// it shares no code with the passes: it evaluates each op by its definition, point by point, with
// exact integers and with floats that have error bounds (Scalar.h).
//
//     FailureOr<SmallVector<TensorValue>> results = interpret(func, arguments);
//     Comparison c = compare((*results)[0], whatTheCompiledProgramGave);
//
// Sizes may contain symbols, which are bound from the arguments' sizes. Check ops are evaluated; a
// failing one is reported at its location, and `interpret` fails at the end. `nd.vjp` (expand it
// first), ops of other dialects and tensors that are too large are rejected with a located error.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_INTERP_INTERPRETER_H
#define HEDDLE_LIB_INTERP_INTERPRETER_H

#include "lib/interp/TensorValue.h"

namespace heddle::interp {

/// Runs `func` on the arguments, in order; `known` has values of symbols that the arguments' sizes
/// do not determine. Fails after reporting an error.
FailureOr<SmallVector<TensorValue>> interpret(func::FuncOp func, ArrayRef<TensorValue> arguments,
                                              const ExprMap &known = {});
/// The results of an op whose operands are literals and whose sizes are constant.
FailureOr<SmallVector<TensorValue>> interpretLiterals(Operation *op);

/// Values of the size symbols of a function, from its formal types and its arguments' types, and
/// from `known` for symbols that these do not determine.
FailureOr<ExprMap> bindSymbols(func::FuncOp func, ArrayRef<nd::NdTensorType> arguments,
                               ExprMap known = {});

} // namespace heddle::interp

#endif // HEDDLE_LIB_INTERP_INTERPRETER_H
