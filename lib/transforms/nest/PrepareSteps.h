//===- PrepareSteps.h - every value gets a nest of its own ------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `nest-prepare-steps` rewrites functions of nests until each op is what the runtime runs as one
// step, and each result a buffer of its own:
//
//     return %x, %y, %y        becomes        %0 = nest.compute (...) reads %x[] ... (a copy)
//                                             %1 = nest.compute (...) reads %y[] ...
//                                             return %0, %y, %1
//
// - A function returns each value once, and none that is an argument, a constant or the result of a
//   branch or loop: those are copied.
// - Constants of one value that are large, or of symbolic size, are filled in by a nest.
// - A constant that only branches and loops are given lies as these take it.
// - What overwrites a donated argument comes after all other readers of the argument.
// - Each branch and loop has functions of its own; recursion is refused.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_NEST_PREPARESTEPS_H
#define HEDDLE_TRANSFORMS_NEST_PREPARESTEPS_H

#include "dialects/nest/Nest.h"

#include "mlir/IR/BuiltinOps.h"

namespace heddle::nest {

/// Fails with a located message where a branch or loop runs itself, where they are nested too deep,
/// or where copies of their functions would be too many ops.
mlir::LogicalResult prepareSteps(mlir::ModuleOp module);

/// A nest that copies `value`, called `copy`.
ComputeOp createCopy(mlir::OpBuilder &builder, mlir::Value value);

/// On copies of what branches and loops make: such a copy is left out where the original may be made
/// in its place.
inline constexpr llvm::StringLiteral phiCopyAttrName("heddle.phi_copy");

} // namespace heddle::nest

#endif // HEDDLE_TRANSFORMS_NEST_PREPARESTEPS_H
