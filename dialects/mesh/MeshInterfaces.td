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
    An op that all devices of a group run together. The devices of a group differ only along the op's axes.
  }];
  let methods = [
    InterfaceMethod<"The axes along which the devices of a group differ.", "::heddle::mesh::AxesAttr", "getAxes">,
    InterfaceMethod<[{
      The number of rounds of a large transfer (runtime/collectives): a device sends the messages of a round at once, and
      begins the next one when it has those of others.
    }], "int64_t", "getRounds">,
    InterfaceMethod<[{
      Builds the meaning of the op: nests over operands that have the axes of the mesh as names (`axisSymbol`), in which
      the collective is a reduction, a gather or a renaming over these names. Returns one value for each result.
    }], "::llvm::SmallVector<::mlir::Value>", "buildMeaning",
    (ins "::mlir::OpBuilder &":$builder, "::heddle::mesh::MeshAttr":$mesh, "::mlir::ValueRange":$operands)>
  ];
  let extraSharedClassDeclaration = [{
    /// The number of devices in a group.
    int64_t getParts() { return ::heddle::mesh::partsOf(::heddle::mesh::meshOf($_op), $_op.getAxes().getAxes()); }
  }];
  let verify = "return ::heddle::mesh::verifyGroup($_op, ::llvm::cast<ConcreteOp>($_op).getAxes().getAxes());";
}

def Mesh_MessageInterface : OpInterface<"MessageInterface"> {
  let cppNamespace = "::heddle::mesh";
  let description = [{ One end of a message between two roles. }];
  let methods = [
    InterfaceMethod<"The axis whose coordinates are the roles.", "::heddle::mesh::AxesAttr", "getAxis">,
    InterfaceMethod<"The other role.", "int64_t", "getCoordinate">,
    InterfaceMethod<"The number of the channel, equal at both ends.", "int64_t", "getChannel">
  ];
  let extraSharedClassDeclaration = [{
    bool sends() { return $_op->getNumOperands() > 0; }
    /// The tensor that is sent or received.
    ::mlir::Value getMoved() { return sends() ? $_op->getOperand(0) : $_op->getResult(0); }
  }];
  let verify = "return ::heddle::mesh::verifyMessage(::llvm::cast<MessageInterface>($_op));";
}

#endif // HEDDLE_MESH_INTERFACES_TD
