//===- ProbeLinks.h - measures the links between ranks ----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Measures all-reduces of several sizes between the ranks of a job, and fits what a topology states
// (lib/planner/Topology.h). An engine may move data by the cores that also compute. So each
// all-reduce is measured twice: alone, and beside a computation. Then threads of the engine move
// the data, and their processor time is what the computation lacks:
//
//     8 MB alone                          5 ms        the link
//     8 MB beside a computation           4 ms        of the core
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_PROBELINKS_H
#define HEDDLE_TOOLS_PROBELINKS_H

#include "runtime/control/Job.h"

#include <vector>

namespace heddle {

/// Seconds of transfers of `bytes` bytes, `start + bytes * perByte`.
struct FittedTime {
  double start = 0, perByte = 0;
};

struct MeasuredTransfer {
  double bytes = 0;   ///< that a rank sends
  double seconds = 0; ///< alone
  double ofCores = 0; ///< processor time beside a computation
};

/// All ranks call it. Returns the measurements of this rank.
std::vector<MeasuredTransfer> measureTransfers(Job &job);

/// Least squares of relative errors, with numbers of at least 0. `what`: the measured seconds.
FittedTime fit(const std::vector<MeasuredTransfer> &all, double MeasuredTransfer::*what);

} // namespace heddle

#endif // HEDDLE_TOOLS_PROBELINKS_H
