//===- Meaning.h - meanings of extension ops --------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The oracle evaluates the ops of nd and nest. An op of another dialect implements `evaluate`,
// point by point and independently of its compilation (lib/transforms/nd/Expand.h):
//
//     LogicalResult SoftsignOp::evaluate(operands, results, arithmetic) {
//       for (auto [y, x] : llvm::zip(results[0].elements, operands[0]->elements))
//         y = arithmetic.div(type, x, arithmetic.add(type, exactly(1), arithmetic.abs(x)));
//       return success();
//     }
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_INTERP_MEANING_H
#define HEDDLE_LIB_INTERP_MEANING_H

#include "lib/interp/TensorValue.h"

#include "lib/interp/MeaningInterface.h.inc"

#endif // HEDDLE_LIB_INTERP_MEANING_H
