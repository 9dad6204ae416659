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
  let summary = "lowers named-dimension ops to loop nests";
  let description = [{
    Each op of nd becomes a nest over named iteration spaces: pointwise ops and reductions `nest.compute`, windows, slices and pads
    maps and guards of the nests that read them, scatters `nest.update`, recurrences `nest.scan`. Constants stay. Refuses ops without
    a lowering, at their place.
  }];
  let dependentDialects = ["::heddle::nest::NestDialect", "::mlir::arith::ArithDialect"];
}

#endif // HEDDLE_CONVERSION_ND_TO_NEST_PASSES_TD
