//===- ResolvedOptions.h - what is known before a compilation ---*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The target, the facts of the machine and the cache of a compilation. The options and the module
// determine it; an error in them is reported before any pass runs.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_COMPILE_RESOLVEDOPTIONS_H
#define HEDDLE_LIB_COMPILE_RESOLVEDOPTIONS_H

#include "dialects/nest/Nest.h"
#include "lib/compile/Compile.h"
#include "lib/compile/KernelCache.h"
#include "lib/cost/Machine.h"
#include "lib/target/Target.h"

namespace heddle {

struct ResolvedOptions {
  std::shared_ptr<const Target> target;
  nest::MachineAttr machine; ///< as the target and the user state it: of code, and of cache keys
  nest::MachineAttr facts;   ///< of these, those that the user states; may be null
  nest::MachineAttr stated;  ///< for passes: without the number of threads
  cost::Machine choices;     ///< the same for schedules and steps, as extensions adjust it
  cost::Machine timed;       ///< for predicted times, which affect no code
  std::optional<KernelCache> cache;

  const KernelCache *kept() const { return cache ? &*cache : nullptr; }
};

/// Checks the signatures of entries and the facts that the module states.
FailureOr<ResolvedOptions> resolveOptions(ModuleOp module, const CompileOptions &options);

} // namespace heddle

#endif // HEDDLE_LIB_COMPILE_RESOLVEDOPTIONS_H
