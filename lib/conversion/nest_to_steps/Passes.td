//===- Passes.td - from nests to steps ---------------------*- tablegen -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_CONVERSION_NEST_TO_STEPS_PASSES_TD
#define HEDDLE_CONVERSION_NEST_TO_STEPS_PASSES_TD

include "mlir/Pass/PassBase.td"

def NestPlanMemoryPass : Pass<"nest-plan-memory", "::mlir::ModuleOp"> {
  let summary = "writes on nests where their results lie";
  let description = [{
    Prepares functions as nest-prepare-steps does, reads steps off public ones, and plans their memory as the compiler does. Each nest gets
    `heddle.memory`, a dictionary for each of its results:

    - `offset` and `bytes`: a buffer in the arena; where sizes have symbols the offset is one for typical sizes;
    - `alias = "x"`: in the buffer of that argument or result of the function, or `alias = 3`: in that of the value of step 3;
    - `buffer = "y"`: the result `y` of the function, in memory of the caller's;
    - `live = [first, last]`: the steps between which the buffer is in use.

    `heddle.arena = [bytes, least]` on the function: the size of the arena, and the most bytes that live at one step.
  }];
  let dependentDialects = ["::heddle::nest::NestDialect"];
}

#endif // HEDDLE_CONVERSION_NEST_TO_STEPS_PASSES_TD
