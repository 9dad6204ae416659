//===- LocalSpace.h - the iteration space of one device ---------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The iteration names of a nest, some of which are split over axes. On a mesh of `data: 2`, the
// nest
//
//     nest.compute (row: 5) reads %x[row = row + 1]      with  row: [data]
//
// runs `row: 3` on a device, where `row` is replaced by `3 * mesh.data + row` in maps, guards and
// coordinates. The second device has one point too many: points beyond the size (`isInside` is
// negative) read nothing.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_PARTITION_LOCALSPACE_H
#define HEDDLE_LIB_TRANSFORMS_MESH_PARTITION_LOCALSPACE_H

#include "dialects/mesh/MeshDialect.h"
#include "dialects/nest/NestBuild.h"

namespace heddle::mesh {

class LocalSpace {
public:
  /// Names of `sharding` that `dims` lack are ignored.
  LocalSpace(MeshAttr mesh, ArrayRef<nd::DimsAttr> dims, const Sharding &sharding);

  const MeshAttr mesh;

  /// The axes of a name; empty if it is not split.
  ArrayRef<Axis> axes(StringRef name) const { return axesOf(split, name); }
  /// The axes of all names of `dims`, in their order.
  AxisList axes(nd::DimsAttr dims) const;
  /// The sharding of a value with these names.
  Sharding sharding(nd::DimsAttr dims) const;
  /// The names with the sizes of blocks.
  nd::DimsAttr local(nd::DimsAttr dims) const { return blockDims(mesh, dims, split); }
  /// The global coordinate of each split name.
  const ExprMap &globals() const { return global; }
  /// The split names whose last block may be shorter.
  const std::set<std::string> &ragged() const { return raggedNames; }
  /// Not negative at points within the global size.
  Expr isInside(const std::string &name) const;
  /// `isInside` of each ragged name.
  SmallVector<Expr> inside() const;
  /// Ranges of the local names and of the coordinates of devices.
  Ranges ranges() const;
  bool isWhole() const { return global.empty(); }
  /// The global size of an iteration name; null if there is none with this name.
  nd::SizeAttr size(StringRef name) const;

  /// Replaces the coordinates of split names in scalar code.
  void localize(mlir::Region &region) const;

private:
  SmallVector<nd::DimsAttr, 2> dims;
  Sharding split;
  ExprMap global;
  std::set<std::string> raggedNames;
};

/// The ranges of the coordinates of devices.
Ranges deviceRanges(MeshAttr mesh);

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_PARTITION_LOCALSPACE_H
