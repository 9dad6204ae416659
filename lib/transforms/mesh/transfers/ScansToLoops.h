//===- ScansToLoops.h - loops of recurrences that communicate ---*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A recurrence is one kernel, which can't communicate. One that contains collectives becomes a loop
// of steps; the carried tensors are the condition, the coordinate, those of the recurrence and its
// outputs:
//
//     %h, %all = nest.scan along <t: 7>     ->   %c, %i, %h, %all = nest.control [@f.scan]
//       init(%h0) reads(%x) { ... }                %true, %zero, %h0, %empty, %x
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_TRANSFERS_SCANSTOLOOPS_H
#define HEDDLE_LIB_TRANSFORMS_MESH_TRANSFERS_SCANSTOLOOPS_H

#include "dialects/mesh/MeshDialect.h"

namespace heddle::mesh {

/// True if the recurrence communicates, or its steps are expensive.
bool becomesLoop(nest::ScanOp scan);
/// Rewrites such recurrences of the function as loops, whose bodies become functions.
void lowerScansToLoops(func::FuncOp function, MeshAttr mesh);

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_TRANSFERS_SCANSTOLOOPS_H
