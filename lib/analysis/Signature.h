//===- Signature.h - attributes of arguments and results --------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The signature of an entry fixes the layouts of its arguments and results, and which result may
// reuse the memory of an argument:
//
//     func.func @step(%w: !nd.tensor<f32, row: 4> {nd.name = "w", heddle.donate = 0 : i64},
//                     %x: !nd.tensor<f32, row: 4> {nd.layout = "any"})
//         -> (!nd.tensor<f32, row: 4> {nd.layout = #nest.layout<[row]>})
//
// An invalid signature is rejected before any pass runs.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_ANALYSIS_SIGNATURE_H
#define HEDDLE_LIB_ANALYSIS_SIGNATURE_H

#include "lib/support/Mlir.h"

namespace heddle {

/// Checks `nd.layout` and `heddle.donate`, with a diagnostic for the first that is wrong.
LogicalResult checkSignature(func::FuncOp function);

} // namespace heddle

#endif // HEDDLE_LIB_ANALYSIS_SIGNATURE_H
