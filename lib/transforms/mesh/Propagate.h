//===- Propagate.h - chooses the sharding of every value --------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names of values and iteration names of nests are linked where a nest reads (or writes) a name of a
// tensor at exactly one iteration name of the same size:
//
//     nest.compute (m: 8, n: 4) reduce (k: 6) reads %a[], %b[j = n]     %a.k - k - %b.k,  %b.j - n
//
// Axes spread along links, in both directions, from the shardings that are stated. In each round all
// names look at the state of the round before, so that the order of ops does not matter. Where
// several names of one value or nest could have an axis, that one gets it whose neighbours hold the
// most bytes that then need not move; a reduced name pays for the reduction over devices. Ties are
// decided by the order of names, which are canonical here (nd-neutral-names), and of axes.
// MoveAxes.h then settles where axes of one operand came first and those of another would be cheaper.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_PROPAGATE_H
#define HEDDLE_LIB_TRANSFORMS_MESH_PROPAGATE_H

#include "lib/transforms/mesh/Explain.h"

namespace heddle::mesh {

/// Writes `mesh.sharding` to the nests, arguments and results of a function of nests, and tells why.
mlir::LogicalResult propagate(mlir::func::FuncOp function, MeshAttr mesh, Tell tell = {});

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_PROPAGATE_H
