//===- MeshAttrs.td - meshes, axes, shardings --------------*- tablegen -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_MESH_ATTRS_TD
#define HEDDLE_MESH_ATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "dialects/mesh/MeshDialect.td"

class Mesh_Attr<string name, string attrMnemonic> : AttrDef<Mesh_Dialect, name> {
  let mnemonic = attrMnemonic;
  let hasCustomAssemblyFormat = 1;
}

def Mesh_MeshAttr : Mesh_Attr<"Mesh", "mesh"> {
  let summary = "the devices of a program: named axes with sizes";
  let description = [{
    The order of the axes numbers the devices: the last axis varies fastest.

    Constraints: (m1) distinct names; (m2) sizes of at least 1, at most 2^20 devices.

    ```mlir
    #mesh.mesh<data: 2, model: 4>
    ```
  }];
  let parameters = (ins AttrParameter<"::heddle::MeshSpec", "axes with sizes", "const ::heddle::MeshSpec &">:$spec);
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The number of devices along an axis; none if there is no such axis.
    std::optional<int64_t> size(::llvm::StringRef axis) const;
    int64_t devices() const { return getSpec().ranks(); }
    /// The names of the axes, for messages.
    std::string str() const;
  }];
}

def Mesh_AxesAttr : Mesh_Attr<"Axes", "axes"> {
  let summary = "a list of axes or sub-axes of a mesh, the first one outermost";
  let description = [{
    `data(2)3` is the sub-axis of 3 parts that follows a sub-axis of 2: on an axis of 12 devices it is the coordinate
    `data floordiv 2 mod 3`.

    ```mlir
    #mesh.axes<[data, model]>   #mesh.axes<[data(1)2]>
    ```
  }];
  let parameters = (ins AttrParameter<"::heddle::AxisList", "axes", "::llvm::ArrayRef<::heddle::AxisPart>">:$axes);
  let skipDefaultBuilders = 1;
  let builders = [AttrBuilder<(ins "::llvm::ArrayRef<::heddle::AxisPart>":$axes), [{ return $_get($_ctxt, axes.vec()); }]>];
  let extraClassDeclaration = [{
    bool empty() const { return getAxes().empty(); }
    std::string str() const;
  }];
}

def Mesh_ShardingAttr : Mesh_Attr<"Sharding", "sharding"> {
  let summary = "how a tensor is split over the devices of a mesh";
  let description = [{
    Each name has a list of axes, which split its coordinates into blocks of `ceil(size / parts)`; the last blocks may
    be shorter or empty. Devices that do not differ along a listed axis hold equal blocks.

    - `?` at the end of a list: propagation may add axes to it. Names that are not listed may get axes unless the sharding
      is `closed`.
    - `priority n`: the axes of this name are propagated after those with a smaller priority (default 0).
    - `partial [axes] add`: the value is the sum (or another combination) over these axes of the devices' values.
    - `at (stage = 1)`: only the devices with this coordinate (or one of several) hold the value; of several axes, those
      with one of the coordinates on each. `at (data(1)2 = 1)`: the devices of a part of an axis.
    - `memory host`: the memory that holds blocks: `device` (the default), `host` or `file`, a file that callers map. If the
      device's memory is the host's, `host` has no effect (`Target::sharesHostMemory`).

    Constraints: (s1) each name once; (s2) an axis, or overlapping parts of it, at most once; (s3) a named combiner;
    (s4) priorities of at least 0. The rules of a plan have priorities from 1.

    ```mlir
    #mesh.sharding<{batch: [data], hidden: [model, ?] priority 1}>
    #mesh.sharding<{batch: [data]}, closed, partial [model] add, at (stage = 1), memory host>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::heddle::mesh::NamedAxes">:$names, "bool":$closed,
                        "::heddle::mesh::AxesAttr":$partial, "::mlir::StringAttr":$combiner,
                        ArrayRefParameter<"::heddle::mesh::AxisCoordinate">:$place, "::mlir::StringAttr":$memory);
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// A sharding that is not partial and has no place; drops names without axes.
    static ShardingAttr get(::mlir::MLIRContext *context, const ::heddle::mesh::Sharding &sharding);
    ::heddle::mesh::Sharding getSharding() const;
    /// The same with other lists, sorted by name.
    ShardingAttr withNames(::llvm::ArrayRef<::heddle::mesh::NamedAxes> names) const;
    /// The same at other places, and in another memory if one is given.
    ShardingAttr at(::llvm::ArrayRef<::heddle::mesh::AxisCoordinate> place, ::mlir::StringAttr memory = {}) const;
    /// The list of `name`; null if it has none.
    const ::heddle::mesh::NamedAxes *lookup(::llvm::StringRef name) const;
  }];
}

#endif // HEDDLE_MESH_ATTRS_TD
