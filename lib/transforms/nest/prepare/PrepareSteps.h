//===- PrepareSteps.h - makes each nest a step ------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `nest-prepare-steps` rewrites functions of nests so that the runtime can run each op as one step,
// and each result has a separate buffer:
//
//     return %x, %y, %y        becomes        %0 = nest.compute (...) reads %x[] ... (a copy)
//                                             %1 = nest.compute (...) reads %y[] ...
//                                             return %0, %y, %1
//
// - A function returns each value once, and no arguments, constants or results of branches or
//   loops: those are copied. The same holds for groups and scans, which also copy the results of
//   updates.
// - A nest fills splat constants that are large or of symbolic size.
// - A constant that only branches and loops use has the layout that they expect.
// - An op that overwrites a donated argument comes after all other readers of the argument.
// - Each branch and loop has its own functions; recursion is rejected.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_PREPARE_PREPARESTEPS_H
#define HEDDLE_LIB_TRANSFORMS_NEST_PREPARE_PREPARESTEPS_H

#include "dialects/nest/Nest.h"

namespace heddle::nest {

/// Fails with a located message if a branch or loop calls itself, if they are nested too deep, or
/// if the copies of their functions would have too many ops.
LogicalResult prepareSteps(ModuleOp module);

/// Makes the groups and scans in `root` yield only values that their nests compute, each once;
/// others are copied.
void copyYielded(Operation *root);

/// True for a splat constant that is large or of symbolic size; program files do not store its
/// elements.
bool isFilled(nd::LiteralInterface constant);
/// Creates a nest named `fill` that writes all elements of a splat constant.
ComputeOp createFill(OpBuilder &builder, nd::LiteralInterface constant);

/// Creates a nest named `copy` that copies `value`.
ComputeOp createCopy(OpBuilder &builder, Value value);

/// Marks phi copies, which copy the results of branches and loops. A phi copy is elided if the
/// original can be computed directly into its buffer.
inline constexpr StringLiteral phiCopyAttrName("heddle.phi_copy");

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_PREPARE_PREPARESTEPS_H
