//===- MeshSharding.cpp - blocks and parts --------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/mesh/MeshSyntax.h"

#include "dialects/nd/NdInference.h"

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

MeshAttr mesh::meshOf(Operation *op) {
  for (; op; op = op->getParentOp())
    if (auto mesh = op->getAttrOfType<MeshAttr>(meshAttrName))
      return mesh;
  return {};
}

std::optional<int64_t> MeshAttr::size(StringRef axis) const {
  for (const auto &[name, size] : getSpec().axes)
    if (name == axis)
      return size;
  return std::nullopt;
}

std::string MeshAttr::str() const {
  std::string text;
  for (const auto &[name, size] : getSpec().axes)
    text += (text.empty() ? "'" : ", '") + name + "'";
  return text.empty() ? "none" : text;
}

ArrayRef<Axis> mesh::axesOf(const Sharding &sharding, StringRef name) {
  auto found = sharding.find(name);
  return found == sharding.end() ? ArrayRef<Axis>() : ArrayRef<Axis>(found->second);
}

std::string mesh::axisSymbol(StringRef axis) { return ("mesh." + axis).str(); }

int64_t mesh::partsOf(MeshAttr mesh, const Axis &axis) {
  return axis.count ? axis.count : *mesh.size(axis.name) / axis.before;
}

int64_t mesh::partsOf(MeshAttr mesh, ArrayRef<Axis> axes) {
  int64_t parts = 1;
  for (const Axis &axis : axes)
    parts *= partsOf(mesh, axis);
  return parts;
}

/// The number of consecutive devices along the axis that have the same part index.
static int64_t strideOf(MeshAttr mesh, const Axis &axis) {
  return *mesh.size(axis.name) / (axis.before * partsOf(mesh, axis));
}

static Expr coordinateOf(const Axis &axis) { return Expr::name(axisSymbol(axis.name)); }

/// The index of a device's part of one axis.
static Expr digitOf(MeshAttr mesh, const Axis &axis) {
  Expr above = coordinateOf(axis).floordiv(strideOf(mesh, axis));
  return axis.before == 1 ? above : above.mod(partsOf(mesh, axis));
}

Expr mesh::partIndex(MeshAttr mesh, ArrayRef<Axis> axes) {
  Expr index;
  for (const Axis &axis : axes)
    index = index * Expr(partsOf(mesh, axis)) + digitOf(mesh, axis);
  return index;
}

ExprMap mesh::partCoordinates(MeshAttr mesh, ArrayRef<Axis> axes, const Expr &part) {
  ExprMap coordinates;
  int64_t behind = partsOf(mesh, axes);
  for (const Axis &axis : axes) {
    int64_t parts = partsOf(mesh, axis), stride = strideOf(mesh, axis);
    behind /= parts;
    std::string symbol = axisSymbol(axis.name);
    Expr digit = part.floordiv(behind);
    if (&axis != axes.begin()) // the outermost axis needs no remainder
      digit = digit.mod(parts);
    auto known = coordinates.try_emplace(symbol, coordinateOf(axis)).first;
    known->second = known->second + (digit - digitOf(mesh, axis)) * Expr(stride);
  }
  return coordinates;
}

Expr mesh::blockOffset(MeshAttr mesh, ArrayRef<Axis> axes, const Expr &size) {
  return partIndex(mesh, axes) * blockSize(size, partsOf(mesh, axes));
}

nd::DimsAttr mesh::blockDims(MeshAttr mesh, nd::DimsAttr dims, const Sharding &sharding) {
  SmallVector<nd::Dim> blocks;
  for (const nd::Dim &dim : dims)
    blocks.emplace_back(dims.getContext(), dim.name,
                        blockSize(dim.size().getExpr(), partsOf(mesh, axesOf(sharding, dim.name))));
  return nd::DimsAttr::get(dims.getContext(), blocks);
}

nd::NdTensorType mesh::blockType(MeshAttr mesh, nd::NdTensorType type, const Sharding &sharding) {
  return type.withDims(blockDims(mesh, type.getDims(), sharding).getDims());
}

bool mesh::dividesEvenly(const Expr &size, int64_t parts) {
  return blockSize(size, parts) * Expr(parts) == size;
}

bool mesh::overlap(MeshAttr mesh, const Axis &a, const Axis &b) {
  if (a.name != b.name || a.before == b.before)
    return a.name == b.name;
  // Parts of one axis are consecutive: the end of one divides the beginning of the next.
  const Axis &first = a.before < b.before ? a : b, &second = &first == &a ? b : a;
  return second.before % (first.before * partsOf(mesh, first)) != 0;
}

bool mesh::overlap(MeshAttr mesh, ArrayRef<Axis> a, ArrayRef<Axis> b) {
  return llvm::any_of(a, [&](const Axis &one) {
    return llvm::any_of(b, [&](const Axis &other) { return overlap(mesh, one, other); });
  });
}

std::string mesh::str(ArrayRef<Axis> axes) {
  std::string text;
  for (const Axis &axis : axes)
    text += (text.empty() ? "" : ", ") + axis.str();
  return "[" + text + "]";
}

LogicalResult mesh::verifyAxes(MeshAttr mesh, ArrayRef<Axis> axes,
                               function_ref<InFlightDiagnostic()> emitError) {
  for (auto [i, axis] : llvm::enumerate(axes)) {
    auto size = mesh.size(axis.name);
    if (!size)
      return emitError() << "unknown axis '" << axis.name << "', expected one of " << mesh.str();
    if (*size % (axis.before * std::max<int64_t>(axis.count, 1)) != 0)
      return emitError() << "expected a part of the axis '" << axis.name << "' of " << *size
                         << " devices, got '" << axis.str() << "', which does not divide it";
    for (const Axis &other : axes.take_front(i))
      if (overlap(mesh, axis, other)) // S13
        return emitError() << "expected each axis once, got '" << other.str() << "' and '"
                           << axis.str() << "'";
  }
  return success();
}

LogicalResult mesh::verifySharding(MeshAttr mesh, ShardingAttr sharding, nd::DimsAttr dims,
                                   function_ref<InFlightDiagnostic()> emitError) {
  AxisList all;
  for (const NamedAxes &entry : sharding.getNames()) {
    if (!dims.contains(entry.name.getValue()))
      return emitError() << "shards the name '" << entry.name.getValue() << "', expected one of "
                         << nd::namesText(dims);
    llvm::append_range(all, entry.list());
  }
  if (!mesh)
    return success();
  llvm::append_range(all, sharding.getPartial().getAxes());
  return verifyPlace(mesh, sharding.getPlace(), std::move(all), emitError);
}

LogicalResult mesh::verifyPlace(MeshAttr mesh, ArrayRef<AxisCoordinate> place, AxisList all,
                                function_ref<InFlightDiagnostic()> emitError) {
  for (auto [i, each] : llvm::enumerate(place))
    if (i == 0 || each.axis != place[i - 1].axis) // coordinates of one axis form one place
      all.emplace_back(each.axis.getValue());
  if (failed(verifyAxes(mesh, all, emitError)))
    return failure();
  for (const AxisCoordinate &each : place)
    if (int64_t parts = partsOf(mesh, Axis(each.axis.getValue()));
        each.coordinate < 0 || each.coordinate >= parts)
      return emitError() << "expected a coordinate of '" << each.axis.getValue() << "' below "
                         << parts << ", got " << each.coordinate;
  return success();
}
