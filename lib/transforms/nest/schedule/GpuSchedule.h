//===- GpuSchedule.h - schedules for blocks of lanes ------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses schedules in the lane form (lib/analysis/GpuLanes.h) for a machine whose blocks have
// lanes (`lanes_per_block`):
//
//     products, convolutions    a tile of sums in the registers of each lane; what lanes share is
//                               staged in shared memory, by `secondsOf` of lib/cost/LaneBlocks.h
//     reductions                neighbouring lanes read neighbouring elements; lanes share sums if
//                               there are few of them, or if neighbours are reduced
//     points                    neighbouring lanes have neighbouring vectors
//     updates                   neighbouring lanes write neighbouring elements; each element has
//                               one lane, which combines its values in the order of the loops
//
//     (m: 1024, n: 1024) reduce (k: 1024)
//     [block m by 64, block n by 64, loop k by 16, lane m by 4, lane n by 4, loop k by 1,
//      register m by 1, vector n by 1], stages of both operands at k in "shared"
//
// How a sum is split follows from sizes, layouts and constants here, not from the machine.
//
// The nests of a group or recurrence run within one block, so that fewer sums are enough for its
// lanes. They leave half of the shared memory for the values between them.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_NEST_SCHEDULE_GPUSCHEDULE_H
#define HEDDLE_TRANSFORMS_NEST_SCHEDULE_GPUSCHEDULE_H

#include "dialects/nest/Nest.h"

namespace heddle::nest {

/// The most lanes of a block of all schedules but those of products.
inline constexpr int64_t mostLanes = 256;

/// Returns a schedule of a nest whose accesses (reads in the order of the operands, then results)
/// have `layouts`; none if the machine has no lanes, or the nest too little for them.
std::optional<Schedule> chooseGpuSchedule(ComputeOp op, std::vector<Layout> layouts,
                                          MachineAttr machine);
/// Returns a schedule of an update whose destination has `layout`.
std::optional<Schedule> chooseGpuSchedule(UpdateOp op, const Layout &layout, MachineAttr machine);
/// Returns a schedule of a sort, whose lanes share the elements of a line.
std::optional<Schedule> chooseGpuSchedule(SortOp op, MachineAttr machine);

/// Returns the loops with which `lanes` lanes copy a box from `from`: neighbours copy neighbouring
/// elements, by up to 16 bytes.
std::vector<Loop> chooseLaneCopy(ComputeOp copy, const Layout &from, int64_t lanes);

} // namespace heddle::nest

#endif // HEDDLE_TRANSFORMS_NEST_SCHEDULE_GPUSCHEDULE_H
