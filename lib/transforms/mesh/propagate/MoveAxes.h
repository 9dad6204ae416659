//===- MoveAxes.h - moves axes where that sends less ------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Propagation gives a nest the axes that reach it first, or that were stated first. Another operand
// may have the same axes at another name:
//
//     nest.compute (batch: 64, expert: 8, out: 512) reduce (in: 512) reads %x[], %w[]
//         %x {batch: [data]}, %w {expert: [data]}, the nest {batch: [data]}
//
// gathers %w. If the nest has the axes at `expert` instead, %x {batch, expert, in} moves by a
// mesh.all_to_all, which sends only a part of it. If %x has no such name, it is gathered instead of
// %w, if that more than halves the time. So axes move from name to name of a nest while that
// reduces the time in which a device sends (lib/cost/Transfer.h) for its operands, its sums, and
// the readers of its results; a scattered sum counts half. A move of one nest may pay only if its
// neighbours follow, so chains of moves are tried (Kernighan and Lin, "An efficient heuristic
// procedure for partitioning graphs", 1970).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_PROPAGATE_MOVEAXES_H
#define HEDDLE_LIB_TRANSFORMS_MESH_PROPAGATE_MOVEAXES_H

#include "lib/cost/Network.h"
#include "lib/transforms/mesh/propagate/PropagationGraph.h"

namespace heddle::mesh {

/// Moves axes of nests. Each chain of moves reduces the total time of transfers.
void moveAxes(PropagationGraph &links, const cost::Network &network);

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_PROPAGATE_MOVEAXES_H
