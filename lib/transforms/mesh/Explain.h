//===- Explain.h - why values are split as they are -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where the axes of each value come from, which ones it could have had, and what each collective
// moves. `--explain` prints these as remarks, and the table in a program file has them as rows
// (runtime/program/ShardingTable.h):
//
//     remark: {batch: [data]}: 'batch' has [data] as the argument 'x'; 'in' could have [data] (it keeps
//             1024 bytes in place, 'batch' 4096)
//     remark: mesh.all_gather over [data]: each device sends 512 bytes, 128 of them padding
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_EXPLAIN_H
#define HEDDLE_LIB_TRANSFORMS_MESH_EXPLAIN_H

#include "dialects/mesh/Mesh.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace heddle::mesh {
struct Links;

/// The rows for collectives, an attribute of a function: [location, kind, axes, bytes, padding]. Those
/// for values, [location, name, type, sharding, reasons], are `nd::notesAttrName`.
inline constexpr llvm::StringLiteral collectivesAttrName = "mesh.collectives";

/// How descriptions reach the user.
struct Tell {
  bool explain = false; ///< remarks
  bool record = false;  ///< rows
};
/// Why the values of a function, whose arguments have their shardings, have their axes.
void describeShardings(mlir::func::FuncOp function, const Links &links, Tell tell);
/// The bytes that a device sends in each collective of its program, at typical sizes. Padding is what
/// blocks have beyond the size of the name that moves.
void describeCollectives(mlir::func::FuncOp function, MeshAttr mesh, Tell tell);
/// Says in remarks what the program of a role sends to other roles.
void explainMessages(mlir::func::FuncOp role);

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_EXPLAIN_H
