//===- Instructions.h - what scalar ops cost on vectors ---------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The vector instructions that a scalar op of a nest becomes, by the kind of op alone. The unit is
// an instruction such as an addition, of which a core starts two in a cycle.
//
//     arith.addf                     1 instruction, whose result is ready after 4 cycles
//     arith.maximumf                 6: NaN passes through, and +0 is above -0
//     math.exp in f32                22: a polynomial
//     math.exp in f64                a call for each lane
//     arith.addi in i64              2, if vectors have lanes of 32 bits
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_COST_INSTRUCTIONS_H
#define HEDDLE_LIB_COST_INSTRUCTIONS_H

#include "lib/support/Mlir.h"

namespace heddle::cost {

struct Instructions {
  double vector = 0;   ///< simple instructions for each vector
  double products = 0; ///< multiply-adds for each vector
  double calls = 0;    ///< calls for each lane
  double cycles = 0;   ///< from an operand to the result; of a region, along the longest way
};

/// `laneBits`: of a vector's lanes; wider elements take several vectors.
Instructions instructionsOf(Operation &op, unsigned laneBits);
/// Returns the instructions of all ops of a region; ops that depend on coordinates alone are free.
Instructions instructionsOf(mlir::Region &region, unsigned laneBits);

} // namespace heddle::cost

#endif // HEDDLE_LIB_COST_INSTRUCTIONS_H
