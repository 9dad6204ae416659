//===- Choices.h - random schedules and fusion ------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Draws the decisions of passes at random: any legal choice must give the same values.
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

/// The number of drawn loops of each level, of unrolled ones ("unroll"), and of stages: "stage1",
/// "stage2" and "shared1", "shared2" by the number of buffers; of those whose copies have drawn
/// loops ("copy"), and of updates and scans that have ("copies").
using Drawn = std::map<std::string, int>;

/// Draws schedules of nests; drops those that the verifier refuses.
void drawSchedules(mlir::func::FuncOp function, Dice &dice, Drawn &drawn);

/// Draws schedules in the lane form (lib/analysis/GpuLanes.h), which a GPU has room for; others are
/// left to the compiler. Counts also nests "together", and "together in a block".
void drawLaneSchedules(mlir::func::FuncOp function, Dice &dice, Drawn &drawn);

/// Sets layouts on arguments and nests, except of values that are updated in place: blocked,
/// merged, interleaved, bordered, swizzled, with sizes that no block divides. Returns their number.
int drawLayouts(mlir::func::FuncOp function, Dice &dice);

/// Marks nests to be materialised, or to be recomputed at each use.
void drawFusion(mlir::func::FuncOp function, Dice &dice);

/// Sets attributes that callers may set on arguments and results: layouts, and arguments donated to
/// results. Returns their number.
int drawSignature(mlir::func::FuncOp function, Dice &dice);

} // namespace heddle::laws

#endif // HEDDLE_TEST_UNIT_LAWS_CHOICES_H
