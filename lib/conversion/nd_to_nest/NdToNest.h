//===- NdToNest.h - lowers nd ops to loop nests -----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every nd op becomes one nest: arithmetic keeps its region, and index maps become reads through
// maps and guards. Nothing is fused, except that a reduction includes the windows without padding
// that it reads, since it has to exclude their outside points. Calls and gradient requests must be
// expanded before.
//
//     %w = nd.window %x row -> ky size 3 pad 1, 1 value 0.0 : f32
//     becomes   nest.compute (ky: 3, row: 8)
//                   reads %x[row = ky + row - 1] if [ky + row - 1 >= 0, 8 - ky - row >= 0] else 0.0
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_CONVERSION_ND_TO_NEST_NDTONEST_H
#define HEDDLE_LIB_CONVERSION_ND_TO_NEST_NDTONEST_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace heddle {

#define GEN_PASS_DECL
#include "lib/conversion/nd_to_nest/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "lib/conversion/nd_to_nest/Passes.h.inc"

} // namespace heddle

#endif // HEDDLE_LIB_CONVERSION_ND_TO_NEST_NDTONEST_H
