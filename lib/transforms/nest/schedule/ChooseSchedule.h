//===- ChooseSchedule.h - schedules from an analytical model ----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses the loops of a nest from the layouts of the values that it accesses:
//
//     nest.compute (m: 1024, n: 1024) reduce (k: 1024) reads %a[], %b[]     all row-major, AVX-512
//
//     [thread n by 512, loop k by 256, cache m by 14, cache n by 32, loop k by 1, register m by 1,
//      register n by 16, vector n by 1], stage %b at k ...
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_NEST_SCHEDULE_CHOOSESCHEDULE_H
#define HEDDLE_TRANSFORMS_NEST_SCHEDULE_CHOOSESCHEDULE_H

#include "lib/analysis/NestAnalysis.h"
#include "lib/cost/Machine.h"

namespace heddle::nest {

/// Returns a legal schedule for a nest with known layouts, by an analytical model of the machine.
Schedule chooseSchedule(Operation *nest, ArrayRef<Layout> operandLayouts,
                        ArrayRef<Layout> resultLayouts, const cost::Machine &machine);

/// A schedule of another kind than the chosen one: with other register tiles, or with or without a
/// matrix unit.
struct OtherSchedule {
  std::string what;  ///< the difference
  double cycles = 0; ///< more than the chosen schedule takes, by the model
};
/// For explanations: searches again, without the chosen kind. Returns none if the schedule is not
/// searched.
std::vector<OtherSchedule> otherSchedules(Operation *nest, ArrayRef<Layout> operandLayouts,
                                          ArrayRef<Layout> resultLayouts,
                                          const cost::Machine &machine);

/// Returns a legal schedule for an update, whose destination has `layout`.
Schedule chooseUpdateSchedule(UpdateOp op, const Layout &layout, const cost::Machine &machine);

} // namespace heddle::nest

#endif // HEDDLE_TRANSFORMS_NEST_SCHEDULE_CHOOSESCHEDULE_H
