//===- MeshDialect.h - device meshes and shardings --------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Meshes of devices with named axes, shardings of tensors over them, and collectives. This is the
// header that other folders include; the ops are described in MeshOps.td.
//
// A sharding splits a name into blocks. On a mesh of `data: 2`, a tensor of `batch: 5` with the
// sharding {batch: [data]} is two blocks of `batch: 3`, the last of which has 2 elements. Element i
// of a device's block is element
//
//     blockOffset(...) + i     which is     3 * mesh.data + i
//
// of the tensor, where `mesh.data` is the device's coordinate along the axis (`axisSymbol`).
//
// Meshes, axes and shardings are the values of runtime/format/MeshSpec.h.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECTS_MESH_MESHDIALECT_H
#define HEDDLE_DIALECTS_MESH_MESHDIALECT_H

#include "dialects/nest/Nest.h"
#include "runtime/format/MeshSpec.h"

namespace heddle {
inline llvm::hash_code hash_value(const AxisPart &axis) {
  return llvm::hash_combine(axis.name, axis.before, axis.count);
}
inline llvm::hash_code hash_value(const AxisList &axes) {
  return llvm::hash_combine_range(axes.begin(), axes.end());
}
inline llvm::hash_code hash_value(const MeshSpec &mesh) {
  return llvm::hash_combine_range(mesh.axes.begin(), mesh.axes.end());
}
} // namespace heddle

namespace heddle::mesh {
class AxesAttr;
class MeshAttr;
class MessageInterface;
class ShardingAttr;

using Axis = AxisPart;
using heddle::AxisList;
using heddle::Sharding;

/// An entry of a sharding attribute.
struct NamedAxes {
  StringAttr name;
  Attribute axes; ///< always an AxesAttr
  bool open = false;
  int64_t priority = 0;
  ArrayRef<Axis> list() const;
  bool operator==(const NamedAxes &other) const = default;
};
inline llvm::hash_code hash_value(const NamedAxes &entry) {
  return llvm::hash_combine(entry.name, entry.axes, entry.open, entry.priority);
}

/// `stage = 1`, or `data(1)2 = 1`
struct AxisCoordinate {
  StringAttr axis;
  int64_t coordinate;
  bool operator==(const AxisCoordinate &other) const = default;
};
inline llvm::hash_code hash_value(const AxisCoordinate &place) {
  return llvm::hash_combine(place.axis, place.coordinate);
}

/// The attributes of functions (or modules), and of arguments, results and nests.
inline constexpr StringLiteral meshAttrName = "mesh.mesh";
inline constexpr StringLiteral shardingAttrName = "mesh.sharding";
/// The attribute of a recurrence with the sharding of each argument of its region.
inline constexpr StringLiteral carriedAttrName = "mesh.carried";
/// The attribute of a recurrence that a device skips if the first element of its first read is
/// negative (ScanPipeline.h).
inline constexpr StringLiteral skippedAttrName = "mesh.skipped";
/// A module's attribute with the rules of the plan; priorities are indices into it
/// (lib/transforms/mesh/propagate/ApplyPlan.h).
inline constexpr StringLiteral rulesAttrName = "mesh.rules";
/// A module's attribute with the order in which roles run parts of a batch: greedy, gpipe, 1f1b or
/// interleaved (lib/transforms/mesh/roles/PipelineSchedules.h).
inline constexpr StringLiteral scheduleAttrName = "mesh.schedule";
/// The attribute of an op of a function's body that only the devices at these coordinates run:
/// {stage = 1}, or {"data(1)2" = 1} for a part of an axis.
inline constexpr StringLiteral placeAttrName = "mesh.place";
/// The global type of an argument or result that is a block.
inline constexpr StringLiteral globalAttrName = "mesh.global";

/// The attribute of the program of one role: {entry = "step", axis = "stage", coordinate = 1}.
inline constexpr StringLiteral roleAttrName = "mesh.role";

/// The name, of size 0, in the type of an argument or result that a role does not hold.
using heddle::absentName;

/// The mesh of the enclosing function or module; null if there is none.
MeshAttr meshOf(Operation *op);

/// The size symbol, or the name of lifted values, for the coordinate along an axis. Names that
/// passes create are `mesh$part` and the like, which can't be axes.
std::string axisSymbol(StringRef axis);
/// The axes of a name; none if it is not split.
ArrayRef<Axis> axesOf(const Sharding &sharding, StringRef name);
/// The number of parts of an axis, or of all axes of a list.
int64_t partsOf(MeshAttr mesh, const Axis &axis);
int64_t partsOf(MeshAttr mesh, ArrayRef<Axis> axes);
/// The index of a device's part among those of the list, over the symbols of the axes.
Expr partIndex(MeshAttr mesh, ArrayRef<Axis> axes);
/// The coordinates of the device of the group with part `part` of the list: those of this device
/// except along the listed axes. Axes that are not listed have no entry.
ExprMap partCoordinates(MeshAttr mesh, ArrayRef<Axis> axes, const Expr &part);
using heddle::blockSize;
/// The first coordinate of a device's block.
Expr blockOffset(MeshAttr mesh, ArrayRef<Axis> axes, const Expr &size);
/// The names and the type of a block.
nd::DimsAttr blockDims(MeshAttr mesh, nd::DimsAttr dims, const Sharding &sharding);
nd::NdTensorType blockType(MeshAttr mesh, nd::NdTensorType type, const Sharding &sharding);
/// True if all blocks are full for all values of the size symbols.
bool dividesEvenly(const Expr &size, int64_t parts);
/// True if the two overlap.
bool overlap(MeshAttr mesh, const Axis &a, const Axis &b);
bool overlap(MeshAttr mesh, ArrayRef<Axis> a, ArrayRef<Axis> b);
/// `[data(1)2, model]`
std::string str(ArrayRef<Axis> axes);

/// Fails with a message if an axis is not in the mesh, or if a part does not divide its axis.
LogicalResult verifyAxes(MeshAttr mesh, ArrayRef<Axis> axes,
                         function_ref<mlir::InFlightDiagnostic()> emitError);
/// The same for the axes of a collective, which needs an enclosing mesh (c1).
LogicalResult verifyGroup(Operation *op, ArrayRef<Axis> axes);
LogicalResult verifyMessage(MessageInterface op);
/// The same for the sharding of these names: names and axes must exist, and no axis occurs twice.
LogicalResult verifySharding(MeshAttr mesh, ShardingAttr sharding, nd::DimsAttr dims,
                             function_ref<mlir::InFlightDiagnostic()> emitError);
} // namespace heddle::mesh

#include "dialects/mesh/MeshDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/mesh/MeshAttrs.h.inc"
#include "dialects/mesh/MeshInterfaces.h.inc"
#define GET_OP_CLASSES
#include "dialects/mesh/MeshOps.h.inc"

namespace heddle::mesh {
/// Creates a mesh.all_reduce, or a mesh.reduce_scatter along a name, with an empty combiner.
Operation *createReduction(OpBuilder &b, Location loc, MeshAttr mesh, ValueRange values,
                           AxesAttr axes, StringRef scattered, ArrayAttr neutral);
/// The names that a #mesh.sharding splits; none for null or another attribute.
inline Sharding shardingOf(Attribute attribute) {
  auto sharding = llvm::dyn_cast_or_null<ShardingAttr>(attribute);
  return sharding ? sharding.getSharding() : Sharding();
}
} // namespace heddle::mesh

#endif // HEDDLE_DIALECTS_MESH_MESHDIALECT_H
