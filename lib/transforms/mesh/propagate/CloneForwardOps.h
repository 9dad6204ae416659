//===- CloneForwardOps.h - computes values again for gradients --*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan's rule `recompute PATTERN` names operators whose values are not kept for the backward
// pass:
//
//     %h = nest.compute reads %x[], %w[]           %h = nest.compute reads %x[], %w[]
//     ...                                          ...
//                                         ->       %y = nd.after %x, %g
//                                                  %v = nd.after %w, %g
//                                                  %k = nest.compute reads %y[], %v[]
//     %d = nest.compute reads %g[], %h[]           %d = nest.compute reads %g[], %k[]
//
// The nests of these operators are repeated before the first gradient that reads them. They read
// what was kept: values of other operators and arguments. Gradients that read what the operators of
// the rules make from each other read repeated nests alike. `nd.after` holds them back until the
// gradient %g is known; without it, equal nests would be merged. A value that the first gradient of
// the backward pass reads is kept, since it is read at once.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_PROPAGATE_CLONEFORWARDOPS_H
#define HEDDLE_LIB_TRANSFORMS_MESH_PROPAGATE_CLONEFORWARDOPS_H

#include "lib/support/Mlir.h"

#include "llvm/ADT/DenseSet.h"

namespace heddle::mesh {

/// Repeats these ops, which are in the function's block, for the gradients that read them.
void cloneForwardOps(func::FuncOp function, const DenseSet<Operation *> &ops);

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_PROPAGATE_CLONEFORWARDOPS_H
