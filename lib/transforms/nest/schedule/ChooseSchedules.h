//===- ChooseSchedules.h - schedules every nest -----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `nest-choose-schedules` writes a schedule on each nest that has none, including those in groups
// and scans, by an analytical model of the machine (schedule/ChooseSchedule.h). Layouts are chosen
// before: a schedule depends on the nest, the layouts of the values that it accesses, and the
// machine.
//
//     %y = nest.compute (row: 64, column: 64) reads %x[] { ... }
//         {layouts = [#nest.layout<[row, column]>]}
//
//       becomes the same with
//
//     schedule = #nest.schedule<[thread row by 32, cache row by 1, cache column by 16,
//                                vector column by 1]>
//
// It also schedules the copies that emission adds (schedule/CopySchedules.h).
//
// The compiler runs it on kernels (lib/conversion/nest_to_steps/OutlineKernels.h): once on each
// distinct nest.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_SCHEDULE_CHOOSESCHEDULES_H
#define HEDDLE_LIB_TRANSFORMS_NEST_SCHEDULE_CHOOSESCHEDULES_H

#include "lib/transforms/nest/schedule/ChooseSchedule.h"

namespace heddle::nest {

/// The kernel of a nest, which has the nest's schedules.
inline constexpr StringLiteral kernelAttrName("heddle.kernel");

/// Schedules `root`, if it is a nest, and all nests in it without a kernel.
void chooseSchedules(Operation *root, const cost::Machine &machine);

/// Writes the number of chunks (lib/analysis/Chunks.h) on the nest, if the nest has a schedule.
void writeChunks(Operation *nest);

/// The costs of other schedules of a nest with layouts (schedule/ChooseSchedule.h).
std::vector<OtherSchedule> otherSchedules(Operation *nest, const cost::Machine &machine);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_SCHEDULE_CHOOSESCHEDULES_H
