//===- Plans.h - random meshes and shardings --------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Draws the mesh and the rules by which the plan law, and the order law, split a program.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_LAWS_PLANS_H
#define HEDDLE_TEST_UNIT_LAWS_PLANS_H

#include "test/unit/laws/Dice.h"

#include "mlir/IR/BuiltinOps.h"

namespace heddle::laws {

/// States a mesh of 1 to 12 devices in the module, and shardings of some arguments and results of
/// @main.
void drawPlan(mlir::ModuleOp module, Dice &dice, int64_t least = 1, int64_t most = 12);

} // namespace heddle::laws

#endif // HEDDLE_TEST_UNIT_LAWS_PLANS_H
