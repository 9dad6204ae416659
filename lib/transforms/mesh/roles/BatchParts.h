//===- BatchParts.h - the parts of a batch that ops belong to ---*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step that trains on the parts of a batch (micro-batches) has all of them in one block: first
// the forward and backward pass of part 0, then those of part 1, and so on; then it adds the
// gradients. No op says which part it is of. This is found by what it reads:
//
//     @step(%x0, %y0, %x1, %y1, %w) -> (%w') {               part, pass
//       %h0 = nest.compute reads %x0, %w                     0, forward
//       %g0 = nest.compute reads %h0, %y0, %w  gradient      0, backward
//       %h1 = nest.compute reads %x1, %w                     1, forward
//       %g1 = nest.compute reads %h1, %y1, %w  gradient      1, backward
//       %g = nest.compute reads %g0, %g1                     1, backward
//       %w' = nest.compute reads %w, %g                      1, backward
//
// Arguments that are no states (%x0 and %y0, not %w) are of one part if an op combines them for a
// gradient: reverse mode made it (nd::isGradient), or a gradient depends on it. What is computed
// from gradients by other ops combines parts. An op is of the last part that it depends on, and of
// the backward pass if it is, or depends on, a gradient.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_ROLES_BATCHPARTS_H
#define HEDDLE_LIB_TRANSFORMS_MESH_ROLES_BATCHPARTS_H

#include "lib/support/Mlir.h"

namespace heddle::mesh {

struct BatchParts {
  struct Place {
    int part = -1; ///< -1: it depends on none, such as a cast of a parameter
    bool isBackward = false;
  };
  int count = 0; ///< 0 if there are no gradients
  DenseMap<Operation *, Place> ops;

  static BatchParts of(func::FuncOp function);
};

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_ROLES_BATCHPARTS_H
