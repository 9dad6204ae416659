//===- Reshard.cpp - moves values between shardings -----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/Reshard.h"

#include "dialects/nd/NdBuild.h"
#include "lib/transforms/mesh/LocalSpace.h"

#include "mlir/Transforms/RegionUtils.h"

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

using nd::tensorType;

llvm::SetVector<Value> mesh::usesOf(Operation *op) {
  llvm::SetVector<Value> values(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), values);
  return values;
}

ArrayRef<Axis> mesh::axesOf(const Sharding &sharding, StringRef name) {
  auto found = sharding.find(name);
  return found == sharding.end() ? ArrayRef<Axis>() : ArrayRef<Axis>(found->second);
}

SmallVector<Value> Resharder::reduce(ValueRange values, ArrayRef<Axis> axes, Region &combine,
                                     ArrayAttr neutral, const std::string &scattered,
                                     Location loc) {
  auto group = AxesAttr::get(b.getContext(), axes);
  Operation *made;
  if (scattered.empty()) {
    made = AllReduceOp::create(b, loc, values.getTypes(), values, group, neutral, ArrayAttr());
  } else {
    auto types = llvm::map_to_vector(values, [&](Value value) -> Type {
      return blockType(mesh, tensorType(value), {{scattered, AxisList(axes)}});
    });
    made = ReduceScatterOp::create(b, loc, types, values, scattered, group, neutral, ArrayAttr());
  }
  OpBuilder::InsertionGuard restore(b);
  Block *block = b.createBlock(&made->getRegion(0));
  for (BlockArgument argument : combine.front().getArguments())
    block->addArgument(argument.getType(), argument.getLoc());
  YieldOp::create(b, loc, nd::inlineBlock(b, combine.front(), block->getArguments()));
  return SmallVector<Value>(made->getResults());
}

LocalValue Resharder::joinAndSplit(LocalValue from, StringRef join, StringRef split, Location loc) {
  MLIRContext *context = b.getContext();
  auto axes = AxesAttr::get(context, axesOf(from.sharding, join));
  LocalValue to = from;
  to.sharding.erase(join.str());
  to.sharding[split.str()] = AxisList(axes.getAxes());
  to.value = AllToAllOp::create(b, loc, blockType(mesh, to.whole, to.sharding), from.value,
                                StringAttr::get(context, join), StringAttr::get(context, split),
                                axes, ArrayAttr());
  return to;
}

LocalValue Resharder::gather(LocalValue from, StringRef name, Location loc) {
  MLIRContext *context = b.getContext();
  auto axes = AxesAttr::get(context, axesOf(from.sharding, name));
  LocalValue to = from;
  to.sharding.erase(name.str());
  to.value = AllGatherOp::create(b, loc, blockType(mesh, to.whole, to.sharding), from.value,
                                 StringAttr::get(context, name), axes, ArrayAttr());
  return to;
}

/// Copies the device's block along the names that `to` splits and `from` does not.
LocalValue Resharder::slice(LocalValue from, const Sharding &to, Location loc) {
  Sharding cut;
  for (const auto &[name, axes] : to)
    if (axesOf(from.sharding, name).empty())
      cut[name] = axes;
  LocalSpace space(mesh, {from.whole.getDims()}, cut);
  nest::NestBuilder nest(b, loc);
  LocalValue result{{}, from.whole, to};
  nest.produced = blockType(mesh, result.whole, to).getDims();
  auto map = nest::MapAttr::identity(tensorType(from.value)).substitute(space.globals());
  nest.readOrZero(from.value, map, space.inside());
  result.value = nest.createCopy();
  return result;
}

LocalValue Resharder::move(const LocalValue &from, const Sharding &to, Location loc) {
  if (from.sharding == to)
    return from;
  auto &known = moved[{b.getInsertionBlock(), from.value.getAsOpaquePointer()}];
  for (const LocalValue &other : known)
    if (other.sharding == to)
      return other;
  LocalValue value = from;
  // Names in sorted order; passes see canonical ones (nd-neutral-names).
  for (const auto &[name, axes] : from.sharding) {
    if (ArrayRef<Axis>(axes) == axesOf(to, name))
      continue;
    auto other = llvm::find_if(to, [&, &axes = axes](const auto &entry) {
      return entry.second == axes && axesOf(value.sharding, entry.first).empty();
    });
    value = other != to.end() && axesOf(to, name).empty()
                ? joinAndSplit(value, name, other->first, loc)
                : gather(value, name, loc);
  }
  if (value.sharding != to)
    value = slice(value, to, loc);
  moved[{b.getInsertionBlock(), from.value.getAsOpaquePointer()}].push_back(value);
  return value;
}
