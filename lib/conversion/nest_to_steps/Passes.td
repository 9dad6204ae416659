//===- Passes.td - from nests to steps ---------------------*- tablegen -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_CONVERSION_NEST_TO_STEPS_PASSES_TD
#define HEDDLE_CONVERSION_NEST_TO_STEPS_PASSES_TD

include "mlir/Pass/PassBase.td"

def NestOutlineKernelsPass : Pass<"nest-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "copies each distinct nest to a private function, a kernel";
  let description = [{
    Requires `nest-prepare-steps`. Copies operands of transfers, branches and loops to the layouts that these need, and
    adds a private function for each distinct nest. Its names are labels in canonical order, so nests that differ only
    in names have one function. The attribute `heddle.kernel` of a nest refers to it, and `heddle.numbers` lists the
    size symbols that it gets as arguments. `nest-choose-schedules` then schedules the functions, and no nest that
    refers to one.
  }];
  let dependentDialects = ["::heddle::nest::NestDialect", "::mlir::arith::ArithDialect"];
}

def NestPlanMemoryPass : Pass<"nest-plan-memory", "::mlir::ModuleOp"> {
  let summary = "plans memory and attaches the buffers of results to nests";
  let description = [{
    Runs `nest-prepare-steps`, builds the steps of public functions, and plans their memory as the compiler does. Each
    nest gets the attribute `heddle.memory`, a dictionary for each of its results:

    - `offset` and `bytes`: a buffer in the arena, in bytes. With symbolic sizes the offset is the one for typical
      sizes.
    - `alias = "x"`: the buffer of the argument or result `x` of the function; `alias = 3`: the buffer of a result of
      step 3.
    - `buffer = "y"`: the result `y` of the function, which the caller allocates.
    - `live = [first, last]`: the live range of the buffer, in steps.

    A function gets `heddle.arena = [bytes, least]`: the size of the arena, and its lower bound, the most bytes that are
    live at a step.
  }];
  let dependentDialects = ["::heddle::nest::NestDialect"];
}

#endif // HEDDLE_CONVERSION_NEST_TO_STEPS_PASSES_TD
