//===- Explain.h - why values are split as they are -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Remarks for `--explain`: where the axes of each value come from, which ones it could have had, and
// what each collective moves.
//
//     remark: {batch: [data]}: 'batch' has [data] as the argument 'x'; 'in' could have [data] (it keeps
//             1024 bytes in place, 'batch' 4096)
//     remark: mesh.all_reduce over [data]: each device sends 512 bytes
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_EXPLAIN_H
#define HEDDLE_LIB_TRANSFORMS_MESH_EXPLAIN_H

#include "dialects/mesh/Mesh.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace heddle::mesh {
struct Links;

/// Why the values of a function have their axes.
void explainShardings(mlir::func::FuncOp function, const Links &links);
/// The bytes that a device sends in each collective of its program, at typical sizes.
void explainCollectives(mlir::func::FuncOp function, MeshAttr mesh);
/// The bytes that a device sends in one call of the program's collectives.
double bytesSent(mlir::Operation *collective, MeshAttr mesh);

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_EXPLAIN_H
