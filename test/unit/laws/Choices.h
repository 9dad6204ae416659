//===- Choices.h - random schedules and fusion ------------------*- C++ -*-===//
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

#include <map>
#include <string>

namespace heddle::laws {

/// How many loops were drawn of each level, "unroll" where they are unrolled, and how many stages:
/// "stage1", "stage2" and "shared1", "shared2" by the number of buffers.
using Drawn = std::map<std::string, int>;

/// Draws schedules of nests; what the verifier refuses is left to the compiler.
void drawSchedules(mlir::func::FuncOp function, Dice &dice, Drawn &drawn);

/// Writes layouts on arguments and nests, but for what is updated in place: blocked, merged,
/// interleaved, bordered, swizzled, with sizes that no block divides. Says how many.
int drawLayouts(mlir::func::FuncOp function, Dice &dice);

/// Marks nests as to be materialised, or computed again at each use.
void drawFusion(mlir::func::FuncOp function, Dice &dice);

/// Says of arguments and results what callers may: how some lie, which arguments are given up to
/// results. Says of how many.
int drawSignature(mlir::func::FuncOp function, Dice &dice);

} // namespace heddle::laws

#endif // HEDDLE_TEST_UNIT_LAWS_CHOICES_H
