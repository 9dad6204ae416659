//===- LocalSpace.cpp - the iteration space of one device -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/partition/LocalSpace.h"

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

Ranges mesh::deviceRanges(MeshAttr mesh) {
  Ranges ranges;
  for (const auto &[name, size] : mesh.getSpec().axes)
    ranges[axisSymbol(name)] = {0, size - 1};
  return ranges;
}

LocalSpace::LocalSpace(MeshAttr mesh, ArrayRef<nd::DimsAttr> dims, const Sharding &sharding)
    : mesh(mesh), dims(dims) {
  for (nd::DimsAttr some : dims)
    for (const nd::Dim &dim : some) {
      std::string name = dim.name.str();
      ArrayRef<Axis> axes = axesOf(sharding, name);
      if (axes.empty())
        continue;
      split[name] = AxisList(axes);
      Expr size = dim.size().getExpr();
      global[name] = blockOffset(mesh, axes, size) + Expr::name(name);
      if (!dividesEvenly(size, partsOf(mesh, axes)))
        raggedNames.insert(name);
    }
}

AxisList LocalSpace::axes(nd::DimsAttr some) const {
  AxisList all;
  for (const nd::Dim &dim : some)
    llvm::append_range(all, axes(dim.name));
  return all;
}

Sharding LocalSpace::sharding(nd::DimsAttr some) const {
  Sharding result;
  for (const nd::Dim &dim : some)
    if (auto found = split.find(dim.name.getValue()); found != split.end())
      result.insert(*found);
  return result;
}

nd::SizeAttr LocalSpace::size(StringRef name) const {
  for (nd::DimsAttr some : dims)
    if (nd::SizeAttr size = some.lookup(name))
      return size;
  return {};
}

Expr LocalSpace::isInside(const std::string &name) const {
  return size(name).getExpr() - 1 - global.find(name)->second;
}

SmallVector<Expr> LocalSpace::inside() const {
  return llvm::map_to_vector(raggedNames, [&](const std::string &name) { return isInside(name); });
}

Ranges LocalSpace::ranges() const {
  Ranges ranges = deviceRanges(mesh);
  for (nd::DimsAttr some : dims)
    for (const nd::Dim &dim : local(some))
      ranges[dim.name.str()] = {0, std::max<int64_t>(dim.size().most() - 1, 0)};
  return ranges;
}

void LocalSpace::localize(Region &region) const {
  SmallVector<nest::IndexOp> indices;
  region.walk([&](nest::IndexOp index) {
    if (global.find(index.getName()) != global.end())
      indices.push_back(index);
  });
  for (nest::IndexOp index : indices) {
    OpBuilder b(index);
    Expr whole = global.find(index.getName())->second;
    index.replaceAllUsesWith(nest::emitIndex(b, index.getLoc(), whole));
    index.erase();
  }
}
