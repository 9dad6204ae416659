//===- Passes.h - passes on nests -------------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each pass is described in Passes.cpp in a line; what it does is a free function in the header of the same name.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_PASSES_H
#define HEDDLE_LIB_TRANSFORMS_NEST_PASSES_H

#include "mlir/Pass/Pass.h"

namespace heddle::nest {

std::unique_ptr<mlir::Pass> createNestAssignLayoutsPass();
std::unique_ptr<mlir::Pass> createNestFusePass();
std::unique_ptr<mlir::Pass> createNestMaterializeGuardsPass();
std::unique_ptr<mlir::Pass> createNestSplitReductionsPass();

/// Registers all of them for tools.
void registerNestPasses();

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_PASSES_H
