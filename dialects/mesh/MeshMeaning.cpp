//===- MeshMeaning.cpp - collectives as nests over the axes' names --------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lifting the program of one device over the names of the axes gives the program of all devices:
// `mesh.data` becomes a name of each value, whose coordinate is the device's. Then
//
//     mesh.all_reduce %x over [data]          nest.compute (k: 4, mesh.data: 2) reduce (part: 2)
//                                             reads %x[mesh.data = part]
//     mesh.permute %x over [data] shift 1     nest.compute (k: 4, mesh.data: 2)
//                                             reads %x[mesh.data = mesh.data + 1] if [...] else 0
//     mesh.all_gather %x name k over [data]   nest.update (k: 2, mesh.data: 2, part: 2)
//                                             at [k = 2 * part + k] reads %x[mesh.data = part]
//
// where `part` is the index of another device of the group.
//
//===----------------------------------------------------------------------===//

#include "dialects/mesh/MeshDialect.h"

#include "dialects/nest/NestBuild.h"

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

using nd::tensorType;
using nest::MapAttr;
using nest::NestBuilder;

namespace {
/// The name of the other device's part in these nests.
constexpr const char *partName = "mesh$part";

/// Builds the meaning of one collective.
struct Meaning {
  OpBuilder &b;
  Operation *op;
  MeshAttr mesh;
  AxisList axes;
  int64_t parts;
  Expr part = Expr::name(partName);

  Meaning(OpBuilder &b, Operation *op, MeshAttr mesh, AxesAttr axes)
      : b(b), op(op), mesh(mesh), axes(axes.getAxes()), parts(partsOf(mesh, axes.getAxes())) {}

  nd::Dim partDim() { return nd::Dim(b.getContext(), partName, Expr(parts)); }

  /// The names of a value of this type, plus those of all axes.
  nd::DimsAttr lifted(Type type) {
    SmallVector<nd::Dim> devices;
    for (const auto &[name, size] : mesh.getSpec().axes)
      devices.emplace_back(b.getContext(), axisSymbol(name), Expr(size));
    return cast<nd::NdTensorType>(type).getDims().with(devices);
  }

  /// Reads a lifted value of the group's device with part `from`, at `coordinates`.
  MapAttr mapOf(Value value, const Expr &from, const ExprMap &coordinates = {}) {
    ExprMap at = partCoordinates(mesh, axes, from);
    at.insert(coordinates.begin(), coordinates.end());
    return MapAttr::identity(tensorType(value)).substitute(at);
  }

  /// The global coordinate of `type` along `name` for an element of the device's block, with the
  /// guard that the block contains it.
  std::pair<Expr, nest::GuardAttr> ofBlock(Type type, StringRef name) {
    Expr size = cast<nd::NdTensorType>(type).size(name).getExpr();
    Expr at = blockOffset(mesh, axes, size) + Expr::name(name.str());
    SmallVector<Expr> inside;
    if (!dividesEvenly(size, parts))
      inside.push_back(size - 1 - at);
    return {at, nest::guardOf(b.getContext(), inside)};
  }

  /// Combines the operands of all devices of the group, read at `coordinates` under `guard`.
  SmallVector<Value> reduce(ValueRange operands, Region &combine, ArrayAttr neutral,
                            const ExprMap &coordinates = {}, nest::GuardAttr guard = {}) {
    NestBuilder nest(b, op->getLoc());
    nest.produced = lifted(op->getResult(0).getType());
    nest.reduced = nd::DimsAttr::getSorted(b.getContext(), {partDim()});
    for (Value operand : operands)
      nest.read(operand, mapOf(operand, part, coordinates), guard);
    auto elements = nest::elementTypesOf(op->getResults());
    return SmallVector<Value>(nest.createReduction(elements, combine, neutral)->getResults());
  }

  /// Copies the operand from the part `from`; zero where `guard` fails.
  Value copy(Value operand, const Expr &from, ArrayRef<Expr> atLeastZero = {}) {
    NestBuilder nest(b, op->getLoc());
    nest.produced = lifted(op->getResult(0).getType());
    nest.readOrZero(operand, mapOf(operand, from), atLeastZero);
    return nest.createCopy();
  }

  /// Writes the block of each device of the group along `name`; `other` gives further coordinates
  /// of the operand. Elements beyond the size are out of bounds and not written.
  Value join(Value operand, StringRef name, const ExprMap &other = {}, nest::GuardAttr guard = {}) {
    nd::NdTensorType type =
        tensorType(operand).withDims(lifted(op->getResult(0).getType()).getDims());
    Expr block = tensorType(operand).size(name).getExpr(), at = Expr::name(name.str());
    NestBuilder nest(b, op->getLoc());
    nest.produced = type.getDims().replacing({partDim(), nd::Dim(b.getContext(), name, block)});
    nest.read(operand, mapOf(operand, part, other), guard);
    return nest.createWrite(nest::zeros(b, op->getLoc(), type),
                            MapAttr::identity(type).substitute({{name.str(), part * block + at}}));
  }
};
} // namespace

Operation *mesh::createReduction(OpBuilder &b, Location loc, MeshAttr mesh, ValueRange values,
                                 AxesAttr axes, StringRef scattered, ArrayAttr neutral) {
  if (scattered.empty())
    return AllReduceOp::create(b, loc, values.getTypes(), values, axes, neutral, ArrayAttr());
  auto types = llvm::map_to_vector(values, [&](Value value) -> Type {
    return blockType(mesh, tensorType(value), {{scattered.str(), AxisList(axes.getAxes())}});
  });
  return ReduceScatterOp::create(b, loc, types, values, scattered, axes, neutral, ArrayAttr());
}

SmallVector<Value> AllReduceOp::buildMeaning(OpBuilder &b, MeshAttr mesh, ValueRange operands) {
  return Meaning(b, *this, mesh, getAxes()).reduce(operands, getCombine(), getNeutral());
}

SmallVector<Value> ReduceScatterOp::buildMeaning(OpBuilder &b, MeshAttr mesh, ValueRange operands) {
  Meaning meaning(b, *this, mesh, getAxes());
  auto [at, guard] = meaning.ofBlock(getInputs()[0].getType(), getName());
  return meaning.reduce(operands, getCombine(), getNeutral(), {{getName().str(), at}}, guard);
}

SmallVector<Value> AllGatherOp::buildMeaning(OpBuilder &b, MeshAttr mesh, ValueRange operands) {
  return {Meaning(b, *this, mesh, getAxes()).join(operands[0], getName())};
}

SmallVector<Value> AllToAllOp::buildMeaning(OpBuilder &b, MeshAttr mesh, ValueRange operands) {
  Meaning meaning(b, *this, mesh, getAxes());
  auto [at, guard] = meaning.ofBlock(getInput().getType(), getSplit());
  return {meaning.join(operands[0], getJoined(), {{getSplit().str(), at}}, guard)};
}

SmallVector<Value> PermuteOp::buildMeaning(OpBuilder &b, MeshAttr mesh, ValueRange operands) {
  Meaning meaning(b, *this, mesh, getAxes());
  Expr from = partIndex(mesh, meaning.axes) + Expr(int64_t(getShift()));
  if (getWrap())
    return {meaning.copy(operands[0], from.mod(meaning.parts))};
  return {meaning.copy(operands[0], from, {from, Expr(meaning.parts - 1) - from})};
}

SmallVector<Value> BroadcastOp::buildMeaning(OpBuilder &b, MeshAttr mesh, ValueRange operands) {
  return {Meaning(b, *this, mesh, getAxes()).copy(operands[0], Expr(int64_t(getRoot())))};
}
