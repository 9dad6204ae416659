//===- OrderOps.h - the order in which roles run ops ------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Roles run at the same time. In the order of a program one of them may wait for a value although ops
// that follow could run. With two micro-batches, whose forward passes are F and backward passes B,
//
//     stage=0:  F0          B0 F1          B1          stage=0:  F0 F1    B0       B1
//     stage=1:     F0 B0          F1 B1          ->    stage=1:     F0 B0 F1 B1
//
// The ops of all roles are ordered by the time when they start, if each role that is free starts the
// first op of the program whose operands are there. An op takes the time of the cost model
// (`secondsOf`), and a value that is sent none. As the order of the program decides among ops that can
// start, B0 precedes F2 where both can run: a role keeps no more values for backward passes than it
// computes while it would wait.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_ORDEROPS_H
#define HEDDLE_LIB_TRANSFORMS_MESH_ORDEROPS_H

#include "lib/transforms/mesh/PlaceOps.h"

namespace heddle::mesh {

/// Orders the ops of the function's body.
void orderOps(mlir::func::FuncOp function, const PlacedOps &placed);

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_ORDEROPS_H
