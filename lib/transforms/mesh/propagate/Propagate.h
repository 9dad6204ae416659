//===- Propagate.h - chooses the sharding of every value --------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A name of a value and an iteration name of a nest are linked if the nest reads (or writes) that
// name of a tensor at exactly this iteration name, with the same size:
//
//     nest.compute (m: 8, n: 4) reduce (k: 6) reads %a[], %b[j = n]     %a.k - k - %b.k,  %b.j - n
//
// Axes spread along links, in both directions, from the stated shardings. In each round all names
// use the state of the previous round, so the order of ops does not matter. If several names of one
// value or nest could get an axis, the one whose neighbours save the most bytes of communication
// gets it; a reduced name pays for the reduction over devices. Ties are broken by the order of
// names, which are canonical here (nd-neutral-names), and of axes. MoveAxes.h then corrects nests
// whose first axes are more expensive than those of another operand.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_PROPAGATE_PROPAGATE_H
#define HEDDLE_LIB_TRANSFORMS_MESH_PROPAGATE_PROPAGATE_H

#include "lib/transforms/mesh/propagate/ExplainShardings.h"

namespace heddle::mesh {

/// Writes `mesh.sharding` to the nests, arguments and results of a function of nests, and reports
/// why.
LogicalResult propagate(func::FuncOp function, MeshAttr mesh, Tell tell = {});

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_PROPAGATE_PROPAGATE_H
