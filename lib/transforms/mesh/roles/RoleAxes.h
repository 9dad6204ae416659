//===- RoleAxes.h - the axes whose coordinates are roles --------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Places may be along several axes, and along parts of axes. The roles of a program are numbered by
// the coordinates on the axes, or parts, that all of its places have in common, the last one
// fastest. On a mesh of `stage: 2, d: 4`, with places at stage=1, d(1)2=1 and d=3,
//
//     [stage, d(1)2, d(2)2]        number 8 roles; the place d=3 is d(1)2=1 and d(2)2=1
//     stage=1,d(1)2=0,d(2)2=1      is the role 5
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_MESH_ROLES_ROLEAXES_H
#define HEDDLE_LIB_TRANSFORMS_MESH_ROLES_ROLEAXES_H

#include "dialects/mesh/MeshDialect.h"

namespace heddle::mesh {

/// A coordinate for each axis of roles; -1: any, which is that of the role that reads the value.
using RolePlace = SmallVector<int64_t, 2>;

struct RoleAxes {
  MeshAttr mesh;
  AxisList axes;

  /// The axes of which all places are coordinates. Fails with a message if parts of an axis have no
  /// common division, or if there are too many roles.
  static FailureOr<RoleAxes> of(MeshAttr mesh, ArrayRef<Axis> places,
                                function_ref<mlir::InFlightDiagnostic()> emitError);
  /// Reads `text`.
  static RoleAxes read(MeshAttr mesh, StringRef text);

  int64_t count() const { return partsOf(mesh, axes); }
  int64_t coordinate(int64_t role, size_t axis) const;
  /// The coordinate on `axes[axis]` of a place; none if the place does not state it.
  std::optional<int64_t> coordinate(ArrayRef<AxisCoordinate> place, size_t axis) const;
  /// The role at the place whose free coordinates are those of `reader`.
  int64_t at(ArrayRef<int64_t> place, int64_t reader) const;
  /// "stage+d(1)2"
  std::string text() const;
  /// "stage=1,d(1)2=0"
  std::string name(int64_t role) const;
};

/// The coordinates that an op's `mesh.place` states; none without it.
SmallVector<AxisCoordinate> placeOf(Operation *op);
/// Adds a coordinate to a place, instead of those on axes that overlap with its own.
void addPlace(SmallVectorImpl<AxisCoordinate> &place, AxisCoordinate at, MeshAttr mesh);

} // namespace heddle::mesh

#endif // HEDDLE_LIB_TRANSFORMS_MESH_ROLES_ROLEAXES_H
