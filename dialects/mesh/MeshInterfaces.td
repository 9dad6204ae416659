//===- MeshInterfaces.td - interfaces of collectives -------*- tablegen -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_MESH_INTERFACES_TD
#define HEDDLE_MESH_INTERFACES_TD

include "mlir/IR/OpBase.td"

def Mesh_CollectiveInterface : OpInterface<"CollectiveInterface"> {
  let cppNamespace = "::heddle::mesh";
  let description = [{
    An op that all devices of a group run together. The devices of a group differ in the op's axes only.
  }];
  let methods = [
    InterfaceMethod<"The axes along which the devices of a group differ.", "::heddle::mesh::AxesAttr", "getAxes">,
    InterfaceMethod<[{
      Builds the meaning of the op: nests over operands that have the axes of the mesh as names (`axisSymbol`), in which
      the collective is a reduction, a gather or a renaming over these names. Returns one value for each result.
    }], "::llvm::SmallVector<::mlir::Value>", "buildMeaning",
    (ins "::mlir::OpBuilder &":$builder, "::heddle::mesh::MeshAttr":$mesh, "::mlir::ValueRange":$operands)>,
    InterfaceMethod<[{
      The number of blocks that a device sends, for `parts` devices in a group, and the number of names along which they are
      blocks: of these the operand or the result has the whole.
    }], "std::pair<double, int>", "getSentBlocks", (ins "int64_t":$parts)>
  ];
  let verify = "return ::heddle::mesh::verifyGroup($_op, ::llvm::cast<ConcreteOp>($_op).getAxes().getAxes());";
}

#endif // HEDDLE_MESH_INTERFACES_TD
