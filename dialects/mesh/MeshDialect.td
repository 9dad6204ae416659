//===- MeshDialect.td - device meshes ----------------------*- tablegen -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_MESH_DIALECT_TD
#define HEDDLE_MESH_DIALECT_TD

include "mlir/IR/OpBase.td"

def Mesh_Dialect : Dialect {
  let name = "mesh";
  let cppNamespace = "::heddle::mesh";
  let summary = "Device meshes, shardings and collectives by axis name";
  let description = [{
    A mesh has named axes. A sharding maps names of a tensor to lists of axes, and a device holds one block of the tensor.
    Collectives are ops on axis names.

    A function or module states its mesh, and the arguments and results of a function their shardings:

    ```mlir
    func.func @f(%x: !nd.tensor<f32, batch: 5> {mesh.sharding = #mesh.sharding<{batch: [data]}>}) -> !nd.tensor<f32>
        attributes {mesh.mesh = #mesh.mesh<data: 2, model: 2>}
    ```

    A partitioned function (`mesh-partition`) is the program of one device. Its types are those of blocks; its size
    symbols `mesh.data` and `mesh.model` (in `heddle.symbols`) are the device's coordinates; and `mesh.global` of an
    argument or result is its global type.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let dependentDialects = ["::heddle::nest::NestDialect"];
}

#endif // HEDDLE_MESH_DIALECT_TD
