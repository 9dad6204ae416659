//===- Passes.td - from nd to nests ------------------------*- tablegen -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_CONVERSION_ND_TO_NEST_PASSES_TD
#define HEDDLE_CONVERSION_ND_TO_NEST_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertNdToNestPass : Pass<"convert-nd-to-nest", "::mlir::func::FuncOp"> {
  let summary = "lowers nd ops to loop nests over named iteration spaces";
  let description = [{
    Pointwise ops and reductions become `nest.compute`, scatters `nest.update` and scans `nest.scan`. Windows, slices
    and pads become maps and guards of the nests that read them. Constants are kept. Emits an error at an op that has no
    lowering.
  }];
  let dependentDialects = ["::heddle::nest::NestDialect", "::mlir::arith::ArithDialect"];
}

#endif // HEDDLE_CONVERSION_ND_TO_NEST_PASSES_TD
