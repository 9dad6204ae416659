//===- CallOptions.h - options of a call ------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_PROGRAM_CALLOPTIONS_H
#define HEDDLE_RUNTIME_PROGRAM_CALLOPTIONS_H

#include "runtime/device/ThreadTeam.h"
#include "runtime/program/Observers.h"
#include "runtime/program/SizedEntry.h"

namespace heddle {

class Job;

/// Options of a call.
struct CallOptions {
  std::shared_ptr<ThreadTeam> team;       ///< null: that of the job, or the shared team
  std::shared_ptr<MemoryManager> manager; ///< null: the default manager
  bool managed = false;                   ///< allocate each temporary separately, without an arena
  StepObserver *profile = nullptr;        ///< learns when every step began, if not null
  SuppliedNumbers supplied = {};          ///< for entries with `EntrySpec::supplied`
  /// If not null, all ranks of the job make this call: they compare it first, and the failure of
  /// one rank ends it on all (control/Job.h).
  std::shared_ptr<Job> job = nullptr;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_PROGRAM_CALLOPTIONS_H
