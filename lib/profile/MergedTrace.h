//===- MergedTrace.h - the timeline of all ranks ----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Merges the profiles of all ranks into one Chrome trace, with a group of rows per rank: its steps
// and its transfers.
//
//     CallOptions options{.profile = &profile, .job = job};
//     ...
//     std::string trace = mergedTrace(*job, profile);      // on all ranks
//     if (job->rank() == 0)
//       writeAtomically("trace.json", trace);
//
// Clocks of hosts differ. The ranks first wait for each other and take that moment as a common
// zero, which is exact up to the latency of a message.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_PROFILE_MERGEDTRACE_H
#define HEDDLE_LIB_PROFILE_MERGEDTRACE_H

#include "lib/profile/Profile.h"
#include "runtime/control/Job.h"

namespace heddle {

/// The merged trace on rank 0, an empty string on other ranks. All ranks call it. Throws JobError,
/// and Error if the events of a profile exceed 64 MiB.
std::string mergedTrace(Job &job, const Profile &profile);

} // namespace heddle

#endif // HEDDLE_LIB_PROFILE_MERGEDTRACE_H
