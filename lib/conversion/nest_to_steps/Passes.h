//===- Passes.h - from nests to steps ---------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiler calls `outline` and `planMemory` directly, since steps are not IR; the passes show
// their decisions as attributes.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_CONVERSION_NEST_TO_STEPS_PASSES_H
#define HEDDLE_CONVERSION_NEST_TO_STEPS_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace heddle {

#define GEN_PASS_DECL
#include "lib/conversion/nest_to_steps/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "lib/conversion/nest_to_steps/Passes.h.inc"

} // namespace heddle

#endif // HEDDLE_CONVERSION_NEST_TO_STEPS_PASSES_H
