//===- Choices.h - random layouts, schedules and fusion ---------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What passes would choose, drawn instead: any legal choice must give the same values.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_LAWS_CHOICES_H
#define HEDDLE_TEST_UNIT_LAWS_CHOICES_H

#include "test/unit/laws/Dice.h"

#include "dialects/nest/NestBuild.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace heddle::laws {

/// A layout that is legal for these sizes: any order, some names blocked, merged, padded.
Layout drawLayout(Dice &dice, const Sizes &sizes);

/// Draws schedules of nest.compute and, if asked for, layouts of arguments and of what top-level
/// nests make.
void drawChoices(mlir::func::FuncOp function, Dice &dice, bool layouts);

/// Marks nests as to be materialised, or computed again at each use.
void drawFusion(mlir::func::FuncOp function, Dice &dice);

} // namespace heddle::laws

#endif // HEDDLE_TEST_UNIT_LAWS_CHOICES_H
