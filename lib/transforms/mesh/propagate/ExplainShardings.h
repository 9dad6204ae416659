//===- ExplainShardings.h - explains shardings and collectives --*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reports where the axes of each value come from, which axes it could have had, and how many bytes
// each collective moves. `--explain` prints remarks; the table in a program file has the same as
// rows (runtime/format/ShardingTable.h):
//
//     remark: {batch: [data]}: 'batch' has [data] as the argument 'x'; 'in' could have [data] (it
//             keeps 1024 bytes in place, 'batch' 4096)
//     remark: mesh.all_gather over [data]: each device sends 512 bytes, 128 of them padding
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_PROPAGATE_EXPLAINSHARDINGS_H
#define HEDDLE_LIB_TRANSFORMS_MESH_PROPAGATE_EXPLAINSHARDINGS_H

#include "dialects/mesh/MeshDialect.h"

namespace heddle::mesh {
struct PropagationGraph;

/// A function attribute with rows for collectives: [location, kind, axes, bytes, padding]. Rows for
/// values, [location, name, type, sharding, reasons], are in `nd::notesAttrName`.
inline constexpr StringLiteral collectivesAttrName = "mesh.collectives";

/// The form of the report.
struct Tell {
  bool explain = false; ///< remarks
  bool record = false;  ///< rows
};
/// Reports where the axes of a function's values come from. Its arguments have their shardings.
void describeShardings(func::FuncOp function, const PropagationGraph &links, Tell tell);
/// Reports the bytes that a device sends in each collective of its program, at typical sizes.
/// Padding is the part of blocks beyond the size of the name that moves.
void describeCollectives(func::FuncOp function, MeshAttr mesh, Tell tell);
/// Reports, in remarks, what the program of a role sends to other roles.
void explainMessages(func::FuncOp role);

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_PROPAGATE_EXPLAINSHARDINGS_H
