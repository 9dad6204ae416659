//===- InsertCopies.h - copies between steps --------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Adds the nests that copy values where steps of other kinds need them in another layout or buffer:
//
// - Operands of transfers and messages are copied to the layout that these move.
// - Operands of branches and loops are copied to the layouts of the called functions' arguments.
// - Phi copies: each carried operand of a loop, and each result of a called function, is copied to
//   the buffer of the branch's or loop's result. `coalesceCopies` removes most of them.
//
//     %r = nest.control [@step] %c, %x     becomes     %s = nest.compute (n: 8) reads %x[] ...
//                                                      %r = nest.control [@step] %c, %s
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_CONVERSION_NEST_TO_STEPS_INSERTCOPIES_H
#define HEDDLE_CONVERSION_NEST_TO_STEPS_INSERTCOPIES_H

#include "dialects/nest/Nest.h"

namespace heddle {

/// The layout in which a send or receive moves its tensor.
Layout layoutOfMessage(Operation *op);

/// For the public functions of a module that nest-prepare-steps has prepared. Writes the layouts of
/// all values as attributes.
void insertCopies(ModuleOp module);

} // namespace heddle

#endif // HEDDLE_CONVERSION_NEST_TO_STEPS_INSERTCOPIES_H
