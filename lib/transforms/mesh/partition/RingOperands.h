//===- RingOperands.h - passes operands around a ring -----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A nest may need the whole of an operand that is split. On a mesh of `data: 4`, with %x {batch:
// [data]} and %w {in: [data]},
//
//     nest.compute (batch: 64, out: 512) reduce (in: 512) reads %x[], %w[]
//
// would gather %w. If that is large, its blocks are passed around a ring instead. A device
// processes its own block first, and in each turn a block that it receives from the next device:
//
//     %s, %b = nest.scan along <mesh$turn: 3> init(%own, %w) {
//       %next = mesh.permute %b over [data] shift 1 wrap
//       %p = nest.compute (batch: 16, out: 512) reduce (in: 128) reads %x's part[], %next[]
//       %s + %p, %next
//     }
//
// Blocks along a produced name are written to their part of the result. This sends as many bytes as
// a gather, and holds two blocks instead of all.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_PARTITION_RINGOPERANDS_H
#define HEDDLE_LIB_TRANSFORMS_MESH_PARTITION_RINGOPERANDS_H

#include "lib/transforms/mesh/partition/LocalSpace.h"
#include "lib/transforms/mesh/partition/Reshard.h"

namespace heddle::mesh {

struct Ring {
  unsigned read;    ///< index of the read whose operand is passed around
  std::string name; ///< the split name of the operand
  std::string at;   ///< the iteration name at which the nest reads it
  AxisList axes;
};

/// The ring for one of the nest's operands; none if no operand would be gathered to `leastBytes`.
std::optional<Ring> ringOf(nest::ComputeOp op, const LocalSpace &space,
                           function_ref<LocalValue(Value)> lookup, double leastBytes);

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_PARTITION_RINGOPERANDS_H
