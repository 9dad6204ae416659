//===- MeshSyntax.h - directives of the assembly formats --------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECTS_MESH_MESHSYNTAX_H
#define HEDDLE_DIALECTS_MESH_MESHSYNTAX_H

#include "dialects/mesh/MeshDialect.h"

namespace heddle::mesh {
using nd::parseName;
using nd::printName;

/// `[data, model]`
mlir::ParseResult parseAxisList(mlir::OpAsmParser &parser, AxesAttr &axes);
void printAxisList(mlir::OpAsmPrinter &printer, Operation *, AxesAttr axes);
/// `combine add [0.0 : f32]`, as of a nest
mlir::ParseResult parseCombiner(mlir::OpAsmParser &parser, mlir::Region &region,
                                ArrayAttr &neutral);
void printCombiner(mlir::OpAsmPrinter &printer, Operation *, mlir::Region &region,
                   ArrayAttr neutral);

/// Fails with a message unless the place is coordinates of axes of the mesh, or of their parts,
/// which do not overlap with each other or with the `other` axes of a value.
LogicalResult verifyPlace(MeshAttr mesh, ArrayRef<AxisCoordinate> place, AxisList other,
                          llvm::function_ref<mlir::InFlightDiagnostic()> emitError);
} // namespace heddle::mesh

#endif // HEDDLE_DIALECTS_MESH_MESHSYNTAX_H
