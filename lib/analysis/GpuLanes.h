//===- GpuLanes.h - nests that the lanes of a block run together *- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A device with lanes runs a chunk of a nest in one of two ways:
//
//     lanes of a block together     each lane runs its steps of the `warp` and `lane` loops, sums
//                                   stay in its registers, and copies are in shared memory
//     one lane alone                the lane runs all loops one after another
//
// The first one is the lane form. A schedule has it if
//   - the loops of each lane are known: a name with a size that is a symbol has a loop around its
//     lanes whose steps have a constant size;
//   - sums stay in registers: no sequential loop over a reduced name is around one over a produced
//     name;
//   - copies are in memory that the lanes share;
//   - a lane's part of a sum is a single point, a vector, or a loop;
//   - a lane of an update writes one point at a time;
//   - those of a sort are over the sorted name.
//
// A group or a recurrence has it if one of its nests does. The lanes of the block run its nests one
// after another and wait for each other in between. A nest without the form is then run by the
// first lane, while the others wait:
//
//     nest.group (n: 512) {
//       %m = () reduce (k: 1000)      256 lanes share the sum
//       %e = (k: 1000)                256 lanes
//       %r = () of %m                 the first lane
//     }
//
// All other schedules run as before, one lane alone.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ANALYSIS_GPULANES_H
#define HEDDLE_ANALYSIS_GPULANES_H

#include "dialects/nest/Nest.h"

namespace heddle::nest {

struct ScheduledLoops;

struct LaneForm {
  int64_t lanes = 0;      ///< of a block; 0: no lane form
  std::string lacks = {}; ///< what the schedule lacks for the lane form; "": it has it, or nothing
                          ///< to share
  int64_t registers = 0;  ///< of 32 bits, for the sums of a lane

  explicit operator bool() const { return lanes > 1; }
};

/// The lane form of a nest with a schedule.
LaneForm laneFormOf(Operation *nest, MachineAttr machine);
/// The lane form that a nest would have with this schedule.
LaneForm laneFormOf(ComputeOp op, const Schedule &schedule, MachineAttr machine);
LaneForm laneFormOf(UpdateOp op, const Schedule &schedule, MachineAttr machine);

/// True if two lanes of an update may write the same element: they have points of a name that is
/// not free.
bool lanesMeet(UpdateOp op, const ScheduledLoops &loops);

} // namespace heddle::nest

#endif // HEDDLE_ANALYSIS_GPULANES_H
