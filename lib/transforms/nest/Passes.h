//===- Passes.h - passes on nests -------------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes.td describes each pass. A pass calls a free function that the header of the same name
// declares, which other code may call too.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_NEST_PASSES_H
#define HEDDLE_TRANSFORMS_NEST_PASSES_H

#include "dialects/nest/Nest.h"

#include "lib/transforms/nest/fuse/ExplainFusion.h"
#include "lib/transforms/nest/layout/AssignLayouts.h"

#include "mlir/Pass/Pass.h"

namespace heddle::nest {

#define GEN_PASS_DECL
#include "lib/transforms/nest/Passes.h.inc"

/// Create passes with these options.
std::unique_ptr<mlir::Pass> createNestFusePassFor(ExplainFusionOptions options);
std::unique_ptr<mlir::Pass> createNestChooseGroupsPassFor(ExplainFusionOptions options);
std::unique_ptr<mlir::Pass> createNestAssignLayoutsPassFor(AssignLayoutsOptions options);

#define GEN_PASS_REGISTRATION
#include "lib/transforms/nest/Passes.h.inc"

} // namespace heddle::nest

#endif // HEDDLE_TRANSFORMS_NEST_PASSES_H
