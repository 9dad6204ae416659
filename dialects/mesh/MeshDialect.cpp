//===- MeshDialect.cpp - registration and generated definitions -----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/mesh/MeshSyntax.h"
#include "dialects/nest/NestSyntax.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace heddle::mesh;

#include "dialects/mesh/MeshDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/mesh/MeshAttrs.cpp.inc"
#include "dialects/mesh/MeshInterfaces.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/mesh/MeshOps.cpp.inc"

namespace {
/// In a program with a mesh, the steps of recurrences may be divided over devices.
struct DividesSteps : heddle::nest::DividesStepsInterface {
  using DividesStepsInterface::DividesStepsInterface;
  bool divides(mlir::Operation *scan) const override { return bool(meshOf(scan)); }
};
} // namespace

void MeshDialect::initialize() {
  addInterfaces<DividesSteps>();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/mesh/MeshAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/mesh/MeshOps.cpp.inc"
      >();
}

mlir::ParseResult heddle::mesh::parseCombiner(mlir::OpAsmParser &parser, mlir::Region &region,
                                              mlir::ArrayAttr &neutral) {
  return mlir::failure(parser.parseKeyword("combine") ||
                       nest::parseCombine(parser, region, neutral, YieldOp::getOperationName()));
}

void heddle::mesh::printCombiner(mlir::OpAsmPrinter &printer, mlir::Operation *,
                                 mlir::Region &region, mlir::ArrayAttr neutral) {
  nest::printCombine(printer, region, neutral);
}
