//===- CopySchedules.h - schedules of copies that emission adds -*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emission adds copies that are not nests of the program: of the operands that a schedule stages,
// of the destination of an update that is not in place, and of the state that a scan carries. Their
// loops are chosen like those of other nests, and written before emission:
//     nest.compute ...    {schedule = #nest.schedule<[...], [stage 1 at 0 in #nest.layout<[k, n]>
//                                                            copy [cache k by 1, vector n by 1]]>}
//     nest.update ...     {copies = [#nest.schedule<[cache row by 1, vector column by 1]>], ...}
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_NEST_SCHEDULE_COPYSCHEDULES_H
#define HEDDLE_TRANSFORMS_NEST_SCHEDULE_COPYSCHEDULES_H

#include "lib/cost/Machine.h"

namespace heddle::nest {

/// Schedules the copies of a scheduled nest. Written schedules are kept.
void scheduleCopies(Operation *nest, const cost::Machine &machine);

} // namespace heddle::nest

#endif // HEDDLE_TRANSFORMS_NEST_SCHEDULE_COPYSCHEDULES_H
