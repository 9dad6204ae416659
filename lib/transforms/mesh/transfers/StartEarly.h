//===- StartEarly.h - starts transfers as early as possible -----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A transfer overlaps with the steps between its start and the first use of its result. So the
// nests that compute its operand move up to where their own operands are available, and the
// transfer follows them. In the backward pass of a layer the gradient of the weight then precedes
// that of the input, which needs no transfer:
//
//     %dx = nest.compute reads %dy[], %w[]      %dw = nest.compute reads %dy[], %x[]
//     %dw = nest.compute reads %dy[], %x[]      %g  = mesh.all_reduce %dw
//     %g  = mesh.all_reduce %dw                 %dx = nest.compute reads %dy[], %w[]
//
// The order of transfers does not change, because all devices share it. Nothing moves up to a
// transfer whose result it uses: it would have to wait.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_TRANSFERS_STARTEARLY_H
#define HEDDLE_LIB_TRANSFORMS_MESH_TRANSFERS_STARTEARLY_H

#include "lib/support/Mlir.h"

namespace heddle::mesh {

void startEarly(func::FuncOp function);

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_TRANSFERS_STARTEARLY_H
