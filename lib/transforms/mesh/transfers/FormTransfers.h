//===- FormTransfers.h - collectives that move whole buffers ----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An engine (runtime/collectives) moves contiguous memory, one range per member of a group. So
// before layouts are chosen, collectives are rewritten such that each member's part is one point of
// a name, `mesh$member`, which layouts then make outermost:
//
//     %y = mesh.all_gather %x name k        %p = nest.compute p[mesh$member: 1, k: 3] = x[k]
//         : (<k: 3>) -> <k: 5>          ->  %g = mesh.all_gather %p name mesh$member
//                                           %y = nest.compute
//                                             y[k: 5] = g[mesh$member = k floordiv 3, k = k mod 3]
//
// The nests around a transfer are fused like others. An all-reduce is a transfer already, in any
// layout. Custom combiners, and those of several values, become a gather and a reduction. In a
// group of one device nothing moves, and each result is an operand.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_TRANSFERS_FORMTRANSFERS_H
#define HEDDLE_LIB_TRANSFORMS_MESH_TRANSFERS_FORMTRANSFERS_H

#include "dialects/mesh/MeshDialect.h"
#include "runtime/format/Communication.h"

namespace heddle::mesh {

/// Rewrites the collectives of the function as transfers.
void formTransfers(func::FuncOp function);

/// Describes a transfer, or a message between roles, to the engine that runs it. `layout` is the
/// layout of its operand. Members and counts are expressions over the size symbols.
CommunicationSpec communicationOf(Operation *transfer, const Layout &layout);

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_TRANSFERS_FORMTRANSFERS_H
