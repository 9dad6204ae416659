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
} // namespace heddle::mesh

#endif // HEDDLE_DIALECTS_MESH_MESHSYNTAX_H
