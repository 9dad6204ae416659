//===- MergedTrace.h - the timeline of all ranks ----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each rank has a profile of its calls. Together they are one Chrome trace with a group of rows for
// each rank: its steps, and its transfers.
//
//     CallOptions options{.profile = &profile, .job = job};
//     ...
//     std::string trace = mergedTrace(*job, profile);      // on all ranks
//     if (job->rank() == 0)
//       writeAtomically("trace.json", trace);
//
// Clocks of hosts differ. The ranks wait for each other first, and take the moment when they have
// all come as one; it is so within the time of a message.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_CONTROL_MERGEDTRACE_H
#define HEDDLE_RUNTIME_CONTROL_MERGEDTRACE_H

#include "runtime/control/Job.h"
#include "runtime/program/Profile.h"

namespace heddle {

/// The trace of all ranks on rank 0, nothing on the others. All ranks call it. Throws JobError, and
/// Error for a profile of more than 64 MiB of events.
std::string mergedTrace(Job &job, const Profile &profile);

} // namespace heddle

#endif // HEDDLE_RUNTIME_CONTROL_MERGEDTRACE_H
