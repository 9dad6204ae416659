//===- LocalSpace.cpp - the part of a nest that a device runs -------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/LocalSpace.h"

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

Ranges mesh::deviceRanges(MeshAttr mesh) {
  Ranges ranges;
  for (auto [name, size] : llvm::zip_equal(mesh.getNames(), mesh.getSizes()))
    ranges[axisSymbol(name)] = {0, size - 1};
  return ranges;
}

LocalSpace::LocalSpace(MeshAttr mesh, ArrayRef<nd::DimsAttr> dims, const Sharding &sharding)
    : mesh(mesh), dims(dims) {
  for (nd::DimsAttr some : dims)
    for (const nd::Dim &dim : some) {
      std::string name = dim.name.str();
      auto found = sharding.find(name);
      if (found == sharding.end() || found->second.empty())
        continue;
      split[name] = found->second;
      Expr size = dim.size().getExpr();
      global[name] = blockOffset(mesh, found->second, size) + Expr::name(name);
      if (!dividesEvenly(size, partsOf(mesh, found->second)))
        raggedNames.insert(name);
    }
}

ArrayRef<Axis> LocalSpace::axes(StringRef name) const {
  auto found = split.find(name);
  return found == split.end() ? ArrayRef<Axis>() : ArrayRef<Axis>(found->second);
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

nd::DimsAttr LocalSpace::local(nd::DimsAttr some) const {
  SmallVector<nd::Dim> result;
  for (const nd::Dim &dim : some)
    result.emplace_back(some.getContext(), dim.name.getValue(),
                        axes(dim.name).empty()
                            ? dim.size().getExpr()
                            : blockSize(dim.size().getExpr(), partsOf(mesh, axes(dim.name))));
  return nd::DimsAttr::getSorted(some.getContext(), result);
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

Value mesh::copyAt(OpBuilder &b, Location loc, Value value, nd::DimsAttr dims, const ExprMap &at,
                   nest::GuardAttr guard) {
  nest::NestBuilder nest(b, loc);
  nest.produced = dims;
  nest.read(value, nest::MapAttr::identity(nd::tensorType(value)).substitute(at), guard);
  return nest.createCopy();
}
